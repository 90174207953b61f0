import { getAddress } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { encodeFunctionsRequest } from "../../src/chainlink/functionsRequest.ts";
import { presetRequestId, wordsOfBatch } from "../../src/chainlink/presetBatch.ts";
import { createNodeArchive } from "../../src/explorer/chainArchive.ts";
import type { ExploredChain } from "../../src/explorer/exploredChain.ts";
import { createChainExplorer, type Explorer } from "../../src/explorer/explorer.ts";
import { readStoredSource } from "../../src/explorer/readStoredSource.ts";
import { readChainResult } from "../../src/presets/readResult.ts";
import type { DrandRound } from "../../src/beacon/drand.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { toWord } from "../../src/lib/uint256.ts";
import {
  provisionDapp,
  storeSource,
  submit,
  submitJoined,
  type TestDapp,
  type TestLabel,
} from "../support/consumer.ts";
import {
  deliverReports,
  deliverResults,
  deliverWords,
  eventsOf,
  reportOf,
  seedsOf,
} from "../support/delivery.ts";
import { QUICKNET_HASH } from "../support/drandRelay.ts";
import { startTestStack, TEST_ROLES, type TestStack } from "../support/stack.ts";

const SOURCE = "return Functions.encodeUint256(1n)";

let stack: TestStack;
let chain: ExploredChain;
let explorer: Explorer;
let dapp: TestDapp;
let sourceId: number;
beforeAll(async () => {
  stack = await startTestStack({ vrfKeys: 2 });
  const { client, addresses: contracts, chainId } = stack;
  const archive = createNodeArchive(client, { isEmbedded: true });
  const named = { network: "test", title: "Test", chainId, coin: "ETH", isEmbedded: true };
  chain = { ...named, archive, client, contracts, accounts: {} };
  const show = { as: "coin", sides: ["Tails", "Heads"] } as const;
  const definition = { args: [], parameters: { type: "object", properties: {} }, show } as const;
  const written = { name: "one", title: "One", source: SOURCE, written: { source: "as written" } };
  const parameters = { properties: { first: { title: "First" } } };
  const titled = { parameters, parameterOrder: ["first", "second"] };
  const preset = { ...written, ...titled, returnType: "uint256", definition } as const;
  explorer = createChainExplorer(new Map([["test", () => chain]]), () => [preset], readChainResult);
  dapp = await provisionDapp(stack, "explored");
  sourceId = await storeSource(stack, SOURCE);
});
afterAll(() => stack.close());

/** Reads a transaction once Anvil has stored the logs of all blocks: while it stores the newest one, ranges up to there lack some or all. */
const view = async (hash: `0x${string}`) => {
  await vi.waitFor(async () => {
    const { number } = (await stack.client.getHead("latest"))!;
    const logs = await stack.client.getLogs({ addresses: [], fromBlock: 0n, toBlock: number });
    expect(logs.some(({ blockNumber }) => blockNumber === number)).toBe(true);
    expect(logs.some(({ transactionHash }) => transactionHash === hash)).toBe(true);
  });
  return (await explorer.findTransaction("test", hash))!;
};
const inList = async ({ transactionHash }: { readonly transactionHash: `0x${string}` }) =>
  (await explorer.findTransactions("test"))!.transactions.find(({ hash }) => hash === transactionHash);
const request = (labels: readonly TestLabel[] = []) =>
  submit(stack, {
    presets: [{ dapp, items: [{ sourceId, args: ["a", "b"] }, { sourceId }] }],
    labels,
  });

test("presets show from their request and from their delivery, with program, word, result and links", async () => {
  const requested = await request();
  const { vrfRequestId } = eventsOf(requested, "BatchRequested")[0]!;
  const [first, second] = [0, 1].map((item) => presetRequestId(vrfRequestId, item));
  expect((await view(requested.transactionHash)).presets).toMatchObject([
    {
      requestId: first,
      vrfRequestId,
      item: 0,
      word: null,
      program: {
        source: SOURCE,
        args: ["a", "b"],
        bytesArgs: [],
        preset: { name: "one", argumentTitles: ["First", "second"] },
      },
      requestedBy: requested.transactionHash,
      answer: null,
      answeredBy: null,
      waitsFor: "its random words are not on chain yet",
    },
    { requestId: second, item: 1, program: { args: [] } },
  ]);
  expect(await explorer.searchRequest("test", second!)).toEqual([
    {
      network: "test",
      kind: "preset",
      requestId: second,
      isAnswered: false,
      transactionHash: requested.transactionHash,
    },
  ]);

  const reports = [await reportOf(stack, requested)];
  const delivered = await deliverWords(stack, requested, { reports });
  const words = wordsOfBatch(seedsOf(requested).get(vrfRequestId)!, 2).map(toWord);
  // Right after a block Anvil finds no logs of earlier ones, once in some thousand times.
  await expect.poll(async () => (await view(delivered.transactionHash)).presets).toHaveLength(2);
  const { presets, ...there } = await view(delivered.transactionHash);
  expect(presets).toMatchObject([
    {
      requestId: first,
      word: words[0],
      program: { bytesArgs: [words[0]] },
      answer: {
        response: toWord(1n),
        readings: { uint256: "1" },
        result: "Heads",
        shown: { as: "coin", side: "Heads", index: 1 },
        err: "",
      },
      requestedBy: requested.transactionHash,
      answeredBy: delivered.transactionHash,
    },
    { requestId: second, word: words[1] },
  ]);
  expect((await view(requested.transactionHash)).presets).toEqual(presets);
  expect(there.randomness).toMatchObject([{ requestId: vrfRequestId, outcome: "fulfilled" }]);
  const fieldsOf = (name: string) => there.events.find(({ event }) => event === name)?.fields;
  const held = (id: string) => ({ value: [{ value: id }, { name: "result", value: "1" }] });
  expect(fieldsOf("BatchReported")).toMatchObject([{}, { holds: [held(first!), held(second!)] }]);
  const values = there.randomness[0]!.words.map((value) => ({ name: "", type: "uint256", value }));
  expect(fieldsOf("RandomWordsFulfilled")![1]).toMatchObject({ name: "outputSeed", holds: values });
  expect(there.reports).toMatchObject([{ requestIds: [vrfRequestId] }]);
  expect(there.reports[0]!.signatures.map(({ signer }) => signer?.address)).toEqual(
    TEST_ROLES.signers.slice(0, 3).map(({ address }) => address),
  );
  expect(await explorer.searchRequest("test", second!)).toMatchObject([
    { isAnswered: true, transactionHash: delivered.transactionHash },
  ]);
});

test("a preset with its word waits for its result, which comes in a transaction of its own", async () => {
  const requested = await request();
  const words = await deliverWords(stack, requested);
  const { presets } = await view(requested.transactionHash);
  const [waiting] = presets;
  expect((await view(words.transactionHash)).presets).toMatchObject([waiting, { answer: null }]);
  expect(waiting).toMatchObject({ word: expect.stringMatching(/^0x/), answer: null, answeredBy: null });
  const requestIds = expect.arrayContaining(presets.map(({ requestId }) => requestId));
  await expect.poll(() => inList(words)).toMatchObject({ requestIds, isAnswer: false });
  const reported = await deliverReports(stack, await reportOf(stack, requested));
  await expect.poll(() => inList(reported)).toMatchObject({ requestIds, isAnswer: true });
  // Right after a block Anvil finds no logs of earlier ones, once in some thousand times.
  await expect
    .poll(() => view(reported.transactionHash))
    .toMatchObject({
      presets: [{ word: waiting!.word, answeredBy: reported.transactionHash }, { item: 1 }],
      randomness: [],
      reports: [{}],
    });
});

test("a contract has what it created, the newest first", async () => {
  const { presetConsumer } = stack.addresses;
  const before = (await explorer.findAddress("test", presetConsumer))!;
  await storeSource(stack, "return Functions.encodeUint256(2n)");
  const { contractsCreated } = (await explorer.findAddress("test", presetConsumer))!;
  expect(contractsCreated.slice(1)).toEqual(before.contractsCreated.slice(0, 24));
  expect(contractsCreated[0]!.codeBytes).toBeGreaterThan(30);
  const { address } = contractsCreated[0]!;
  expect((await explorer.findAddress("test", address))!.contractsCreated).toEqual([]);
});

test("a contract that holds a preset's source says which, and has the transaction that stored it", async () => {
  const { presetConsumer } = stack.addresses;
  const other = await storeSource(stack, "return Functions.encodeUint256(3n)");
  const { contractsCreated } = (await explorer.findAddress("test", presetConsumer))!;
  const readAll = () =>
    Promise.all(contractsCreated.map(async ({ address }) => (await explorer.findAddress("test", address))!));
  const find = async (id: number) => (await readAll()).find((one) => one.storedSource?.sourceId === id);
  await expect
    .poll(() => find(sourceId))
    .toMatchObject({
      createdBy: { address: getAddress(presetConsumer) },
      createdIn: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      storedSource: { sourceId, preset: { name: "one", title: "One" } },
    });
  expect((await find(other))!.storedSource).toEqual({ sourceId: other });
  const { address } = (await find(sourceId))!;
  const code = await stack.client.getCode(address);
  const unread = { ...chain.archive, findLogs: () => Promise.reject(new Error("no logs")) };
  expect(await readStoredSource(address, code, { ...chain, archive: unread })).toEqual({
    sourceId,
    source: SOURCE,
  });
  // Anybody may create a contract with the same code.
  const copy = `0x${"c0".repeat(20)}` as const;
  await stack.client.request("anvil_setCode", [copy, code]);
  const found = (await explorer.findAddress("test", copy))!;
  expect([found.storedSource, found.createdBy]).toEqual([undefined, undefined]);
});

test("presets with joined words have none until the last part has come", async () => {
  const requested = await submitJoined(stack, [{ dapp, items: [{ sourceId }] }]);
  const { parts } = eventsOf(requested, "Joining")[0]!;
  const wordIn = async () => (await view(requested.transactionHash)).presets[0]!.word;
  const first = await deliverWords(stack, requested, { of: ({ requestId }) => requestId === parts[0] });
  expect(await wordIn()).toBeNull();
  const last = await deliverWords(stack, requested, { of: ({ requestId }) => requestId === parts[1] });
  const { seed } = eventsOf(last, "WordsJoined")[0]!;
  expect(await wordIn()).toBe(toWord(wordsOfBatch(seed, 1)[0]!));
  const requestIds = expect.arrayContaining([presetRequestId(parts[0]!, 0)]);
  for (const delivery of [first, last])
    await expect.poll(() => inList(delivery)).toMatchObject({ requestIds });
});

test("requests are found by their label, of whatever dapp, newest first", async () => {
  const label = (item: bigint, of: string, text: string) => ({ index: 0n, item, dapp: of, text });
  const first = await request([label(0n, "dapp_a", "raffle 7"), label(1n, "dapp_a", "raffle 8")]);
  const second = await request([label(0n, "dapp_b", "raffle 7"), label(1n, "dapp_b", "raffle 7")]);
  const hitOf = async (of: string, { transactionHash }: typeof first, index: number, text = "raffle 7") => ({
    network: "test",
    kind: "label",
    label: text,
    dapp: of,
    transactionHash,
    requestId: (await view(transactionHash)).presets[index]!.requestId,
  });
  const both = [await hitOf("dapp_b", second, 1), await hitOf("dapp_b", second, 0)];
  const hits = [...both, await hitOf("dapp_a", first, 0)];
  await expect.poll(() => explorer.searchLabel("test", { label: "raffle 7" })).toEqual({ hits, older: null });
  expect(await explorer.searchLabel("test", { label: "raffle" })).toEqual({
    hits: [...both, await hitOf("dapp_a", first, 1, "raffle 8"), hits[2]],
    older: null,
  });
  expect(
    await explorer.searchLabel("test", { label: "raffle 7" }, { block: second.blockNumber }),
  ).toMatchObject({
    hits: [{ dapp: "dapp_a" }],
  });
});

test("the round that a function waits for shows from its request and from its answer", async () => {
  const { functionsSubId } = dapp;
  const data = (beacon?: DrandRound) => toHexText(encodeFunctionsRequest({ source: SOURCE, beacon }));
  const round = { round: 1000n, chainHash: QUICKNET_HASH };
  const functions = [round, undefined].map((beacon) => ({ functionsSubId, data: data(beacon) }));
  const requested = await submit(stack, { functions });
  const beacons = [{ round: "1000", time: "2023-08-23T15:59:24.000Z", chainHash: QUICKNET_HASH }, null];
  const { functionRequests } = await view(requested.transactionHash);
  expect(functionRequests.map(({ beacon }) => beacon)).toEqual(beacons);
  const answered = await deliverResults(stack, requested);
  // Right after a block Anvil finds no logs of earlier ones, once in some thousand times.
  await expect
    .poll(async () => (await view(answered.transactionHash)).functionResults.map(({ beacon }) => beacon))
    .toEqual(beacons);
});
