import { bytesToHex, encodeFunctionData, hexToBigInt, hexToBytes, numberToBytes, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Receipt } from "../../../src/evm/client.ts";
import {
  encodeArgs,
  encodeFunctionsRequest,
  encodePresetRequest,
  encodeSourcePrefix,
} from "../../../src/chainlink/functionsRequest.ts";
import { decodeRevertReason } from "../../../src/chainlink/revertReason.ts";
import { presetConsumerAbi } from "../../../src/chainlink/contracts/abi.ts";
import { randomWords } from "../../../src/vrf/randomWords.ts";
import { testAccount } from "../../support/anvil.ts";
import {
  encodeSubmission,
  provisionDapp,
  storeSource,
  submit,
  type TestDapp,
} from "../../support/consumer.ts";
import { deliverResults, deliverWords, eventsOf } from "../../support/delivery.ts";
import { revertOf } from "../../support/reverts.ts";
import { TEST_ROLES, startTestStack, type TestStack } from "../../support/stack.ts";

const SOURCES = ["return bytesArgs[0]", "return Functions.encodeString(args.join())"] as const;
const STRANGER = testAccount(9);

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
  test("default: the bytes can be read under the id", async () => {
    expect(await readSource(sourceIds[1])).toBe(bytesToHex(encodeSourcePrefix(SOURCES[1])));
  });

  test("behaviour: the same bytes keep their id and are not stored again", async () => {
    const receipt = await store(bytesToHex(encodeSourcePrefix(SOURCES[0])));
    expect(receipt.succeeded).toBe(true);
    expect(receipt.logs).toEqual([]);
    expect(await storeSource(stack, "return 'a third'")).toBe(sourceIds[1] + 1);
  });

  test("behaviour: 24,575 bytes are the most", async () => {
    const longest: Hex = `0x${"ab".repeat(24_575)}`;
    const [stored] = eventsOf(await store(longest), "SourceStored");
    expect(await readSource(stored!.sourceId)).toBe(longest);
  });

  test.each([
    ["no bytes", "0x", "BadLength(0, 24575)"],
    ["24,576 bytes", `0x${"ab".repeat(24_576)}`, "BadLength(24576, 24575)"],
  ] as const)("error: %s", async (_, prefix, reason) => {
    expect(await revertOf(stack, { ...fromOperator(), data: encodeStore(prefix) })).toBe(reason);
  });

  test("error: an id that nobody has", async () => {
    const data = encodeFunctionData({ abi: presetConsumerAbi, functionName: "sourceOf", args: [999] });
    expect(await revertOf(stack, { ...fromOperator(), data })).toBe("UnknownSource(999)");
  });
});

describe("presets", () => {
  test("default: source, arguments and the word itself reach the oracle network, and a result comes", async () => {
    const args = ["1", "10"];
    const submitted = await submit(stack, {
      presets: [{ dapp, items: [{ sourceId: sourceIds[1], args }] }],
    });
    const [accepted] = eventsOf(submitted, "Accepted");
    const [requested] = eventsOf(submitted, "RandomWordsRequested");
    expect(accepted).toEqual({ name: "Accepted", index: 0, requestId: requested!.requestId });

    const delivered = await deliverWords(stack, submitted);
    const [oracleRequest] = eventsOf(delivered, "OracleRequest");
    expect(oracleRequest).toMatchObject({
      requestingContract: stack.addresses.presetConsumer.toLowerCase(),
      subscriptionId: dapp.functionsSubId,
      dataVersion: 1,
      data: expectedRequest(1, args, wordsOf(delivered, 1)[0]!),
    });
    expect(eventsOf(delivered, "PresetSent")).toEqual([
      {
        name: "PresetSent",
        vrfRequestId: requested!.requestId,
        requestId: oracleRequest!.requestId,
        item: 0,
      },
    ]);

    const reported = await deliverResults(stack, delivered, { response: "0x2a" });
    expect(eventsOf(reported, "RequestProcessed")).toMatchObject([
      { requestId: oracleRequest!.requestId, resultCode: 0, response: "0x2a", err: "0x" },
    ]);
  });

  test("behaviour: presets that share a proof have a word each", async () => {
    const items = [0, 1, 1, 0, 1].map((source, i) => ({
      sourceId: sourceIds[source]!,
      args: source === 0 ? [] : [`item ${i}`],
    }));
    const delivered = await deliverWords(stack, await submit(stack, { presets: [{ dapp, items }] }));
    const words = wordsOf(delivered, 5);
    expect(new Set(words).size).toBe(5);
    expect(eventsOf(delivered, "RequestStart").map(({ data }) => data)).toEqual(
      items.map(({ sourceId, args }, i) =>
        expectedRequest(sourceId === sourceIds[0] ? 0 : 1, args, words[i]!),
      ),
    );
  });

  // 31, 63 and 95 bytes fill 1, 2 and 3 words of storage; 96 and more are stored as code; args of 255 bytes and more have a longer header.
  test.each([9, 30, 31, 32, 33, 63, 64, 94, 95, 96, 97, 128, 262, 265, 266, 5_000])(
    "behaviour: a batch of %i bytes arrives whole and leaves nothing behind",
    async (size) => {
      const argsLength = size <= 262 ? size - 8 : size - 10;
      const args = Uint8Array.from({ length: argsLength }, (_, i) => 1 + (i % 251));
      const head =
        argsLength < 255
          ? numberToBytes(argsLength)
          : Uint8Array.of(255, ...numberToBytes(argsLength, { size: 2 }));
      const batch = bytesToHex(
        Buffer.concat([
          numberToBytes(dapp.functionsSubId, { size: 5 }),
          numberToBytes(sourceIds[0], { size: 2 }),
          head,
          args,
        ]),
      );
      expect(batch.length).toBe(2 + 2 * size);
      const submitted = await submit(stack, { presets: [{ dapp, items: [], batch }] });
      const delivered = await deliverWords(stack, submitted);
      expect(eventsOf(delivered, "RequestStart").map(({ data }) => data)).toEqual([
        bytesToHex(
          encodePresetRequest(encodeSourcePrefix(SOURCES[0]), args, hexToBytes(wordsOf(delivered, 1)[0]!)),
        ),
      ]);
      const slot = hexToBigInt(eventsOf(submitted, "Accepted")[0]!.requestId);
      for (let i = 0n; i < 4n; i++) expect(await readSlot(slot + i)).toBe(0n);
    },
  );

  test("behaviour: several batches and dapps go in one transaction", async () => {
    const other = await provisionDapp(stack, "another dapp");
    const submitted = await submit(stack, {
      presets: [
        { dapp, items: [{ sourceId: sourceIds[0] }] },
        { dapp: other, items: [{ sourceId: sourceIds[1], args: ["x"] }, { sourceId: sourceIds[0] }] },
        { dapp, items: [{ sourceId: sourceIds[0] }] },
      ],
    });
    expect(eventsOf(submitted, "Accepted").map(({ index }) => index)).toEqual([0, 1, 2]);
    const delivered = await deliverWords(stack, submitted);
    expect(eventsOf(delivered, "RequestStart").map(({ subscriptionId }) => subscriptionId)).toEqual([
      dapp.functionsSubId,
      other.functionsSubId,
      other.functionsSubId,
      dapp.functionsSubId,
    ]);
    expect(eventsOf(await deliverResults(stack, delivered), "RequestProcessed").length).toBe(4);
  });

  test("behaviour: a report may cost up to 1.4 times the request's gas price, and fails beyond", async () => {
    const deliver = async () =>
      deliverWords(stack, await submit(stack, { presets: [{ dapp, items: [{ sourceId: sourceIds[0] }] }] }));
    const dear = await deliverResults(stack, await deliver(), { gasPriceWei: 1_400_000_000n });
    expect(eventsOf(dear, "RequestProcessed").map(({ resultCode }) => resultCode)).toEqual([0]);
    const tooDear = await deliverResults(stack, await deliver(), { gasPriceWei: 1_500_000_000n });
    expect(eventsOf(tooDear, "RequestNotProcessed").map(({ resultCode }) => resultCode)).toEqual([3]);
  });
});

describe("one bad item among good ones", () => {
  test("behaviour: every entry of a submission ends in an event under its index", async () => {
    const good = { dapp, items: [{ sourceId: sourceIds[0] }] };
    const data = bytesToHex(encodeFunctionsRequest({ source: "return 1" }));
    const poor = await provisionDapp(stack, "poor dapp", { functionsJuels: 0n });
    const submitted = await submit(stack, {
      presets: [
        { ...good, batch: "0x" },
        good,
        { ...good, batch: "0x00000000010001ff" },
        { ...good, callbackGasLimit: 2_500_001 },
        { ...good, dapp: { vrfSubId: 9_999n, functionsSubId: 1n } },
        { ...good, batch: `0x0000000001${"0001ff2710".concat("aa".repeat(10_000)).repeat(3)}` },
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
    expect(eventsOf(submitted, "Accepted").map(({ index }) => index)).toEqual([1, 6, 7, 11, 13]);
    expect(
      eventsOf(submitted, "Refused").map(({ index, reason }) => [index, decodeRevertReason(reason).text]),
    ).toEqual([
      [0, "MalformedBatch()"],
      [2, "MalformedBatch()"],
      [3, "GasLimitTooBig(2500001, 2500000)"],
      [4, "InvalidSubscription()"],
      [5, "BadLength(30020, 24575)"],
      [8, "InsufficientBalance()"],
      [9, "InvalidSubscription()"],
      [10, "EmptyRequestData()"],
      [12, "NumWordsTooBig(501, 500)"],
      [14, "InvalidRequestConfirmations(201, 1, 200)"],
    ]);
    const delivered = await deliverWords(stack, submitted);
    expect(eventsOf(delivered, "RandomWordsFulfilled").map(({ success }) => success)).toEqual([
      true,
      true,
      true,
    ]);
    expect(eventsOf(delivered, "PresetSent").length).toBe(2);
    expect(eventsOf(await deliverResults(stack, submitted), "RequestProcessed").length).toBe(2);
  });

  test("behaviour: unknown sources are refused in the callback, the rest gets its own words", async () => {
    const ids = [sourceIds[0], 999, 0, sourceIds[0], 0, sourceIds[1], sourceIds[1], 998];
    const batch: Hex = `0x${[dapp.functionsSubId.toString(16).padStart(10, "0"), ...ids.map((id) => `${id.toString(16).padStart(4, "0")}00`)].join("")}`;
    const submitted = await submit(stack, { presets: [{ dapp, items: [], batch }] });
    const delivered = await deliverWords(stack, submitted);
    const words = wordsOf(delivered, ids.length);
    expect(
      eventsOf(delivered, "PresetRefused").map(({ item, reason }) => [item, decodeRevertReason(reason).text]),
    ).toEqual([
      [1, "UnknownSource(999)"],
      [2, "UnknownSource(0)"],
      [4, "UnknownSource(0)"],
      [7, "UnknownSource(998)"],
    ]);
    expect(eventsOf(delivered, "PresetSent").map(({ item }) => item)).toEqual([0, 3, 5, 6]);
    expect(eventsOf(delivered, "RequestStart").map(({ data }) => data)).toEqual(
      [0, 3, 5, 6].map((item) => expectedRequest(ids[item] === sourceIds[0] ? 0 : 1, [], words[item]!)),
    );
  });

  test("behaviour: a subscription that runs dry refuses the later items with its reason", async () => {
    const poor = await provisionDapp(stack, "dapp for two", { functionsJuels: 10n ** 17n });
    const items = Array.from({ length: 6 }, () => ({ sourceId: sourceIds[0] }));
    const delivered = await deliverWords(stack, await submit(stack, { presets: [{ dapp: poor, items }] }));
    expect(eventsOf(delivered, "RandomWordsFulfilled").map(({ success }) => success)).toEqual([true]);
    expect(eventsOf(delivered, "PresetSent").map(({ item }) => item)).toEqual([0, 1]);
    expect(
      eventsOf(delivered, "PresetRefused").map(({ item, reason }) => [item, decodeRevertReason(reason).text]),
    ).toEqual([2, 3, 4, 5].map((item) => [item, "InsufficientBalance()"]));
  });
});

test("error: a coordinator that has lost its code accepts nothing, and no id of another request is taken for its answer", async () => {
  const { vrfCoordinator } = stack.addresses;
  const code = await stack.client.getCode(vrfCoordinator);
  await stack.client.request("anvil_setCode", [vrfCoordinator, "0x"]);
  const data = encodeSubmission({ randoms: [{ vrfSubId: dapp.vrfSubId, numWords: 1 }] });
  expect(await revertOf(stack, { ...fromOperator(), data })).toBe("InsufficientGas()");
  await stack.client.request("anvil_setCode", [vrfCoordinator, code]);
});

describe("random words alone", () => {
  test.each([1, 500])("default: %i words come without a preset", async (numWords) => {
    const submitted = await submit(stack, { randoms: [{ vrfSubId: dapp.vrfSubId, numWords }] });
    const delivered = await deliverWords(stack, submitted);
    expect(eventsOf(delivered, "RandomWordsFulfilled")).toMatchObject([{ success: true }]);
    expect(delivered.logs.length).toBe(1);
  });
});

describe("access", () => {
  test.each([
    ["submit", encodeSubmission({})],
    ["storeSource", encodeStore("0x01")],
  ] as const)("error: only the operator calls %s", async (_, data) => {
    expect(await revertOf(stack, { ...fromOperator(), from: STRANGER.address, data })).toBe(
      `OnlyOperator(${STRANGER.address}, ${TEST_ROLES.operator.address})`,
    );
    expect(await revertOf(stack, { ...fromOperator(), data })).toBeUndefined();
  });

  test("error: only the coordinator delivers words, not even the operator", async () => {
    const submitted = await submit(stack, { presets: [{ dapp, items: [{ sourceId: sourceIds[0] }] }] });
    const data = encodeFunctionData({
      abi: presetConsumerAbi,
      functionName: "rawFulfillRandomWords",
      args: [hexToBigInt(eventsOf(submitted, "Accepted")[0]!.requestId), [7n]],
    });
    expect(await revertOf(stack, { ...fromOperator(), data })).toBe(
      `OnlyCoordinatorCanFulfill(${TEST_ROLES.operator.address}, ${stack.addresses.vrfCoordinator})`,
    );
    expect(eventsOf(await deliverWords(stack, submitted), "PresetSent").length).toBe(1);
  });

  test("error: words are delivered once", async () => {
    const submitted = await submit(stack, { presets: [{ dapp, items: [{ sourceId: sourceIds[0] }] }] });
    expect((await deliverWords(stack, submitted)).succeeded).toBe(true);
    expect((await deliverWords(stack, submitted)).succeeded).toBe(false);
  });

  test("error: only the router calls back", async () => {
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

function fromOperator(): { readonly from: Hex; readonly to: Hex } {
  return { from: TEST_ROLES.operator.address, to: stack.addresses.presetConsumer };
}

function encodeStore(prefix: Hex): Hex {
  return encodeFunctionData({ abi: presetConsumerAbi, functionName: "storeSource", args: [prefix] });
}

async function store(prefix: Hex): Promise<Receipt> {
  return stack.send(TEST_ROLES.operator, { to: stack.addresses.presetConsumer, data: encodeStore(prefix) });
}

async function readSource(sourceId: number): Promise<Hex> {
  return stack.viem.readContract({
    address: stack.addresses.presetConsumer,
    abi: presetConsumerAbi,
    functionName: "sourceOf",
    args: [sourceId],
  });
}

async function readSlot(slot: bigint): Promise<bigint> {
  const value = await stack.viem.getStorageAt({
    address: stack.addresses.presetConsumer,
    slot: `0x${slot.toString(16)}`,
  });
  return hexToBigInt(value!);
}

/** Returns the words of the first fulfillment, 32 bytes each. */
function wordsOf(delivered: Receipt, count: number): readonly Hex[] {
  const [fulfilled] = eventsOf(delivered, "RandomWordsFulfilled");
  return randomWords(fulfilled!.outputSeed, count).map(
    (word) => `0x${word.toString(16).padStart(64, "0")}` as const,
  );
}

function expectedRequest(source: 0 | 1, args: readonly string[], word: Hex): Hex {
  return bytesToHex(
    encodePresetRequest(encodeSourcePrefix(SOURCES[source]), encodeArgs(args), hexToBytes(word)),
  );
}
