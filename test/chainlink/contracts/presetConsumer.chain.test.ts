import { bytesToHex, encodeFunctionData, hexToBigInt, keccak256, stringToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Receipt } from "../../../src/lib/nodeAnswers.ts";
import { presetConsumerAbi } from "../../../src/chainlink/contracts/abi.ts";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import { pendingRecord, readyRecord } from "../../../src/chainlink/presetBatch.ts";
import { encodeResults } from "../../../src/chainlink/presetReport.ts";
import { decodeRevertReason } from "../../../src/chainlink/revertReason.ts";
import { toHexText } from "../../../src/lib/hex.ts";
import { toWord } from "../../../src/lib/uint256.ts";
import { testAccount } from "../../support/anvil.ts";
import {
  encodeSubmission,
  provisionDapp,
  storeSource,
  submit,
  type TestDapp,
} from "../../support/consumer.ts";
import {
  deliverReports,
  deliverResults,
  deliverWords,
  eventsOf,
  reportOf,
  seedsOf,
} from "../../support/delivery.ts";
import { revertOf } from "../../support/reverts.ts";
import { TEST_ROLES, startTestStack, type TestStack } from "../../support/stack.ts";

const SOURCES = ["return bytesArgs[0]", "return Functions.encodeString(args.join())"] as const;
const STRANGER = testAccount(9);
const ONE = encodeResults([{ ok: true, bytes: Buffer.from(toWord(1n).slice(2), "hex") }]);

let stack: TestStack;
let dapp: TestDapp;
let sourceIds: readonly [number, number];
beforeAll(async () => {
  stack = await startTestStack();
  dapp = await provisionDapp(stack, "dapp");
  sourceIds = [await storeSource(stack, SOURCES[0]), await storeSource(stack, SOURCES[1])];
});
afterAll(() => stack.close());

describe("storeSource", () => {
  test("the source can be read under the id, and its hash is in the event", async () => {
    const source = stringToHex("return 'ünïcode 🎲'");
    const [stored] = eventsOf(await store(source), "SourceStored");
    expect(stored?.sourceHash).toBe(keccak256(source));
    expect(await readSource(stored!.sourceId)).toBe(source);
  });

  test("the same bytes keep their id and are not stored again", async () => {
    const receipt = await store(stringToHex(SOURCES[0]));
    expect(receipt.succeeded).toBe(true);
    expect(receipt.logs).toEqual([]);
    expect(await storeSource(stack, "return 'another'")).toBeGreaterThan(sourceIds[1]);
  });

  test("24,575 bytes are the most", async () => {
    const longest: Hex = `0x${"ab".repeat(24_575)}`;
    const [stored] = eventsOf(await store(longest), "SourceStored");
    expect(await readSource(stored!.sourceId)).toBe(longest);
  });

  test.each([
    ["no bytes", "0x", "BadLength(0, 24575)"],
    ["24,576 bytes", `0x${"ab".repeat(24_576)}`, "BadLength(24576, 24575)"],
  ] as const)("%s", async (_, source, reason) => {
    expect(await revertOf(stack, { ...fromOperator(), data: encodeStore(source) })).toBe(reason);
  });

  test("refuses an id that nobody has", async () => {
    const data = encodeFunctionData({ abi: presetConsumerAbi, functionName: "sourceOf", args: [999] });
    expect(await revertOf(stack, { ...fromOperator(), data })).toBe("UnknownSource(999)");
  });
});

describe("presets", () => {
  test("proof and report come in one transaction, and nothing is left behind", async () => {
    const submitted = await submitOne();
    const [accepted] = eventsOf(submitted, "Accepted");
    const [{ requestId, numWords, callbackGasLimit } = {}] = eventsOf(submitted, "RandomWordsRequested");
    const [requested] = eventsOf(submitted, "BatchRequested");
    expect(accepted).toEqual({ name: "Accepted", index: 0, requestId });
    expect([numWords, callbackGasLimit]).toEqual([1, 100_000]);
    expect(requested!.vrfRequestId).toBe(requestId);
    expect(await readRecord(requestId!)).toBe(pendingRecord(requested!.batch));

    const reports = [await reportOf(stack, submitted)];
    const delivered = await deliverWords(stack, submitted, { reports });
    expect(eventsOf(delivered, "RandomWordsFulfilled")).toMatchObject([{ requestId, success: true }]);
    expect(eventsOf(delivered, "BatchReported")).toEqual([
      { name: "BatchReported", vrfRequestId: requestId, results: toHexText(ONE) },
    ]);
    expect(await readRecord(requestId!)).toBe(toWord(0n));
  });

  test("the report may come after the proof, which alone makes the batch ready", async () => {
    const submitted = await submitOne();
    const [requested] = eventsOf(submitted, "BatchRequested");
    const { vrfRequestId, batch } = requested!;
    const delivered = await deliverWords(stack, submitted);
    expect(delivered.logs.length).toBe(1);
    expect(await readRecord(vrfRequestId)).toBe(readyRecord(batch, seedsOf(submitted).get(vrfRequestId)!));
    const reported = await deliverReports(stack, await reportOf(stack, submitted));
    expect(eventsOf(reported, "BatchReported")).toMatchObject([{ vrfRequestId }]);
    expect(await readRecord(vrfRequestId)).toBe(toWord(0n));
  });

  test.each([1, 31, 32, 64, 255, 24_575])("a batch of %i bytes is in the log", async (size) => {
    const batch: Hex = `0x${"ab".repeat(size)}`;
    const submitted = await submit(stack, { presets: [{ dapp, items: [], batch }] });
    expect(eventsOf(submitted, "BatchRequested")).toMatchObject([{ batch }]);
  });

  test("several batches and dapps go in one transaction, and one report answers all", async () => {
    const other = await provisionDapp(stack, "another dapp");
    const submitted = await submit(stack, {
      presets: [
        { dapp, items: [{ sourceId: sourceIds[0] }] },
        { dapp: other, items: [{ sourceId: sourceIds[1], args: ["x"] }, { sourceId: sourceIds[0] }] },
        { dapp, items: [{ sourceId: sourceIds[0] }] },
      ],
    });
    expect(eventsOf(submitted, "Accepted").map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(eventsOf(submitted, "RandomWordsRequested").map(({ subId }) => subId)).toEqual([
      dapp.vrfSubId,
      other.vrfSubId,
      dapp.vrfSubId,
    ]);
    const reports = [await reportOf(stack, submitted)];
    const reported = eventsOf(await deliverWords(stack, submitted, { reports }), "BatchReported");
    expect(reported.map(({ results }) => results.length / 2 - 1)).toEqual([34, 68, 34]);
  });
});

describe("one bad entry among good ones", () => {
  test("every entry of a submission ends in an event under its index", async () => {
    const good = { dapp, items: [{ sourceId: sourceIds[0] }] };
    const data = bytesToHex(encodeFunctionsRequest({ source: "return 1" }));
    const poor = await provisionDapp(stack, "poor dapp", { functionsJuels: 0n });
    const submitted = await submit(stack, {
      presets: [
        { ...good, batch: "0x" },
        good,
        { ...good, dapp: { vrfSubId: 9_999n, functionsSubId: 1n } },
        { ...good, confirmations: 201 },
        { ...good, keyHash: toWord(7n) },
        good,
      ],
      functions: [
        { functionsSubId: dapp.functionsSubId, data },
        { functionsSubId: poor.functionsSubId, data },
        { functionsSubId: 9_999n, data },
        { functionsSubId: dapp.functionsSubId, data: "0x" },
        { functionsSubId: dapp.functionsSubId, data },
      ],
      randoms: [
        { vrfSubId: dapp.vrfSubId, numWords: 501 },
        { vrfSubId: dapp.vrfSubId, numWords: 500 },
        { vrfSubId: dapp.vrfSubId, numWords: 1, confirmations: 201 },
      ],
    });
    expect(eventsOf(submitted, "Accepted").map(({ index }) => index)).toEqual([1, 4, 5, 6, 10, 12]);
    expect(
      eventsOf(submitted, "Refused").map(({ index, reason }) => [index, decodeRevertReason(reason).text]),
    ).toEqual([
      [0, "BadLength(0, 16777215)"],
      [2, "InvalidSubscription()"],
      [3, "InvalidRequestConfirmations(201, 1, 200)"],
      [7, "InsufficientBalance()"],
      [8, "InvalidSubscription()"],
      [9, "EmptyRequestData()"],
      [11, "NumWordsTooBig(501, 500)"],
      [13, "InvalidRequestConfirmations(201, 1, 200)"],
    ]);
    expect(eventsOf(submitted, "BatchRequested")).toHaveLength(3);
    expect(eventsOf(await deliverResults(stack, submitted), "RequestProcessed").length).toBe(2);
  });

  test("a coordinator that has lost its code accepts nothing, and no id of another request is taken for its answer", async () => {
    const { vrfCoordinator } = stack.addresses;
    const code = await stack.client.getCode(vrfCoordinator);
    await stack.client.request("anvil_setCode", [vrfCoordinator, "0x"]);
    const data = encodeSubmission({ randoms: [{ vrfSubId: dapp.vrfSubId, numWords: 1 }] });
    expect(await revertOf(stack, { ...fromOperator(), data })).toBe("InsufficientGas()");
    await stack.client.request("anvil_setCode", [vrfCoordinator, code]);
  });
});

test("a function's report may cost up to 1.4 times the request's gas price, and fails beyond", async () => {
  const data = bytesToHex(encodeFunctionsRequest({ source: "return 1" }));
  const ask = async () => submit(stack, { functions: [{ functionsSubId: dapp.functionsSubId, data }] });
  const dear = await deliverResults(stack, await ask(), { gasPriceWei: 1_400_000_000n });
  expect(eventsOf(dear, "RequestProcessed").map(({ resultCode }) => resultCode)).toEqual([0]);
  const tooDear = await deliverResults(stack, await ask(), { gasPriceWei: 1_500_000_000n });
  expect(eventsOf(tooDear, "RequestNotProcessed").map(({ resultCode }) => resultCode)).toEqual([3]);
});

test.each([1, 500])("%i random words come without a preset", async (numWords) => {
  const submitted = await submit(stack, { randoms: [{ vrfSubId: dapp.vrfSubId, numWords }] });
  const delivered = await deliverWords(stack, submitted);
  expect(eventsOf(delivered, "RandomWordsFulfilled")).toMatchObject([{ success: true }]);
  expect(delivered.logs.length).toBe(1);
});

test("a router that has lost its code undoes the submission", async () => {
  const { functionsRouter } = stack.addresses;
  const code = await stack.client.getCode(functionsRouter);
  await stack.client.request("anvil_setCode", [functionsRouter, "0x"]);
  const data = bytesToHex(encodeFunctionsRequest({ source: "return 1" }));
  const submitted = await submit(stack, { functions: [{ functionsSubId: dapp.functionsSubId, data }] });
  expect([submitted.succeeded, submitted.logs]).toEqual([false, []]);
  await stack.client.request("anvil_setCode", [functionsRouter, code]);
});

describe("access", () => {
  test.each([
    ["submit", encodeSubmission({})],
    ["storeSource", encodeStore("0x01")],
  ] as const)("only the operator calls %s", async (_, data) => {
    expect(await revertOf(stack, { ...fromOperator(), from: STRANGER.address, data })).toBe(
      `OnlyOperator(${STRANGER.address}, ${TEST_ROLES.operator.address})`,
    );
    expect(await revertOf(stack, { ...fromOperator(), data })).toBeUndefined();
  });

  test("only the coordinator delivers words, not even the operator", async () => {
    const submitted = await submitOne();
    const data = encodeFunctionData({
      abi: presetConsumerAbi,
      functionName: "rawFulfillRandomWords",
      args: [hexToBigInt(eventsOf(submitted, "Accepted")[0]!.requestId), [7n]],
    });
    expect(await revertOf(stack, { ...fromOperator(), data })).toBe(
      `OnlyCoordinatorCanFulfill(${TEST_ROLES.operator.address}, ${stack.addresses.vrfCoordinator})`,
    );
  });

  test("words are delivered once", async () => {
    const submitted = await submitOne();
    expect((await deliverWords(stack, submitted)).succeeded).toBe(true);
    expect((await deliverWords(stack, submitted)).succeeded).toBe(false);
  });

  test("only the router calls back", async () => {
    const data = encodeFunctionData({
      abi: presetConsumerAbi,
      functionName: "handleOracleFulfillment",
      args: [`0x${"00".repeat(32)}`, "0x", "0x"],
    });
    expect(await revertOf(stack, { ...fromOperator(), data })).toBe(
      `OnlyRouterCanFulfill(${TEST_ROLES.operator.address}, ${stack.addresses.functionsRouter})`,
    );
  });
});

/** Submits one preset. */
async function submitOne(): Promise<Receipt> {
  return await submit(stack, { presets: [{ dapp, items: [{ sourceId: sourceIds[0] }] }] });
}

function fromOperator(): { readonly from: Hex; readonly to: Hex } {
  return { from: TEST_ROLES.operator.address, to: stack.addresses.presetConsumer };
}

function encodeStore(source: Hex): Hex {
  return encodeFunctionData({ abi: presetConsumerAbi, functionName: "storeSource", args: [source] });
}

async function store(source: Hex): Promise<Receipt> {
  return stack.send(TEST_ROLES.operator, { to: stack.addresses.presetConsumer, data: encodeStore(source) });
}

async function readSource(sourceId: number): Promise<Hex> {
  return stack.viem.readContract({
    address: stack.addresses.presetConsumer,
    abi: presetConsumerAbi,
    functionName: "sourceOf",
    args: [sourceId],
  });
}

async function readRecord(vrfRequestId: Hex): Promise<Hex> {
  const record = await stack.viem.readContract({
    address: stack.addresses.presetConsumer,
    abi: presetConsumerAbi,
    functionName: "recordOf",
    args: [BigInt(vrfRequestId)],
  });
  return toWord(record);
}
