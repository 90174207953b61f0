import { encodeFunctionData, getContractAddress, hexToBigInt, numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Receipt } from "../../../src/evm/client.ts";
import type { ChainEventOf } from "../../../src/chainlink/events.ts";
import { joinWords } from "../../../src/chainlink/joinedWords.ts";
import { joinedPresetsAbi, presetConsumerAbi } from "../../../src/chainlink/contracts/abi.ts";
import { VRF_VERSIONS, type VrfVersion } from "../../../src/chainlink/vrfVersion.ts";
import { decodeRevertReason } from "../../../src/chainlink/revertReason.ts";
import { randomWords } from "../../../src/vrf/randomWords.ts";
import { testAccount } from "../../support/anvil.ts";
import {
  encodeJoinedSubmission,
  provisionDapp,
  storeSource,
  submit,
  submitJoined,
  type TestDapp,
} from "../../support/consumer.ts";
import { deliverResults, deliverWords, eventsOf } from "../../support/delivery.ts";
import { revertOf } from "../../support/reverts.ts";
import {
  FURTHER_PROVING_KEYS,
  TEST_PROVING_KEY,
  TEST_ROLES,
  startTestStack,
  type TestStack,
} from "../../support/stack.ts";

const STRANGER = testAccount(9);

describe.each(VRF_VERSIONS)("%s", (vrfVersion: VrfVersion) => {
  let stack: TestStack;
  let dapp: TestDapp;
  let sourceId: number;
  beforeAll(async () => {
    stack = await startTestStack({ vrfVersion, vrfKeys: 4 });
    dapp = await provisionDapp(stack, "dapp");
    sourceId = await storeSource(stack, "return bytesArgs[0]");
  });
  afterAll(() => stack.close());

  /** Answers the parts one by one, in the given order of their indices. */
  const deliverParts = async (submitted: Receipt, order: readonly number[]): Promise<Receipt[]> => {
    const [joining] = eventsOf(submitted, "Joining");
    const receipts: Receipt[] = [];
    for (const part of order)
      receipts.push(
        await deliverWords(stack, submitted, {
          of: ({ requestId }) => requestId === joining!.parts[part],
        }),
      );
    return receipts;
  };

  test.each([
    [2, [0, 1]],
    [2, [1, 0]],
    [3, [2, 0, 1]],
    [4, [3, 1, 0, 2]],
  ])("default: %i keys, words that come in the order %j", async (keys, order) => {
    const submitted = await submitJoined(stack, [{ dapp, keys, items: [{ sourceId }, { sourceId }] }]);
    const [joining] = eventsOf(submitted, "Joining");
    const requested = eventsOf(submitted, "RandomWordsRequested");
    expect(joining).toMatchObject({
      requestId: joining!.parts[0],
      keyHashes: [TEST_PROVING_KEY, ...FURTHER_PROVING_KEYS].slice(0, keys).map(({ keyHash }) => keyHash),
      parts: requested.map(({ requestId }) => requestId),
    });
    expect(requested.map(({ numWords }) => numWords)).toEqual(Array.from({ length: keys }, () => 1));
    expect(eventsOf(submitted, "Accepted")).toEqual([
      { name: "Accepted", index: 0, requestId: joining!.requestId },
    ]);

    const delivered = await deliverParts(submitted, order);
    const last = delivered.pop()!;
    for (const receipt of delivered) {
      expect(eventsOf(receipt, "RandomWordsFulfilled")).toMatchObject([{ success: true }]);
      expect(eventsOf(receipt, "WordsJoined")).toEqual([]);
      expect(eventsOf(receipt, "OracleRequest")).toEqual([]);
    }
    const outputs = new Map(
      [...delivered, last]
        .flatMap((receipt) => eventsOf(receipt, "RandomWordsFulfilled"))
        .map(({ requestId, outputSeed }) => [requestId, outputSeed]),
    );
    const words = joining!.parts.map((part) => randomWords(outputs.get(part)!, 1)[0]!);
    const seed = joinWords(joining!.requestId, words);
    expect(eventsOf(last, "WordsJoined")).toEqual([
      { name: "WordsJoined", requestId: joining!.requestId, seed },
    ]);
    const sent = eventsOf(last, "PresetSent");
    expect(sent.map(({ vrfRequestId, item }) => [vrfRequestId, item])).toEqual([
      [joining!.requestId, 0],
      [joining!.requestId, 1],
    ]);
    const data = eventsOf(last, "OracleRequest").map((request) => request.data);
    randomWords(seed, 2).forEach((word, item) =>
      expect(data[item]!.endsWith(numberToHex(word, { size: 32 }).slice(2))).toBe(true),
    );
    expect(eventsOf(await deliverResults(stack, last), "RequestProcessed")).toHaveLength(2);
  });

  test("behaviour: random numbers alone, and a batch too long for storage", async () => {
    const long = JSON.stringify(Array.from({ length: 50 }, (_, i) => `player ${i}`));
    const submitted = await submitJoined(stack, [{ dapp }, { dapp, items: [{ sourceId, args: [long] }] }]);
    expect(eventsOf(submitted, "Accepted").map(({ index }) => index)).toEqual([0, 1]);
    const delivered = await deliverWords(stack, submitted);
    const joined = eventsOf(submitted, "Joining").map(({ requestId }) => requestId);
    expect(eventsOf(delivered, "WordsJoined").map(({ requestId }) => requestId)).toEqual(joined);
    expect(eventsOf(delivered, "PresetSent").map(({ vrfRequestId }) => vrfRequestId)).toEqual([joined[1]]);
  });

  test("behaviour: many joins under way do not mix, and leave no storage behind", async () => {
    const joins = Array.from({ length: 3 }, () => ({ dapp, items: [{ sourceId }] }));
    const submitted = await submitJoined(stack, joins);
    const requests = eventsOf(submitted, "Joining");
    const isOf =
      (place: number) =>
      ({ requestId }: ChainEventOf<"RandomWordsRequested">): boolean =>
        requests.some(({ parts }) => parts[place] === requestId);
    await deliverWords(stack, submitted, { of: isOf(1) });
    const last = await deliverWords(stack, submitted, { of: isOf(0) });
    expect(eventsOf(last, "WordsJoined").map(({ requestId }) => requestId)).toEqual(
      requests.map(({ requestId }) => requestId),
    );
    for (const part of requests.flatMap(({ parts }) => parts)) expect(await storageAt(part)).toBe(0n);
  });

  test("error: a word that is brought twice changes nothing", async () => {
    const submitted = await submitJoined(stack, [{ dapp }]);
    await deliverParts(submitted, [0]);
    const [again] = await deliverParts(submitted, [0]).catch(() => [undefined]);
    expect(again?.succeeded ?? false).toBe(false);
    const [last] = await deliverParts(submitted, [1]);
    expect(eventsOf(last!, "WordsJoined")).toHaveLength(1);
  });

  test("error: nobody but the coordinator brings words, by whichever function", async () => {
    const submitted = await submitJoined(stack, [{ dapp }]);
    const [joining] = eventsOf(submitted, "Joining");
    const record = BigInt(joining!.parts[1]!);
    const calls = [
      encodeFunctionData({ abi: joinedPresetsAbi, functionName: "takePart", args: [record, 1n] }),
      encodeFunctionData({
        abi: presetConsumerAbi,
        functionName: "rawFulfillRandomWords",
        args: [record, [1n]],
      }),
    ];
    for (const data of calls)
      for (const from of [STRANGER, TEST_ROLES.operator])
        expect(
          await revertOf(stack, { from: from.address, to: stack.addresses.presetConsumer, data }),
        ).toMatch(/^OnlyCoordinatorCanFulfill/);
  });

  test("error: nobody but the operator submits, and nothing else gets through", async () => {
    const to = stack.addresses.presetConsumer;
    const data = encodeJoinedSubmission([{ dapp }]);
    expect(await revertOf(stack, { from: STRANGER.address, to, data })).toMatch(/^OnlyOperator/);
    const { operator } = TEST_ROLES;
    await expect(stack.client.call({ from: operator.address, to, data: "0xdeadbeef" })).rejects.toThrow(
      /revert/,
    );
    // The code contract itself has no subscription, and its storage doesn't count.
    const joined = getContractAddress({ from: to, nonce: 1n });
    const [refused] = eventsOf(await stack.send(operator, { to: joined, data, gas: 1_000_000n }), "Refused");
    expect(decodeRevertReason(refused!.reason).text).toMatch(/^InvalidConsumer/);
  });

  test.each([
    ["one key hash", [TEST_PROVING_KEY.keyHash]],
    ["the same one twice", [TEST_PROVING_KEY.keyHash, TEST_PROVING_KEY.keyHash]],
    ["five", Array.from({ length: 5 }, (_, i): Hex => numberToHex(i + 1, { size: 32 }))],
  ])("error: %s", async (_, keyHashes) => {
    const submitted = await submitJoined(stack, [{ dapp, keyHashes }, { dapp }]);
    const [refused] = eventsOf(submitted, "Refused");
    expect(decodeRevertReason(refused!.reason).text).toBe("BadKeyHashes()");
    expect(eventsOf(submitted, "Accepted").map(({ index }) => index)).toEqual([1]);
  });

  test("error: a subscription that is not there spoils its own entry alone", async () => {
    const stranger = { ...dapp, vrfSubId: 9_999n };
    const submitted = await submitJoined(stack, [{ dapp: stranger }, { dapp }]);
    expect(eventsOf(submitted, "Refused").map(({ index }) => index)).toEqual([0]);
    expect(eventsOf(submitted, "Accepted").map(({ index }) => index)).toEqual([1]);
  });

  test("error: too little gas undoes the whole submission", async () => {
    const ends = new Set<boolean>();
    for (let gas = 80_000n; gas <= 320_000n; gas += 20_000n) {
      const receipt = await submitJoined(stack, [{ dapp, items: [{ sourceId }] }], { gas });
      const events = [eventsOf(receipt, "Accepted"), eventsOf(receipt, "Joining")];
      ends.add(receipt.succeeded);
      expect([gas, ...events.map(({ length }) => length)]).toEqual(
        receipt.succeeded ? [gas, 1, 1] : [gas, 0, 0],
      );
    }
    expect(ends).toEqual(new Set([false, true]));
  });

  test("error: a batch that names no source passes for no part", async () => {
    // A part's record whose first 7 bytes and more are chosen by the operator: source 0, then what would be the rest.
    const batch: Hex = `0x${"00".repeat(7)}17${"0002".padStart(6, "0")}${"ab".repeat(20)}`;
    const submitted = await submit(stack, { presets: [{ dapp, items: [], batch }] });
    const delivered = await deliverWords(stack, submitted);
    const [refused] = eventsOf(delivered, "PresetRefused");
    expect(decodeRevertReason(refused!.reason).text).toBe("UnknownSource(0)");
  });

  async function storageAt(slot: Hex): Promise<bigint> {
    const { presetConsumer } = stack.addresses;
    const answer = await stack.client.request("eth_getStorageAt", [presetConsumer, slot, "latest"]);
    return hexToBigInt(answer as Hex);
  }
});
