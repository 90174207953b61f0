import { concatHex, encodeFunctionData, keccak256, numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Receipt } from "../../../src/lib/nodeAnswers.ts";
import type { ChainEventOf } from "../../../src/chainlink/events.ts";
import { joinWords } from "../../../src/chainlink/fulfilmentWords.ts";
import { presetConsumerAbi } from "../../../src/chainlink/contracts/abi.ts";
import { readyRecord } from "../../../src/chainlink/presetBatch.ts";
import { encodeBatchReport, encodeResults } from "../../../src/chainlink/presetReport.ts";
import { decodeRevertReason } from "../../../src/chainlink/revertReason.ts";
import { toWord } from "../../../src/lib/uint256.ts";
import { randomWords } from "../../../src/vrf/randomWords.ts";
import { testAccount } from "../../support/anvil.ts";
import {
  encodeJoinedSubmission,
  fundWithCoin,
  provisionDapp,
  storeSource,
  submit,
  submitJoined,
  type TestDapp,
} from "../../support/consumer.ts";
import {
  deliverReports,
  deliverWords,
  eventsOf,
  reportOf,
  seedsOf,
  signReport,
} from "../../support/delivery.ts";
import { revertOf } from "../../support/reverts.ts";
import {
  FURTHER_PROVING_KEYS,
  TEST_PROVING_KEY,
  TEST_ROLES,
  startTestStack,
  type TestStack,
} from "../../support/stack.ts";

const STRANGER = testAccount(9);
const NO_JOIN = Array.from({ length: 6 }, () => toWord(0n));

describe.each([
  { vrfVersion: "v2", nativePayment: false },
  { vrfVersion: "v2.5", nativePayment: false },
  { vrfVersion: "v2.5", nativePayment: true },
] as const)("$vrfVersion, native payment: $nativePayment", ({ vrfVersion, nativePayment }) => {
  let stack: TestStack;
  let dapp: TestDapp;
  let sourceId: number;
  beforeAll(async () => {
    stack = await startTestStack({ vrfVersion, nativePayment, vrfKeys: 4 });
    dapp = await provisionDapp(stack, "dapp");
    if (nativePayment) await fundWithCoin(stack, dapp);
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
  ])("%i keys, words that come in the order %j", async (keys, order) => {
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
    const presets = eventsOf(submitted, "BatchRequested");
    expect(presets.map(({ vrfRequestId }) => vrfRequestId)).toEqual([joining!.requestId]);
    const report = await reportOf(stack, submitted, { seeds: new Map([[joining!.requestId, seed]]) });
    expect(eventsOf(await deliverReports(stack, report), "BatchReported")).toMatchObject([
      { vrfRequestId: joining!.requestId },
    ]);
    for (const part of joining!.parts) expect(await readRecord(part)).toBe(0n);
  });

  test("a report with the last word in one transaction is taken, one before it is passed over", async () => {
    const submitted = await submitJoined(stack, [{ dapp, keys: 3, items: [{ sourceId }] }]);
    const [joining] = eventsOf(submitted, "Joining");
    const report = await reportOf(stack, submitted, {
      seeds: new Map([[joining!.requestId, seedOf(submitted)]]),
    });
    const isPart =
      (...places: readonly number[]) =>
      ({ requestId }: ChainEventOf<"RandomWordsRequested">): boolean =>
        places.some((place) => joining!.parts[place] === requestId);
    const early = await deliverWords(stack, submitted, { of: isPart(0, 2), reports: [report] });
    expect(eventsOf(early, "RandomWordsFulfilled")).toHaveLength(2);
    expect(eventsOf(early, "BatchReported")).toEqual([]);
    const last = await deliverWords(stack, submitted, { of: isPart(1), reports: [report] });
    expect(eventsOf(last, "WordsJoined")).toHaveLength(1);
    expect(eventsOf(last, "BatchReported")).toHaveLength(1);
  });

  test("a report on the first word alone is passed over, before and after the join", async () => {
    const submitted = await submitJoined(stack, [{ dapp, items: [{ sourceId }] }]);
    const first = await reportOf(stack, submitted);
    await deliverParts(submitted, [0]);
    expect(eventsOf(await deliverReports(stack, first), "BatchReported")).toEqual([]);
    await deliverParts(submitted, [1]);
    expect(eventsOf(await deliverReports(stack, first), "BatchReported")).toEqual([]);
  });

  test("a report for a later part is passed over", async () => {
    const submitted = await submitJoined(stack, [{ dapp, items: [{ sourceId }] }]);
    const [joining] = eventsOf(submitted, "Joining");
    const [{ batch } = {}] = eventsOf(submitted, "BatchRequested");
    await deliverParts(submitted, [1, 0]);
    const results = encodeResults([{ ok: true, bytes: Uint8Array.of(1) }]);
    const ready = readyRecord(batch!, seedOf(submitted));
    const later = encodeBatchReport([{ vrfRequestId: joining!.parts[1]!, ready, results }]);
    const delivered = await deliverReports(stack, await signReport(stack, later));
    expect([delivered.succeeded, delivered.logs]).toEqual([true, []]);
  });

  test("random numbers alone, and a long batch", async () => {
    const long = JSON.stringify(Array.from({ length: 50 }, (_, i) => `player ${i}`));
    const submitted = await submitJoined(stack, [{ dapp }, { dapp, items: [{ sourceId, args: [long] }] }]);
    expect(eventsOf(submitted, "Accepted").map(({ index }) => index)).toEqual([0, 1]);
    const joined = eventsOf(submitted, "Joining").map(({ requestId }) => requestId);
    expect(eventsOf(submitted, "BatchRequested").map(({ vrfRequestId }) => vrfRequestId)).toEqual([
      joined[1],
    ]);
    const delivered = await deliverWords(stack, submitted);
    expect(eventsOf(delivered, "WordsJoined").map(({ requestId }) => requestId)).toEqual(joined);
    expect(await readRecord(joined[0]!)).toBe(0n);
    expect(await readRecord(joined[1]!)).not.toBe(0n);
  });

  test("many joins under way do not mix, and leave no storage behind", async () => {
    const joins = Array.from({ length: 3 }, () => ({ dapp, items: [{ sourceId }] }));
    const submitted = await submitJoined(stack, joins);
    const requests = eventsOf(submitted, "Joining");
    const isOf =
      (place: number) =>
      ({ requestId }: ChainEventOf<"RandomWordsRequested">): boolean =>
        requests.some(({ parts }) => parts[place] === requestId);
    await deliverWords(stack, submitted, { of: isOf(1) });
    for (const { requestId } of requests) expect(await readJoin(requestId)).not.toEqual(NO_JOIN);
    const last = await deliverWords(stack, submitted, { of: isOf(0) });
    const requestIds = requests.map(({ requestId }) => requestId);
    expect(eventsOf(last, "WordsJoined").map(({ requestId }) => requestId)).toEqual(requestIds);
    const seeds = new Map(eventsOf(last, "WordsJoined").map(({ requestId, seed }) => [requestId, seed]));
    const reported = await deliverReports(stack, await reportOf(stack, submitted, { seeds }));
    expect(eventsOf(reported, "BatchReported").map(({ vrfRequestId }) => vrfRequestId)).toEqual(requestIds);
    for (const part of requests.flatMap(({ parts }) => parts)) {
      expect(await readRecord(part)).toBe(0n);
      expect(await readJoin(part)).toEqual(NO_JOIN);
    }
  });

  test("a word that is brought twice changes nothing", async () => {
    const submitted = await submitJoined(stack, [{ dapp }]);
    await deliverParts(submitted, [0]);
    const [again] = await deliverParts(submitted, [0]).catch(() => [undefined]);
    expect(again?.succeeded ?? false).toBe(false);
    const [last] = await deliverParts(submitted, [1]);
    expect(eventsOf(last!, "WordsJoined")).toHaveLength(1);
  });

  test("nobody but the coordinator brings words", async () => {
    const submitted = await submitJoined(stack, [{ dapp }]);
    const [joining] = eventsOf(submitted, "Joining");
    const data = encodeFunctionData({
      abi: presetConsumerAbi,
      functionName: "rawFulfillRandomWords",
      args: [BigInt(joining!.parts[1]!), [1n]],
    });
    for (const { address: from } of [STRANGER, TEST_ROLES.operator])
      expect(await revertOf(stack, { from, to: stack.addresses.presetConsumer, data })).toMatch(
        /^OnlyCoordinatorCanFulfill/,
      );
  });

  test("nobody but the operator submits", async () => {
    const to = stack.addresses.presetConsumer;
    const data = encodeJoinedSubmission([{ dapp }]);
    expect(await revertOf(stack, { from: STRANGER.address, to, data })).toMatch(/^OnlyOperator/);
  });

  test.each([
    ["one key hash", [TEST_PROVING_KEY.keyHash]],
    ["the same one twice", [TEST_PROVING_KEY.keyHash, TEST_PROVING_KEY.keyHash]],
    ["five", Array.from({ length: 5 }, (_, i): Hex => numberToHex(i + 1, { size: 32 }))],
  ])("%s", async (_, keyHashes) => {
    const submitted = await submitJoined(stack, [{ dapp, keyHashes }, { dapp }]);
    const [refused] = eventsOf(submitted, "Refused");
    expect(decodeRevertReason(refused!.reason).text).toBe("BadKeyHashes()");
    expect(eventsOf(submitted, "Accepted").map(({ index }) => index)).toEqual([1]);
  });

  test("a subscription that is not there spoils its own entry alone", async () => {
    const stranger = { ...dapp, vrfSubId: 9_999n };
    const submitted = await submitJoined(stack, [{ dapp: stranger }, { dapp }]);
    expect(eventsOf(submitted, "Refused").map(({ index }) => index)).toEqual([0]);
    expect(eventsOf(submitted, "Accepted").map(({ index }) => index)).toEqual([1]);
  });

  test("too little gas undoes the whole submission", async () => {
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

  test("a batch whose bytes are a part's record passes for no part", async () => {
    const joined = await submitJoined(stack, [{ dapp }]);
    const [joining] = eventsOf(joined, "Joining");
    const batch = toWord(await readRecord(joining!.parts[1]!));
    const submitted = await submit(stack, { presets: [{ dapp, items: [], batch }] });
    const delivered = await deliverWords(stack, submitted);
    expect(delivered.logs).toHaveLength(1);
    expect(eventsOf(await deliverWords(stack, joined), "WordsJoined")).toHaveLength(1);
  });

  /** The seed that the requests of a join lead to. */
  const seedOf = (submitted: Receipt): bigint => {
    const [joining] = eventsOf(submitted, "Joining");
    const words = seedsOf(submitted);
    return joinWords(
      joining!.requestId,
      joining!.parts.map((part) => words.get(part)!),
    );
  };

  /** Reads the six words of storage of a join: `s_joins` is in slot 4, by the 246 highest bits of the request id. */
  const readJoin = async (requestId: Hex): Promise<readonly unknown[]> => {
    const slot = BigInt(keccak256(concatHex([toWord(BigInt(requestId) >> 10n), toWord(4n)])));
    const { presetConsumer } = stack.addresses;
    return await Promise.all(
      NO_JOIN.map((_, i) =>
        stack.client.request("eth_getStorageAt", [presetConsumer, toWord(slot + BigInt(i)), "latest"]),
      ),
    );
  };

  const readRecord = (vrfRequestId: Hex): Promise<bigint> =>
    stack.viem.readContract({
      address: stack.addresses.presetConsumer,
      abi: presetConsumerAbi,
      functionName: "recordOf",
      args: [BigInt(vrfRequestId)],
    });
});
