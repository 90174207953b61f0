import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Hex } from "viem";
import { decodePresetBatch } from "../../src/chainlink/presetBatch.ts";
import { prove } from "../../src/vrf/proof.ts";
import { outputOf, randomWords, seedOf } from "../../src/vrf/randomWords.ts";
import { TEST_PROVING_KEY } from "../support/stack.ts";
import { startPipelineWorld, type PipelineWorld, type OpenPipeline } from "../support/pipelineWorld.ts";
import { every, first, type FaultRule } from "../support/faultyNode.ts";

const HASH = /^0x[0-9a-f]{64}$/;
const SEND = "eth_sendRawTransactionSync";

let world: PipelineWorld;
let pipeline: OpenPipeline;
let undo: (() => void)[] = [];

beforeAll(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open();
  await world.storeSource(pipeline.pipeline);
});
afterEach(() => {
  for (const each of undo) each();
  undo = [];
});
afterAll(async () => {
  await pipeline.close();
  await world.close();
});

const inject = (rule: FaultRule): void => void undo.push(world.node.inject(rule));
const countRequests = async () => ({
  words: (await world.events("RandomWordsRequested")).length,
  presets: (await world.events("BatchRequested")).flatMap(({ batch }) => decodePresetBatch(batch).items)
    .length,
  functions: (await world.events("OracleRequest")).length,
});

test("a preset goes through all states", async () => {
  const { id } = await pipeline.accept("preset");
  const { state, timeline, outcome, why, error } = await pipeline.ended(id);
  expect(state).toBe("fulfilled");
  expect(timeline.map((entry) => entry.state)).toEqual(["received", "submitted", "randomness", "fulfilled"]);
  expect(timeline.map((entry) => entry.seq)).toEqual([1, 2, 3, 4]);
  expect(outcome).toMatchObject({
    requestId: expect.stringMatching(HASH),
    transactionHash: timeline[3]!.transactionHash,
    vrfTransactionHash: timeline[2]!.transactionHash,
    parsedResult: expect.stringMatching(/^\d+$/),
    err: "0x",
  });
  expect(outcome!["value"]).toBe(outcome!["parsedResult"]);
  expect([why, error]).toEqual([null, null]);
});

test("a function's result is decoded", async () => {
  const { id } = await pipeline.accept("function");
  const { timeline, outcome } = await pipeline.ended(id);
  expect(timeline.map((entry) => entry.state)).toEqual(["received", "submitted", "executing", "fulfilled"]);
  expect(outcome).toMatchObject({ parsedResult: "hello", err: "0x" });
});

test("random words are those that the proof makes", async () => {
  const { id } = await pipeline.accept("random");
  const { timeline, outcome } = await pipeline.ended(id);
  expect(timeline.map((entry) => entry.state)).toEqual(["received", "submitted", "fulfilled"]);
  // What the coordinator's own event says about the proof, and what a consumer's callback would get.
  const { requestId } = outcome as { requestId: Hex };
  const fulfilled = (await world.events("RandomWordsFulfilled")).find((one) => one.requestId === requestId)!;
  const requested = (await world.events("RandomWordsRequested")).find((one) => one.requestId === requestId)!;
  const block = (await pipeline.client.getReceipt(timeline[1]!.transactionHash as Hex))!.blockHash;
  const { preSeed } = requested;
  const { gamma } = prove(TEST_PROVING_KEY, { preSeed, seed: seedOf(preSeed, block) });
  const output = outputOf(gamma);
  expect(fulfilled.outputSeed).toBe(output);
  expect(outcome!["words"]).toEqual(randomWords(output, 2).map(String));
});

test("a contract is linked, and asked for again needs no transaction", async () => {
  const [one, two] = [await pipeline.accept("consumer"), await pipeline.accept("consumer")];
  const [a, b] = [await pipeline.ended(one.id), await pipeline.ended(two.id)];
  expect(a.state).toBe("fulfilled");
  expect(b.outcome).toEqual(a.outcome);
});

test("what comes while a transaction is under way travels together, each with its own result", async () => {
  const before = await countRequests();
  const requests = await Promise.all(Array.from({ length: 25 }, () => pipeline.accept("preset")));
  const ended = await Promise.all(requests.map(({ id }) => pipeline.ended(id)));
  expect(new Set(ended.map(({ outcome }) => outcome!["parsedResult"])).size).toBe(25);
  const transactions = new Set(ended.map(({ timeline }) => timeline[1]!.transactionHash));
  expect(transactions.size).toBeLessThan(10);
  expect((await countRequests()).presets - before.presets).toBe(25);
});

test("kinds share a transaction; a refused one fails none of its neighbours", async () => {
  const keyHash: Hex = `0x${"77".repeat(32)}`;
  const bad = pipeline.accept("function", { params: { source: "", args: [], returnType: "string" } });
  const requests = await Promise.all([
    pipeline.accept("preset"),
    bad,
    pipeline.accept("random", { params: { numWords: 501, confirmations: 1, keyHash } }),
    pipeline.accept("function"),
    pipeline.accept("random"),
  ]);
  const ended = await Promise.all(requests.map(({ id }) => pipeline.ended(id)));
  expect(ended.map(({ state }) => state)).toEqual([
    "fulfilled",
    "failed",
    "failed",
    "fulfilled",
    "fulfilled",
  ]);
  expect(ended[2]!.error).toEqual({
    code: "request_failed",
    message: expect.stringContaining("NumWordsTooBig(501, 500)"),
  });
});

test("a source that fails on the network is an outcome with its error", async () => {
  const params = { source: "throw new Error('no luck')", args: [], returnType: "string" };
  const { id } = await pipeline.accept("function", { params });
  const { state, outcome, error } = await pipeline.ended(id);
  expect(state).toBe("failed");
  expect(outcome).toMatchObject({ err: "no luck", result: "0x", requestId: expect.stringMatching(HASH) });
  expect(error).toBeNull();
});

test("more than a transaction may carry goes in several", async () => {
  const source = `return Buffer.from("${"x".repeat(200)}") // ${"y".repeat(28_000)}`;
  const requests = await Promise.all(
    Array.from({ length: 8 }, () =>
      pipeline.accept("function", { params: { source, args: [], returnType: "string" } }),
    ),
  );
  const ended = await Promise.all(requests.map(({ id }) => pipeline.ended(id)));
  expect(ended.every(({ state }) => state === "fulfilled")).toBe(true);
});

describe("faults of the node", () => {
  const faults: readonly [string, FaultRule][] = [
    ["the answer to the transaction gets lost", first(1, SEND, { dropAnswer: true })],
    ["the transaction gets lost", first(1, SEND, { dropAnswer: true, reach: false })],
    ["the connection breaks over it", first(1, SEND, { breakLine: true })],
    ["the transaction arrives twice", first(1, SEND, { callTimes: 2 })],
    ["the answer comes twice", first(1, SEND, { times: 2 })],
    ["the node is overloaded", first(3, SEND, { status: 429 })],
    [
      "the node says that it knows the transaction",
      first(1, SEND, { reach: true, error: { code: -32_000, message: "already known" } }),
    ],
    ["logs can't be read", first(4, "eth_getLogs", { status: 503 })],
    ["receipts can't be read", first(4, "eth_getTransactionReceipt", { status: 503 })],
    ["every answer is slow", () => ({ delayMs: 30 })],
    [
      "heads are not to be had",
      first(5, "eth_getBlockByNumber", { error: { code: -32_000, message: "header not found" } }),
    ],
  ];
  test.each(faults)("each kind ends once, with one request on chain, when %s", async (_, rule) => {
    const before = await countRequests();
    inject(rule);
    const requests = [
      await pipeline.accept("preset"),
      await pipeline.accept("function"),
      await pipeline.accept("random"),
    ];
    for (const { id } of requests) expect((await pipeline.ended(id)).state).toBe("fulfilled");
    const after = await countRequests();
    expect(after).toEqual({
      words: before.words + 2,
      presets: before.presets + 1,
      functions: before.functions + 1,
    });
  });

  test("a node without a word is waited out, and the request says so", async () => {
    const stop = world.node.inject(every(SEND, { status: 503 }));
    const { id } = await pipeline.accept("random");
    const refused = () => world.node.calls.filter(({ method }) => method === SEND).length;
    const before = refused();
    await vi.waitFor(() => expect(refused()).toBeGreaterThan(before + 1));
    expect((await pipeline.book.find(id))!.state).toBe("submitted");
    stop();
    expect((await pipeline.ended(id)).state).toBe("fulfilled");
  });

  test("what is refused for good waits, says why, and goes on when it can", async () => {
    const stop = world.node.inject(
      every(SEND, { error: { code: -32_000, message: "Insufficient funds for gas * price + value" } }),
    );
    const { id } = await pipeline.accept("random");
    await vi.waitFor(async () =>
      expect((await pipeline.book.find(id))!.why).toMatch(/not sent yet: .*insufficient funds/i),
    );
    stop();
    const { state, timeline } = await pipeline.ended(id);
    expect(state).toBe("fulfilled");
    expect(timeline.map((entry) => entry.state)).toEqual(["received", "submitted", "fulfilled"]);
  });

  test("requests for which the account lacks the coin are not sent apart", async () => {
    const stop = world.node.inject(
      every(SEND, { error: { code: -32_000, message: "Insufficient funds for gas * price + value" } }),
    );
    const requests = await Promise.all(Array.from({ length: 16 }, () => pipeline.accept("random")));
    const isWaiting = async (id: string) =>
      /insufficient funds/i.test((await pipeline.book.find(id))!.why ?? "");
    await vi.waitFor(async () =>
      expect(await Promise.all(requests.map(({ id }) => isWaiting(id)))).not.toContain(false),
    );
    const signed = new Set(requests.flatMap(({ progress }) => progress.transactionHashes ?? []));
    stop();
    expect(signed.size).toBeLessThan(requests.length);
    for (const { id } of requests) expect((await pipeline.ended(id)).state).toBe("fulfilled");
  });

  test("a lost connection and lost subscriptions lose no request", async () => {
    const requests = await Promise.all(Array.from({ length: 5 }, () => pipeline.accept("preset")));
    world.node.loseSubscriptions();
    world.node.breakLines();
    for (const { id } of requests) expect((await pipeline.ended(id)).state).toBe("fulfilled");
    world.node.freezeLines();
    const { id } = await pipeline.accept("preset");
    expect((await pipeline.ended(id)).state).toBe("fulfilled");
  });
});

test("a key that somebody else used costs a moment and doubles nothing", async () => {
  const { operator } = await import("../support/stack.ts").then(({ TEST_ROLES }) => TEST_ROLES);
  await pipeline.ended((await pipeline.accept("random")).id);
  const before = await countRequests();
  await world.stack.send(operator, { to: operator.address, data: "0x", gas: 21_000n });
  const { id } = await pipeline.accept("random");
  expect((await pipeline.ended(id)).state).toBe("fulfilled");
  expect((await countRequests()).words - before.words).toBe(1);
});

test("requests mined while their contract has lost its code are sent again, each once", async () => {
  const { client, addresses } = world.stack;
  const before = await countRequests();
  const code = await client.getCode(addresses.presetConsumer);
  await client.request("anvil_setCode", [addresses.presetConsumer, "0x"]);
  const requests = await Promise.all([
    pipeline.accept("preset"),
    pipeline.accept("random"),
    pipeline.accept("function"),
  ]);
  await vi.waitFor(async () =>
    expect((await pipeline.book.find(requests[0].id))!.why).toContain("mined but did nothing"),
  );
  await client.request("anvil_setCode", [addresses.presetConsumer, code]);
  for (const { id } of requests) expect((await pipeline.ended(id)).state).toBe("fulfilled");
  const after = await countRequests();
  expect(after).toEqual({
    words: before.words + 2,
    presets: before.presets + 1,
    functions: before.functions + 1,
  });
});

test("requests whose events a node omits learn them from receipts and from reading the logs again", async () => {
  const other = await world.open({ file: "omitted.db", rereadIntervalMs: 200 });
  // The subscriptions are created first.
  await other.ended((await other.accept("random")).id);
  inject(every("eth_getLogs", { result: () => [] }));
  const before = (await world.events("BatchReported")).length;
  const { id } = await other.accept("preset");
  await vi.waitFor(async () => expect((await world.events("BatchReported")).length).toBe(before + 1));
  await vi.waitFor(() => expect(other.book.get(id)?.progress.acceptedBlock).toBeDefined());
  for (const heal of undo.splice(0)) heal();
  expect(await other.ended(id)).toMatchObject({ state: "fulfilled" });
  expect((await world.events("BatchReported")).length).toBe(before + 1);
  await other.close();
});

test("requests that ended while every receipt of theirs reported a revert are not sent again", async () => {
  const other = await world.open({ file: "reverted.db", fees: { synchronous: false } });
  // The subscriptions are created first.
  await other.ended((await other.accept("random")).id);
  const { presetConsumer } = world.stack.addresses;
  const sent = new Set<string>();
  let isLearning = true;
  const revert = (result: unknown) => {
    const receipt = result as { to: string; transactionHash: string } | null;
    if (receipt === null) return receipt;
    if (isLearning && receipt.to.toLowerCase() === presetConsumer.toLowerCase())
      sent.add(receipt.transactionHash);
    return sent.has(receipt.transactionHash) ? { ...receipt, status: "0x0", logs: [] } : receipt;
  };
  inject(every("eth_getTransactionReceipt", { result: revert }));
  const before = await countRequests();
  const requests = await Promise.all((["random", "function"] as const).map((kind) => other.accept(kind)));
  for (const { id } of requests) expect((await other.ended(id)).state).toBe("fulfilled");
  isLearning = false;
  // A revert counts once three blocks have followed.
  await world.stack.client.request("anvil_mine", ["0x3"]);
  const open = other.store.db.selectFrom("transactions").select("hash").where("state", "=", "signed");
  await vi.waitFor(async () => expect(await open.execute()).toEqual([]));
  expect(sent.size).toBeGreaterThan(0);
  // Whatever was sent again is mined before this one.
  await other.ended((await other.accept("random")).id);
  const after = await countRequests();
  expect([after.words - before.words, after.functions - before.functions]).toEqual([2, 1]);
  await other.close();
});

test("a request whose logs come while the reason of its reported revert is looked for is on chain, and doesn't fail", async () => {
  const other = await world.open({ file: "late-logs.db", rereadIntervalMs: 200 });
  // The subscriptions are created first.
  await other.ended((await other.accept("random")).id);
  world.stopOracle();
  const presetConsumer = world.stack.addresses.presetConsumer.toLowerCase();
  const beTrue = world.node.inject(
    every(SEND, { result: (receipt) => ({ ...(receipt as object), status: "0x0", logs: [] }) }),
  );
  const showLogs = world.node.inject(every("eth_getLogs", { result: () => [] }));
  undo.push(beTrue, showLogs);
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  inject(({ method, params: [call] }) => {
    const { from, to } = (call ?? {}) as { from?: string; to?: string };
    if (method !== "eth_call" || from === undefined || to?.toLowerCase() !== presetConsumer) return undefined;
    asked.resolve();
    return { until: released.promise };
  });
  const request = await other.accept("random");
  await asked.promise;
  expect(request.progress.acceptedBlock).toBeUndefined();
  beTrue();
  showLogs();
  await vi.waitFor(() => expect(request.progress.acceptedBlock).toBeDefined());
  released.resolve();
  // The next one is sent once the first's transaction has been dealt with.
  const next = await other.accept("random");
  await vi.waitFor(() => expect(next.progress.acceptedBlock).toBeDefined());
  world.startOracle();
  expect(await other.ended(request.id)).toMatchObject({ state: "fulfilled", error: null });
  await other.close();
});
