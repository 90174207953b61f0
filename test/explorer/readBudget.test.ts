import { expect, test } from "vitest";
import { describeChain } from "../../src/app/network/networkViews.ts";
import { createReadBudget } from "../../src/explorer/readBudget.ts";

/** Creates an embedded chain whose node counts its calls. */
function createChain() {
  const state = { calls: 0 };
  const request = async () => {
    state.calls += 1;
    return "0x10";
  };
  const { archive } = describeChain(
    { profile: {}, isEmbedded: true, terms: {}, titles: {} } as unknown as Parameters<
      typeof describeChain
    >[0],
    { client: { request }, deployment: {}, operator: {} } as unknown as Parameters<typeof describeChain>[1],
    async () => [],
  );
  return Object.assign(state, { archive });
}

test("one address has so many calls of an embedded chain's node, and others have theirs", async () => {
  const chain = createChain();
  const budget = createReadBudget({ calls: 5 });
  const readHead = (caller: string) =>
    budget.read({ caller, place: "fuji" }, () => chain.archive.getHeadNumber());
  for (let call = 0; call < 5; call += 1) expect(await readHead("a")).toBe(16n);
  await expect(readHead("a")).rejects.toMatchObject({
    code: "rate_limited",
    details: { retryAfterMs: expect.any(Number) },
  });
  expect(chain.calls).toBe(5);
  expect(await readHead("b")).toBe(16n);
  expect(await chain.archive.getHeadNumber()).toBe(16n);
});

test("of one address four pages of a chain are read at once, and others don't wait for them", async () => {
  const budget = createReadBudget();
  const pages: PromiseWithResolvers<void>[] = [];
  const begin = (caller: string, place = "fuji") =>
    budget.read({ caller, place }, () => {
      const page = Promise.withResolvers<void>();
      pages.push(page);
      return page.promise;
    });
  const flood = Array.from({ length: 10 }, () => begin("a"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(pages).toHaveLength(4);
  const other = begin("b");
  await new Promise((resolve) => setImmediate(resolve));
  expect(pages).toHaveLength(5);
  pages[4]!.resolve();
  await other;
  const elsewhere = begin("a", "sepolia");
  await new Promise((resolve) => setImmediate(resolve));
  expect(pages).toHaveLength(6);
  pages[5]!.resolve();
  await elsewhere;
  pages[0]!.reject(new Error("page"));
  await expect(flood[0]).rejects.toThrow("page");
  await expect.poll(() => pages.length).toBe(7);
  for (let at = 1; at < 12; at += 1) {
    await expect.poll(() => pages.length).toBeGreaterThan(at);
    pages[at]!.resolve();
  }
  await Promise.allSettled(flood);
  expect(pages).toHaveLength(12);
});

/** Creates an embedded chain whose node answers when it is told to. */
function createSlowChain() {
  const calls: PromiseWithResolvers<unknown>[] = [];
  const client = {
    request: () => {
      const call = Promise.withResolvers<unknown>();
      calls.push(call);
      return call.promise;
    },
  };
  const { archive } = describeChain(
    { profile: {}, isEmbedded: true, terms: {}, titles: {} } as unknown as Parameters<
      typeof describeChain
    >[0],
    { client, deployment: {}, operator: {} } as unknown as Parameters<typeof describeChain>[1],
    async () => [],
  );
  return { calls, archive };
}

test("a page has four calls of a node in flight; another caller's, and those of another node, go through", async () => {
  const { calls, archive } = createSlowChain();
  const another = createSlowChain();
  const budget = createReadBudget();
  const page = budget.read({ caller: "a", place: "fuji" }, () =>
    Promise.all(Array.from({ length: 10 }, () => archive.getHeadNumber())),
  );
  await expect.poll(() => calls.length).toBe(4);
  const other = budget.read({ caller: "b", place: "fuji" }, () => archive.getHeadNumber());
  await expect.poll(() => calls.length).toBe(5);
  calls[4]!.resolve("0x1");
  expect(await other).toBe(1n);
  const elsewhere = budget.read({ caller: "a", place: "sepolia" }, () => another.archive.getHeadNumber());
  await expect.poll(() => another.calls.length).toBe(1);
  another.calls[0]!.resolve("0x3");
  expect(await elsewhere).toBe(3n);
  for (let at = 0; at < 11; at += 1) {
    await expect.poll(() => calls.length).toBeGreaterThan(at);
    calls[at]!.resolve("0x2");
  }
  expect(await page).toEqual(Array.from({ length: 10 }, () => 2n));
});
