import { afterEach, beforeEach, expect, test } from "vitest";
import { type Change, createRequestBook, type RequestBook } from "../../../src/requests/requestBook.ts";
import type { OpenRequest } from "../../../src/requests/openRequest.ts";
import { createRequestReader } from "../../../src/requests/read/requestReader.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import { createSqliteDialect } from "../../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import type { SharedRequest, SharedResult } from "../../../src/api/types.ts";
import type { Preset } from "../../../src/presets/preset.ts";
import { loadPreset } from "../../../src/presets/loadPreset.ts";
import type { ServiceNetwork } from "../../../src/requests/serviceNetwork.ts";
import { QUICKNET_HASH } from "../../support/drandRelay.ts";
import { DESK_DAPP, DESK_NETWORK, makeRequest } from "../../support/pipelineWorld.ts";

let store: Store;
beforeEach(async () => {
  store = await openStore(createSqliteDialect(":memory:"));
  await insertDapp(store.db, { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1 });
});
afterEach(() => store.close());

/** Creates the reader of a service without networks. */
const readerOf = (book: RequestBook) =>
  createRequestReader({
    store,
    book,
    networks: new Map(),
    registry: { find: () => undefined },
    baseUrl: () => "",
  });

test("requests of a network that is no longer configured can still be read", async () => {
  const book = createRequestBook(store);
  const reader = readerOf(book);
  const waiting = makeRequest("random", "0x");
  const ended = makeRequest("random", "0x");
  await book.add(waiting);
  await book.add(ended);
  const outcome = { transactionHash: "0x1", requestId: "0x2", words: ["3"] } as const;
  await book.change(() => [{ request: ended, state: "fulfilled", outcome }]);
  expect(await reader.explain(waiting)).toMatchObject({ why: `${DESK_NETWORK} is not configured any more` });
  const dapp = { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1, keyId: "key_1" } as const;
  const { items } = await reader.listRequests(dapp, { limit: 10 });
  expect(items.map(({ id }) => id).toSorted()).toEqual([waiting.id, ended.id].toSorted());
  expect(items.find(({ id }) => id === waiting.id)?.why).toBe(`${DESK_NETWORK} is not configured any more`);
  expect(items.find(({ id }) => id === ended.id)?.outcome).toMatchObject({
    url: `/explorer/${DESK_NETWORK}/tx/0x1`,
  });
});

test.each([
  ["checking", {}, "its source is dry-run before it is sent"],
  ["received", {}, "it is not sent yet"],
  ["submitted", {}, "its transaction is not seen on chain yet"],
  ["submitted", { acceptedBlock: 5 }, "its random words are not on chain yet"],
  ["executing", { acceptedBlock: 5 }, "its result is not on chain yet"],
] as const)("a request that is %s (%o) says what it waits for", async (state, known, why) => {
  const book = createRequestBook(store);
  const reader = readerOf(book);
  const request = makeRequest("function", "0x");
  const progress = { ...request.progress, ...known };
  expect(reader.present({ ...request, state, progress })).toMatchObject({ state, why });
});

const ORACLE_ID = `0x${"5a".repeat(32)}` as const;
const RAN = {
  transactionHash: "0x1",
  requestId: ORACLE_ID,
  result: "0x",
  parsedResult: "",
  err: "0x",
} as const;

const endRequest = async (
  change: Omit<Change, "request">,
  changed: Partial<OpenRequest> = {},
  presets: Readonly<Record<string, Preset>> = {},
) => {
  const book = createRequestBook(store);
  const registry = { find: (name: string) => presets[name] };
  const reader = createRequestReader({
    store,
    book,
    networks: new Map(),
    registry,
    baseUrl: () => "http://tyche",
  });
  const request = Object.assign(makeRequest("preset", "0x"), changed);
  await book.add(request);
  await book.change(() => [{ request, ...change }]);
  return { id: request.id, createdAt: request.createdAt, reader };
};

test("a request is also found by the id that the oracle assigned, by its own dapp alone", async () => {
  const { id, reader } = await endRequest({ state: "fulfilled", outcome: RAN });
  const dapp = { name: "test", facilities: [], keyId: "key_1" } as const;
  for (const given of [ORACLE_ID, ORACLE_ID.toUpperCase().replace("X", "x")])
    expect(await reader.getOwn({ ...dapp, id: DESK_DAPP }, given)).toMatchObject({ id });
  await expect(reader.getOwn({ ...dapp, id: "dapp_other" }, ORACLE_ID)).rejects.toThrow(
    "there is no request",
  );
  const unknown = ORACLE_ID.replace("5", "6");
  await expect(reader.getOwn({ ...dapp, id: DESK_DAPP }, unknown)).rejects.toThrow("there is no request");
});

test("a preset's outcome has the value and its parts as stored, whatever became of the preset", async () => {
  const { id, reader } = await endRequest(
    { state: "fulfilled", outcome: { ...RAN, parsedResult: "1", value: true } },
    {
      progress: { ...makeRequest("preset", "0x").progress, show: { as: "coin", sides: ["Tails", "Heads"] } },
    },
  );
  expect(await reader.getShared(id)).toMatchObject({
    outcome: { success: true, id, value: true, shareUrl: `http://tyche/r/${id}` },
    shown: { as: "coin", side: "Heads" },
  });
});

test("a shared result has the title of its preset, while that is installed", async () => {
  const ended = { state: "fulfilled", outcome: RAN } as const;
  const drawn = { params: { preset: "coinflip" } } as unknown as Partial<OpenRequest>;
  const { id, reader } = await endRequest(ended, drawn, {
    coinflip: await loadPreset("plugins", "coinflip"),
  });
  expect(await reader.getShared(id)).toMatchObject({ preset: "coinflip", title: "Flip a coin" });
  const gone = await endRequest(ended, drawn);
  expect(await gone.reader.getShared(gone.id)).not.toHaveProperty("title");
});

test("of a function that is on chain everybody may see the arguments, until they are deleted here", async () => {
  const ended = { state: "fulfilled", outcome: RAN } as const;
  const ran = await endRequest(ended, makeRequest("function", "0x"));
  expect(await ran.reader.getShared(ran.id)).toMatchObject({ args: ["hello"] });
  const deleted = { ...makeRequest("function", "0x"), payloadDeletedAt: 1 };
  const gone = await endRequest(ended, deleted);
  expect(await gone.reader.getShared(gone.id)).not.toHaveProperty("args");
  const unsent = await endRequest({ state: "received" }, makeRequest("function", "0x"));
  expect(await unsent.reader.getShared(unsent.id)).not.toHaveProperty("args");
});

test("an outcome that is a failure has a code and no value", async () => {
  const { id, reader } = await endRequest({ state: "failed", outcome: { ...RAN, err: "boom" } });
  const { outcome } = (await reader.getShared(id)) as SharedResult;
  expect(outcome).toMatchObject({ success: false, id, err: "boom", code: "function_failed", value: null });
});

const lackOf = async (...given: Parameters<typeof endRequest>) => {
  const { id, createdAt, reader } = await endRequest(...given);
  const { id: known, shareUrl, createdAt: at, ...request } = (await reader.getShared(id)) as SharedRequest;
  expect([known, shareUrl, at]).toEqual([id, `http://tyche/r/${id}`, new Date(createdAt).toISOString()]);
  return request;
};

test("of a request without a result, everybody learns what became of it, and of what is on chain what it is for", async () => {
  const failed = { state: "failed", error: { code: "oracle_timeout", message: "late" } } as const;
  expect(await lackOf(failed)).toEqual({ state: "failed", why: "it failed before it was on chain" });
  const open = { state: "waiting", why: "the request is not on chain yet" };
  expect(await lackOf({ state: "submitted", why: "private words" })).toEqual(open);
  expect(await lackOf({ state: "received" })).toEqual(open);
  const due = new Date(Date.now() + 3_600_000).toISOString();
  const beacon = { round: "1000", time: due, chainHash: QUICKNET_HASH };
  const params = { preset: "coinflip", label: "raffle", beacon };
  const drawn = { params } as unknown as Partial<OpenRequest>;
  const waits = `waiting for drand's round 1000, due at ${due}`;
  expect(await lackOf({ state: "received" }, drawn)).toEqual({ state: "waiting", why: waits, beacon });
  const presets = { coinflip: await loadPreset("plugins", "coinflip") };
  const mined = { state: "submitted", progress: { acceptedBlock: 7 } } as const;
  const named = {
    kind: "preset",
    network: DESK_NETWORK,
    preset: "coinflip",
    title: "Flip a coin",
    params: {},
    parameterTitles: {},
    label: "raffle",
    dappId: DESK_DAPP,
    dappName: "test",
  };
  expect(await lackOf(mined, drawn, presets)).toEqual({ ...named, state: "waiting", why: waits, beacon });
  expect(await lackOf({ ...failed, progress: { acceptedBlock: 7 } }, drawn, presets)).toEqual({
    ...named,
    state: "failed",
    why: "the request failed",
  });
});

test("a request whose round is due waits for what is missing on chain, and says so when the result is late", async () => {
  const whyWhen = async (ageMs: number, progress: NonNullable<Change["progress"]>) => {
    const time = new Date(Date.now() - ageMs).toISOString();
    const beacon = { round: "1000", time, chainHash: QUICKNET_HASH };
    const drawn = { params: { preset: "coinflip", beacon } } as unknown as Partial<OpenRequest>;
    const state = progress.wordBlock === undefined ? "submitted" : "randomness";
    const { why } = await lackOf({ state, progress }, drawn);
    return why.replace(time, "T");
  };
  const late = 3_600_000;
  expect(await whyWhen(late, {})).toBe("the request is not on chain yet");
  expect(await whyWhen(late, { acceptedBlock: 7 })).toBe("its random words are not on chain yet");
  const executing = { acceptedBlock: 7, wordBlock: 8 };
  expect(await whyWhen(0, executing)).toBe("its result is not on chain yet");
  expect(await whyWhen(late, executing)).toBe("its result is late: drand's round 1000 was due at T");
});

test("a result of no request, and that of a linking, is none at all", async () => {
  const { reader } = await endRequest({ state: "submitted" });
  const linking = await endRequest({ state: "submitted" }, makeRequest("consumer", "0x"));
  for (const [one, id] of [
    [reader, "req_x"],
    [linking.reader, linking.id],
  ] as const)
    await expect(one.getShared(id)).rejects.toMatchObject({
      message: `there is no result "${id}"`,
      details: undefined,
    });
});

test("of all dapps' requests, those on chain are listed page by page, and found by their ids on their network alone", async () => {
  const book = createRequestBook(store);
  await insertDapp(store.db, { id: "dapp_other", name: "other", facilities: [], createdAt: 1 });
  const networks = new Map([[DESK_NETWORK, { explorerUrl: "" } as unknown as ServiceNetwork]]);
  const registry = { find: () => ({ title: "Draw" }) as unknown as Preset };
  const reader = createRequestReader({ store, book, networks, registry, baseUrl: () => "" });
  const idOf = (i: number) => `0x${String(i).padStart(64, "0")}` as const;
  for (let i = 0; i < 30; i += 1) {
    const request = makeRequest("preset", "0x");
    const dappId = i % 2 === 0 ? DESK_DAPP : "dapp_other";
    const own = Object.assign(request, {
      dappId,
      params: i === 26 ? request.params : { ...request.params, label: `raffle-${i}` },
    });
    await book.add(own);
    if (i === 29) continue; // It isn't on chain.
    const failed = { state: "failed", error: { code: "oracle_timeout", message: "private words" } } as const;
    await book.change(() => [
      i === 28
        ? { request: own, ...failed, progress: { presetRequestId: idOf(i) } }
        : {
            request: own,
            state: "fulfilled",
            outcome: { ...RAN, requestId: idOf(i), parsedResult: "x".repeat(300) },
          },
    ]);
  }
  const first = await reader.listOnChain({});
  expect(first.items).toHaveLength(25);
  expect(first.items[0]).toMatchObject({
    requestId: idOf(28),
    label: "raffle-28",
    title: "Draw",
    state: "failed",
  });
  expect(first.items[0]).not.toHaveProperty("result");
  expect(first.items[1]).toMatchObject({ label: "raffle-27", success: true });
  expect(first.items[1]!.result).toHaveLength(200);
  expect(JSON.stringify(first)).not.toMatch(/private words/);
  // Whose a request is stands on chain with its label, and nowhere else.
  expect(first.items.slice(1, 4).map(({ dappId }) => dappId)).toEqual([
    "dapp_other",
    undefined,
    "dapp_other",
  ]);
  const second = await reader.listOnChain({ network: DESK_NETWORK, cursor: first.nextCursor! });
  expect(second).toMatchObject({ items: { length: 4 }, nextCursor: null });
  expect(first.matches).toEqual({ count: 29, isAll: true });
  expect(second).not.toHaveProperty("matches");
  const nothing = { items: [], nextCursor: null, matches: { count: 0, isAll: true } };
  expect(await reader.listOnChain({ network: "elsewhere" })).toEqual(nothing);
  expect(await reader.listOnChain({ state: "failed", kind: "preset" })).toMatchObject({
    items: [{ label: "raffle-28" }],
    nextCursor: null,
    matches: { count: 1, isAll: true },
  });
  expect((await reader.listOnChain({ dapp: DESK_DAPP })).items.map(({ label }) => label)).toEqual(
    [28, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0].map((i) => `raffle-${i}`),
  );
  const labelled = async (text: string) =>
    (await reader.listOnChain({ text })).items.map(({ label }) => label);
  expect(await labelled("FFLE-2")).toEqual([28, 27, 25, 24, 23, 22, 21, 20, 2].map((i) => `raffle-${i}`));
  expect(await labelled("xxx")).toHaveLength(25);
  expect(await reader.listOnChain({ text: "xxx" })).toMatchObject({ matches: { count: 28 } });
  expect(await labelled("draw")).toContain(undefined);
  expect(await labelled("private words")).toEqual([]);
  for (const none of [{ state: "waiting" }, { kind: "random" }, { text: "other raffle" }] as const)
    expect(await reader.listOnChain(none)).toEqual(nothing);

  const ids = [idOf(7), idOf(29)];
  expect(await reader.findOnChain(DESK_NETWORK, ids)).toMatchObject([{ label: "raffle-7" }]);
  expect(await reader.findOnChain("elsewhere", ids)).toEqual([]);
});
