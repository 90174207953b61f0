import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createDailyLimit } from "../../../src/requests/accept/requestLimits.ts";
import { createRequestBook, type RequestBook } from "../../../src/requests/requestBook.ts";
import { endMinedTransaction } from "../../../src/requests/keep/usage.ts";
import { readUsage, writeUsageCsv } from "../../../src/requests/read/usageReport.ts";
import { insertDapp, insertKey } from "../../../src/store/dapps.ts";
import type { Store } from "../../../src/store/store.ts";
import { insertTransaction } from "../../../src/store/transactions.ts";
import { addUsage, dayOf } from "../../../src/store/usage.ts";
import { DATABASES, useStore } from "../../support/databases.ts";
import { DESK_DAPP, makeRequest } from "../../support/pipelineWorld.ts";

const AT = Date.UTC(2026, 10, 22, 23, 59, 59);
const DAYS = { from: "2026-11-01", to: "2026-11-30" };
const OUTCOME = { transactionHash: "0x1", requestId: "0x2" } as const;

describe.each(DATABASES)("on %s", (_name, create) => {
  let store: Store;
  let book: RequestBook;
  useStore(create, (opened) => {
    store = opened;
  });
  beforeEach(async () => {
    await insertDapp(store.db, { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1 });
    book = createRequestBook(store);
  });

  const random = () => ({ ...makeRequest("random", "0x"), createdAt: AT });
  const read = async () => (await readUsage(store.db, DESK_DAPP, DAYS)).items;

  test("a request counts on its day when it is accepted, and what it cost when it has ended", async () => {
    const request = random();
    await book.add(request);
    expect(await read()).toMatchObject([
      { day: "2026-11-22", network: "sepolia", requests: { random: 1 }, fulfilled: 0 },
    ]);
    await book.change(() => [
      { request, state: "submitted", progress: { wordJuels: "20000000000000000001" } },
    ]);
    expect(await read()).toMatchObject([{ linkJuels: "0", words: 0 }]);
    await book.change(() => [{ request, state: "fulfilled", outcome: { ...OUTCOME, words: ["1", "2"] } }]);
    const ended = { fulfilled: 1, failed: 0, words: 2, linkJuels: "20000000000000000001", coinWei: "0" };
    expect(await read()).toMatchObject([{ requests: { random: 1 }, ...ended }]);
  });

  test("a request that a reorg reopens counts once, whichever way it ends then", async () => {
    const request = random();
    await book.add(request);
    const end = { request, state: "fulfilled", progress: { wordJuels: "7" } } as const;
    await book.change(() => [
      { ...end, outcome: { ...OUTCOME, words: ["1"] }, endedIn: { number: 5, hash: "0x5" } },
    ]);
    await book.change(() => [{ request, state: "submitted", forget: ["wordJuels"] }]);
    expect(await read()).toMatchObject([{ requests: { random: 1 }, fulfilled: 0, words: 0, linkJuels: "0" }]);
    await book.change(() => [{ request, state: "failed", error: { code: "request_failed", message: "no" } }]);
    expect(await read()).toMatchObject([
      { requests: { random: 1 }, fulfilled: 0, failed: 1, linkJuels: "0" },
    ]);
  });

  test("what isn't stored isn't counted", async () => {
    const request = random();
    await book.add({ ...request, idempotencyKey: "k" });
    await expect(book.add({ ...random(), idempotencyKey: "k" })).rejects.toThrow(/unique/i);
    const fails = book.change(
      () => [{ request, state: "failed" }],
      () => Promise.reject(new Error("no")),
    );
    await expect(fails).rejects.toThrow("no");
    expect(await read()).toMatchObject([{ requests: { random: 1 }, failed: 0 }]);
  });

  test("a transaction's gas is shared by its requests, and counted once", async () => {
    const requests = [random(), makeRequest("preset", "0x"), makeRequest("preset", "0x")];
    const [first, ...presets] = requests.map((one) => ({ ...one, createdAt: AT }));
    for (const request of [first!, ...presets]) await book.add(request);
    const payload = { kind: "submit", entries: [[first!.id], presets.map(({ id }) => id)] };
    const place = { network: "sepolia", sender: "0x", nonce: 1, raw: "0x", createdAt: AT } as const;
    await insertTransaction(store.db, { ...place, hash: "0xaa", payload });
    const mined = { gasUsed: 100_001n, succeeded: true };
    await endMinedTransaction(store.db, "0xaa", mined);
    await endMinedTransaction(store.db, "0xaa", mined);
    expect(await read()).toMatchObject([{ gasUsed: "100001", requests: { random: 1, preset: 2 } }]);
  });

  test("a top-up that is mined counts once, apart from what requests were charged", async () => {
    const topUp = { dappId: DESK_DAPP, juels: "20000000000000000001", wei: "3" };
    const place = { network: "sepolia", sender: "0x", raw: "0x", createdAt: AT } as const;
    const payload = { kind: "upkeep", entries: [], topUp };
    await insertTransaction(store.db, { ...place, nonce: 1, hash: "0xaa", payload });
    await insertTransaction(store.db, { ...place, nonce: 2, hash: "0xbb", payload });
    const mined = { gasUsed: 100_001n, succeeded: true };
    await endMinedTransaction(store.db, "0xaa", mined);
    await endMinedTransaction(store.db, "0xaa", mined);
    await endMinedTransaction(store.db, "0xbb", { ...mined, succeeded: false });
    expect((await readUsage(store.db, DESK_DAPP, {})).items).toMatchObject([
      { network: "sepolia", linkJuels: "0", toppedUpJuels: "20000000000000000001", toppedUpWei: "3" },
    ]);
  });

  test("a report has its days and networks alone, and is written as CSV", async () => {
    const place = { dappId: DESK_DAPP, kind: "dry-run", requests: 2 } as const;
    await addUsage(store.db, [
      { ...place, network: "", day: "2026-11-02" },
      { ...place, network: "fuji", day: "2026-11-03" },
      { ...place, network: "fuji", day: "2026-12-01" },
    ]);
    expect((await read()).map(({ day, network, dryRuns }) => [day, network, dryRuns])).toEqual([
      ["2026-11-02", null, 2],
      ["2026-11-03", "fuji", 2],
    ]);
    const report = await readUsage(store.db, DESK_DAPP, { ...DAYS, network: "fuji" });
    expect(writeUsageCsv(report)).toBe(
      "day,network,preset,function,random,consumer,unlink,fulfilled,failed,refused,dryRuns,words,gasUsed,linkJuels,coinWei,toppedUpJuels,toppedUpWei\r\n" +
        "2026-11-03,fuji,0,0,0,0,0,0,0,0,2,0,0,0,0,0,0\r\n",
    );
  });

  test("days that are none, the wrong way round, or too many", async () => {
    const ask = (query: Parameters<typeof readUsage>[2]) => readUsage(store.db, DESK_DAPP, query);
    await expect(ask({ from: "2026-02-30" })).rejects.toThrow("must be a day");
    await expect(ask({ from: "2026-11-02", to: "2026-11-01" })).rejects.toThrow(
      "must not be after to, which is 2026-11-01",
    );
    await expect(ask({ from: "2024-11-02", to: "2026-11-01" })).rejects.toThrow(
      "must be at most 366 days up to 2026-11-01",
    );
  });

  test("past the day's requests 429, also after a restart; a call without a request gives its place back", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: AT });
    onTestFinished(() => void vi.useRealTimers());
    await addUsage(store.db, [
      { dappId: DESK_DAPP, network: "fuji", day: dayOf(Date.now()), kind: "random", requests: 1 },
      { dappId: DESK_DAPP, network: "fuji", day: dayOf(Date.now()), kind: "dry-run", requests: 9 },
    ]);
    const limit = createDailyLimit(store, { limit: 3 });
    const caller = { id: DESK_DAPP, keyId: "key_1" };
    const [giveBack] = await Promise.all([limit.take(caller), limit.take(caller)]);
    const refused = limit.take(caller);
    await expect(refused).rejects.toMatchObject({
      code: "rate_limited",
      details: { retryAfterMs: 1_000 },
    });
    giveBack();
    await limit.take(caller);
    await expect(limit.take(caller)).rejects.toThrow("00:00 UTC");
    vi.setSystemTime(AT + 1_000);
    await limit.take(caller);
  });

  test("a key's own limit counts what was stored with it, whoever stored it, and each day anew", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: AT });
    onTestFinished(() => void vi.useRealTimers());
    const fresh = { createdAt: 1, revokedAt: null, name: "", lastUsedAt: null } as const;
    const unlimited = { access: "full", expiresAt: null, previous: null } as const;
    const bytes = new Uint8Array(32);
    await insertKey(store.db, {
      id: "key_1",
      dappId: DESK_DAPP,
      hash: bytes,
      sealed: bytes,
      dailyLimit: 2,
      countedDay: null,
      dayRequests: 0,
      ...fresh,
      ...unlimited,
    });
    const caller = { id: DESK_DAPP, keyId: "key_1", keyDailyLimit: 2 };
    const [limit, otherProcess] = [createDailyLimit(store, {}), createDailyLimit(store, { isShared: true })];
    const accept = (by = limit) => book.add(random(), (db) => by.count(db, caller));
    const answers = await Promise.allSettled([
      accept(),
      accept(otherProcess),
      accept(),
      accept(otherProcess),
    ]);
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await read()).toMatchObject([{ requests: { random: 2 } }]);
    await expect(limit.take(caller)).rejects.toThrow("this API key has made its 2 requests");
    await limit.take({ id: DESK_DAPP, keyId: "key_2" });
    vi.setSystemTime(AT + 1_000);
    await limit.take(caller);
    await accept();
  });
});
