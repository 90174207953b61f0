import { beforeEach, describe, expect, test } from "vitest";
import { firstId } from "../../../src/domain/id.ts";
import { parseStoredRequest } from "../../../src/requests/openRequest.ts";
import { presentRequest, type PageUrls } from "../../../src/requests/read/present.ts";
import { createRetention } from "../../../src/requests/keep/retention.ts";
import type { Keep } from "../../../src/store/retention.ts";
import type { RemovableBlocks } from "../../../src/networks/network.ts";
import { saveOracleCheckpoint } from "../../../src/store/chainRecords.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import { findCallbackFailures, saveCallbackFailures } from "../../../src/store/failedCallbacks.ts";
import {
  findRequest,
  findRequestByKey,
  insertRequests,
  listNotFinalRequests,
  type StoredRequest,
} from "../../../src/store/requests.ts";
import type { Store } from "../../../src/store/store.ts";
import { findTransactions, insertTransaction, endTransaction } from "../../../src/store/transactions.ts";
import { findLateBeacon, saveLateBeacon } from "../../../src/store/lateBeacons.ts";
import { addUsage, listUsage } from "../../../src/store/usage.ts";
import { DATABASES, useStore } from "../../support/databases.ts";
import { makeStoredRequest } from "../../support/storedRequest.ts";

const URLS: PageUrls = { explorer: undefined, share: "/r/1" };

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
const FINAL = 100;
const OPERATOR = "0xa";
const DRY_RUN = { console: "asked for ann", timeMs: 1, memoryBytes: 2, httpRequests: 0 };

/** Creates a request accepted this many days ago; `number` distinguishes those of one day. */
function makeRequest(daysAgo: number, number: number, change: Partial<StoredRequest> = {}): StoredRequest {
  const createdAt = NOW - daysAgo * DAY_MS + number;
  return makeStoredRequest("", {
    id: firstId("req", createdAt),
    kind: "function",
    params: { source: "return secretly", args: ["a"], returnType: "string" },
    progress: { returnType: "string", nonce: number },
    outcome: { transactionHash: "0x1", requestId: "0x2", result: "0x37", parsedResult: "7", err: "0x" },
    idempotencyKey: `key-${daysAgo}-${number}`,
    state: "fulfilled",
    endedIn: { number: 50, hash: "0xb" },
    createdAt,
    ...change,
  });
}

describe.each(DATABASES)("on %s", (_name, create) => {
  let store: Store;
  useStore(create, (opened) => {
    store = opened;
  });
  beforeEach(async () => {
    for (const id of ["dapp_a", "dapp_b"])
      await insertDapp(store.db, { id, name: id, facilities: [], createdAt: 1 });
  });

  const pass = (
    keep: Keep,
    network = "sepolia",
    removeBlocks?: (range: RemovableBlocks) => Promise<boolean>,
  ): Promise<void> =>
    createRetention({
      network,
      store,
      operator: OPERATOR,
      keep,
      finalNumber: async () => BigInt(FINAL),
      ...(removeBlocks && { removeBlocks }),
      now: () => NOW,
    }).pass();
  const isThere = async ({ id }: StoredRequest): Promise<boolean> =>
    (await findRequest(store.db, id)) !== undefined;

  test("old requests of the network go, page by page, and their sums stay", async () => {
    const old = Array.from({ length: 450 }, (_, i) =>
      makeRequest(31, i, { dappId: i % 2 ? "dapp_a" : "dapp_b" }),
    );
    const kept = [makeRequest(29, 0), makeRequest(31, 1_000, { network: "fuji" })];
    await insertRequests(store.db, [...old, ...kept]);
    const place = { dappId: "dapp_a", network: "sepolia", day: "2027-01-01", kind: "function" } as const;
    await addUsage(store.db, [{ ...place, requests: 225 }]);
    const ids = ["31", "29"];
    const failures = ids.map((requestId) => {
      const createdAt = NOW - Number(requestId) * DAY_MS;
      return { network: "sepolia", requestId, transactionHash: "0x1", reason: "no", createdAt };
    });
    await saveCallbackFailures(store.db, failures);
    await pass({ requestDays: 30 });
    expect(await findCallbackFailures(store.db, "sepolia", ids)).toMatchObject([{ requestId: "29" }]);
    expect((await Promise.all(old.map(isThere))).filter(Boolean)).toEqual([]);
    expect(await Promise.all(kept.map(isThere))).toEqual([true, true]);
    const sums = await listUsage(store.db, { dappId: "dapp_a", from: "2027-01-01", to: "2027-01-01" });
    expect(sums).toMatchObject([{ requests: 225 }]);
    // Its key is free: a repeated call is a new request.
    expect(await findRequestByKey(store.db, "dapp_b", "key-31-0")).toBeUndefined();
  });

  test("rounds that were late go with old requests", async () => {
    const [old, young] = [31n, 29n].map((round) => ({ round, chainHash: "0x1" }) as const);
    for (const one of [old!, young!]) await saveLateBeacon(store.db, one, NOW - Number(one.round) * DAY_MS);
    await pass({ payloadDays: 30 });
    expect(await findLateBeacon(store.db, old!)).toBe(null);
    await pass({ requestDays: 30 });
    expect(await findLateBeacon(store.db, old!)).toBe(undefined);
    expect(await findLateBeacon(store.db, young!)).toBe(null);
  });

  test("of an old request what was sent goes; its result stays, and says since when", async () => {
    const [plain, young] = [makeRequest(31, 0), makeRequest(29, 0)];
    const old = {
      ...plain,
      params: { ...plain.params, label: "for ann" },
      progress: { ...plain.progress, givenLabel: "For Ann", dryRun: DRY_RUN },
    };
    await insertRequests(store.db, [old, young]);
    await pass({ payloadDays: 30 });
    const left = await findRequest(store.db, old.id);
    expect(left).toEqual({
      ...plain,
      params: { source: "", args: [], returnType: "string" },
      endedIn: null,
      version: 2,
      payloadDeletedAt: NOW,
    });
    expect(await findRequestByKey(store.db, "dapp_a", "key-31-0")).toEqual(left);
    const shown = presentRequest(parseStoredRequest(left!), URLS);
    expect(shown).toMatchObject({
      params: {},
      payloadDeletedAt: new Date(NOW).toISOString(),
      outcome: { parsedResult: "7" },
    });
    expect(shown.params).toEqual({ returnType: "string" });
    expect(shown).not.toHaveProperty("givenLabel");
    expect(shown).not.toHaveProperty("dryRun");
    expect(await findRequest(store.db, young.id)).toEqual(young);
    // The end is settled: the request could not be sent again.
    const notFinal = await listNotFinalRequests(store.db, "sepolia", { head: 50, depth: 50 });
    expect(notFinal).toEqual([young]);
  });

  test("a preset keeps its name, words and linkings all they have", async () => {
    const preset = makeRequest(31, 0, {
      kind: "preset",
      params: { preset: "lotto", list: ["ann", "bob"], label: "for ann" },
      progress: {
        sourceHash: "0x1",
        args: ["ann", "bob"],
        returnType: "string",
        givenLabel: "For ANN",
        dryRun: DRY_RUN,
      },
    });
    const words = makeRequest(31, 1, {
      kind: "random",
      params: { numWords: 1, confirmations: 1, keyHash: "0x1" },
      outcome: { transactionHash: "0x1", requestId: "0x2", words: ["7"] },
    });
    await insertRequests(store.db, [preset, words]);
    await pass({ payloadDays: 30 });
    const left = (await findRequest(store.db, preset.id))!;
    expect(JSON.stringify(left)).not.toMatch(/ann/i);
    expect(presentRequest(parseStoredRequest(left), URLS).params).toEqual({ preset: "lotto" });
    expect(await findRequest(store.db, words.id)).toEqual(words);
  });

  test("nothing in work goes, nor what a reorg may bring back, until that is over", async () => {
    const open = makeRequest(31, 0, { state: "executing", outcome: null, endedIn: null });
    const notFinal = makeRequest(31, 1, { endedIn: { number: FINAL + 1, hash: "0xc" } });
    const later = makeRequest(30.5, 2);
    await insertRequests(store.db, [open, notFinal, later]);
    await pass({ payloadDays: 30, requestDays: 40 });
    expect(await findRequest(store.db, open.id)).toEqual(open);
    expect(await findRequest(store.db, notFinal.id)).toEqual(notFinal);
    expect(await findRequest(store.db, later.id)).toMatchObject({ payloadDeletedAt: NOW });
    await pass({ requestDays: 30 });
    expect(await Promise.all([open, notFinal, later].map(isThere))).toEqual([true, true, false]);
    // The next pass returns to what this one left.
    await store.db
      .updateTable("requests")
      .set({ ended_block: FINAL })
      .where("id", "=", notFinal.id)
      .execute();
    await pass({ payloadDays: 30 });
    expect(await findRequest(store.db, notFinal.id)).toMatchObject({ payloadDeletedAt: NOW });
  });

  test("old blocks go up to the first that the oracle, a reorg or an open request may need", async () => {
    const asked: RemovableBlocks[] = [];
    /** Takes two steps to finish. */
    const removeBlocks = async (range: RemovableBlocks) => asked.push(range) < 2;
    const passBlocks = async (): Promise<RemovableBlocks[]> => {
      asked.length = 0;
      await pass({ blockDays: 30 }, "sepolia", removeBlocks);
      return asked.splice(0);
    };
    expect(await passBlocks()).toEqual([]);
    const note = (blockNumber: bigint) =>
      saveOracleCheckpoint(store.db, "sepolia", { blockNumber, head: { number: 1_000n, hash: "0x1" } });
    await note(500n);
    const range = { before: FINAL, olderThan: (NOW - 30 * DAY_MS) / 1_000, limit: 100 };
    expect(await passBlocks()).toEqual([range, range]);
    await note(90n);
    expect(await passBlocks()).toMatchObject([{ before: 90 }, { before: 90 }]);
    const progress = { returnType: "string", nonce: 1, sinceBlock: 80 };
    const open = { state: "executing", outcome: null, endedIn: null, progress } as const;
    await insertRequests(store.db, [makeRequest(1, 0, open), makeRequest(1, 1)]);
    expect(await passBlocks()).toMatchObject([{ before: 80 }, { before: 80 }]);
    await pass({ requestDays: 30 }, "sepolia", removeBlocks);
    expect(asked).toEqual([]);
  });

  test("spent transactions go but for the newest, those under way, and what open requests may need", async () => {
    const hashOf = (nonce: number) => `0x${nonce}` as const;
    const insert = async (nonce: number, createdAt: number, isSpent = true): Promise<void> => {
      const row = { network: "sepolia", sender: OPERATOR, raw: "0x", payload: {}, createdAt } as const;
      await insertTransaction(store.db, { ...row, hash: hashOf(nonce), nonce });
      if (isSpent) await endTransaction(store.db, hashOf(nonce), nonce % 2 ? "mined" : "replaced");
    };
    const old = NOW - 31 * DAY_MS;
    for (let nonce = 0; nonce < 250; nonce += 1) await insert(nonce, old);
    for (const [nonce, createdAt] of [
      [250, NOW - 29 * DAY_MS],
      [300, old],
      [301, old],
      [5_000, NOW],
    ] as const)
      await insert(nonce, createdAt);
    await insert(4_000, old, false);
    const left = async (): Promise<number[]> =>
      (await findTransactions(store.db, [...Array(302).keys(), 4_000, 5_000].map(hashOf)))
        .map(({ nonce }) => nonce)
        .toSorted((a, b) => a - b);
    const open = makeRequest(31, 301, { state: "submitted", outcome: null, endedIn: null });
    await insertRequests(store.db, [open]);
    await pass({ transactionDays: 30 });
    expect(await left()).toEqual([250, 301, 4_000, 5_000]);
    await pass({ transactionDays: 30 }, "fuji");
    expect(await left()).toHaveLength(4);
  });
});
