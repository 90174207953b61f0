import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRequestBook, type RequestBook } from "../../src/requests/requestBook.ts";
import type { OpenRequest } from "../../src/requests/openRequest.ts";
import { DatabaseAwayError } from "../../src/store/databaseAway.ts";
import { insertDapp } from "../../src/store/dapps.ts";
import { StaleRequestError } from "../../src/store/storeErrors.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { DESK_DAPP, DESK_NETWORK, makeRequest } from "../support/pipelineWorld.ts";

const OUTCOME = { transactionHash: "0x1", requestId: "0x2" } as const;

let store: Store;
let book: RequestBook;
let request: OpenRequest;

beforeEach(async () => {
  store = await openStore(createSqliteDialect(":memory:"));
  await insertDapp(store.db, { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1 });
  book = createRequestBook(store);
  request = makeRequest("random", "0x");
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
});

test("a request is stored before it is in work", async () => {
  await book.add(request);
  expect(book.open(DESK_NETWORK)).toEqual([request]);
  expect(await book.find(request.id)).toEqual(request);
  expect(book.openCount()).toBe(1);
});

test("a change is stored, then told", async () => {
  await book.add(request);
  const stored: unknown[] = [];
  const stop = book.listen(request.id, ({ id }) => stored.push(book.find(id)));
  await book.change(() => [{ request, state: "submitted", transactionHash: "0x1", progress: { entry: 2 } }]);
  stop();
  expect(await Promise.all(stored)).toMatchObject([{ state: "submitted", progress: { entry: 2 } }]);
  expect(request.timeline.at(-1)).toMatchObject({ seq: 2, state: "submitted", transactionHash: "0x1" });
});

test("an ended request leaves the work and keeps no reason to wait", async () => {
  await book.add(request);
  await book.change(() => [{ request, why: "waiting" }]);
  expect((await book.find(request.id))!.why).toBe("waiting");
  await book.change(() => [{ request, state: "fulfilled", outcome: { ...OUTCOME, words: ["1"] } }]);
  expect(book.openCount()).toBe(0);
  expect(book.get(request.id)).toBeUndefined();
  expect(await book.find(request.id)).toMatchObject({
    state: "fulfilled",
    why: null,
    outcome: { words: ["1"] },
  });
});

test("only a change of state changes the time of it", async () => {
  const updatedAt = 1_000;
  await book.add({ ...request, updatedAt });
  const open = book.get(request.id)!;
  await book.change(() => [{ request: open, why: "waiting", progress: { entry: 1 } }]);
  expect(open.updatedAt).toBe(updatedAt);
  await book.change(() => [{ request: open, state: "submitted" }]);
  expect(open.updatedAt).toBeGreaterThan(updatedAt);
});

test("what can't be stored is told to nobody", async () => {
  await book.add(request);
  const told: OpenRequest[] = [];
  book.listen(request.id, (one) => told.push(one));
  const change = book.change(
    () => [{ request, state: "fulfilled" }],
    () => Promise.reject(new Error("no")),
  );
  await expect(change).rejects.toThrow("no");
  expect(told).toEqual([]);
  expect((await book.find(request.id))!.state).toBe("received");
});

test("a failed write leaves the request in memory as the journal has it", async () => {
  await book.add(request);
  const before = structuredClone(request);
  const refuse = () => Promise.reject(new Error("no"));
  const change = { request, progress: { entry: 3 }, outcome: { ...OUTCOME, words: [] }, why: "waiting" };
  await expect(book.change(() => [{ ...change, state: "fulfilled" }], refuse)).rejects.toThrow("no");
  expect(request).toEqual(before);
  expect(book.open(DESK_NETWORK)).toEqual([before]);
  await book.change(() => [{ request, state: "submitted" }]);
  expect(await book.find(request.id)).toEqual(request);
  expect(request.timeline.map(({ seq }) => seq)).toEqual([1, 2]);
});

test("a request whose row was deleted fails one write, and then no other that it shared", async () => {
  await book.add(request);
  const other = makeRequest("random", "0x");
  await book.add(other);
  await store.db.deleteFrom("requests").where("id", "=", request.id).execute();
  const both = () => book.open(DESK_NETWORK).map((one) => ({ request: one, state: "submitted" as const }));
  await expect(book.change(both)).rejects.toThrow(StaleRequestError);
  expect([request.state, book.open(DESK_NETWORK)]).toEqual(["failed", [other]]);
  await book.change(both);
  expect((await book.find(other.id))!.state).toBe("submitted");
});

test("a change that comes while another is stored builds on it", async () => {
  await book.add(request);
  await Promise.all([
    book.change(() => [{ request, state: "submitted", progress: { entry: 1, nonce: 7 } }]),
    book.change(() => [{ request, state: "randomness", forget: ["nonce"] }]),
  ]);
  expect(request.timeline.map(({ state }) => state)).toEqual(["received", "submitted", "randomness"]);
  expect(request.progress).toEqual({ entry: 1 });
  expect(await book.find(request.id)).toEqual(request);
});

test("a request that has ended before it is stored is in nobody's hands", async () => {
  await book.add({ ...request, state: "fulfilled" });
  expect(book.openCount()).toBe(0);
});

test("an idempotency key that is taken", async () => {
  await book.add({ ...request, idempotencyKey: "k" });
  const second = { ...makeRequest("random", "0x"), idempotencyKey: "k" };
  await expect(book.add(second)).rejects.toThrow("UNIQUE");
  expect(book.openCount()).toBe(1);
});

test("requests that stand still are not active, nor are those of other networks", async () => {
  await book.add({ ...request, updatedAt: request.updatedAt - 120_000 });
  await book.add(makeRequest("random", "0x"));
  await book.add({ ...makeRequest("random", "0x"), network: "fuji" });
  expect(book.activeCount(DESK_NETWORK, 60_000)).toBe(1);
});

test.each([-86_400_000, 86_400_000])(
  "a wall clock that jumps by %i ms changes the age of no request",
  async (jumpMs) => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    request.updatedAt = Date.now();
    await book.add(request);
    book.restore([{ ...makeRequest("random", "0x"), updatedAt: Date.now() - 5_000 }]);
    vi.setSystemTime(Date.now() + jumpMs);
    vi.advanceTimersByTime(1_000);
    const ages = () => book.open(DESK_NETWORK).map((one) => book.ageMs(one));
    expect(ages()).toEqual([1_000, 6_000]);
    await book.change(() => [{ request, state: "submitted" }]);
    vi.advanceTimersByTime(1_000);
    expect(ages()).toEqual([1_000, 7_000]);
  },
);

test("of requests stored in the same turn, one whose key is taken fails alone", async () => {
  const keyed = () => ({ ...makeRequest("random", "0x"), idempotencyKey: "once", bodyHash: "h" });
  await book.add(keyed());
  const added = await Promise.allSettled([
    book.add(request),
    book.add(keyed()),
    book.add(makeRequest("random", "0x")),
  ]);
  expect(added.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(book.openCount()).toBe(3);
});

test("whoever waits is told of an end that comes from the tables, as when another replica's network is taken over", async () => {
  await book.add(request);
  let isHeld = false;
  const other = createRequestBook(store, {
    sharing: { holds: () => isHeld, onStored() {}, openCount: () => 0 },
  });
  const told: OpenRequest[] = [];
  other.listen(request.id, (one) => told.push(one));
  const endedIn = { number: 1, hash: "0x1" } as const;
  await book.change(() => [{ request, state: "fulfilled", outcome: { ...OUTCOME, words: [] }, endedIn }]);
  isHeld = true;
  other.restore([(await other.find(request.id))!]);
  expect(told).toMatchObject([{ state: "fulfilled", version: 2 }]);
});

test("whoever waits is told of an end whose write has lost its answer", async () => {
  const cut = createRequestBook({
    ...store,
    async write(work) {
      await store.write(work);
      throw new DatabaseAwayError("cut");
    },
  });
  await book.add(request);
  cut.restore([request]);
  const told: OpenRequest[] = [];
  cut.listen(request.id, (one) => told.push(one));
  const endedIn = { number: 1, hash: "0x1" } as const;
  await expect(cut.change(() => [{ request, state: "fulfilled", endedIn }])).rejects.toThrow(
    DatabaseAwayError,
  );
  expect(told).toMatchObject([{ state: "fulfilled", version: 2 }]);
});

test("what is new or on the chain waits for the disk only where a receiver is told of it", async () => {
  const order: string[] = [];
  const noted: typeof store = {
    ...store,
    flush() {
      order.push("flush");
      return store.flush();
    },
    write(work) {
      order.push("write");
      return store.write(work);
    },
  };
  const silent = createRequestBook(noted);
  await silent.add(request);
  await silent.change(() => [{ request, state: "submitted" }], undefined, { isOnChain: true });
  expect(order).toEqual([]);
  await silent.change(() => [{ request, why: "the pool is full" }]);
  expect(order).toEqual(["write"]);

  order.length = 0;
  const outbox = { add: async () => true, wake: () => void order.push("wake") };
  const loud = createRequestBook(noted, { outbox });
  loud.restore([request]);
  const endedIn = { number: 1, hash: "0x1" } as const;
  const end = { request, state: "fulfilled", outcome: { ...OUTCOME, words: [] }, endedIn } as const;
  await loud.change(() => [end], undefined, { isOnChain: true });
  expect(order).toEqual(["flush", "wake"]);
});
