import type { JoinView } from "../../src/api/types.ts";
import { encodeAbiParameters, encodeEventTopics, type Abi, type Hex } from "viem";
import { expect, test } from "vitest";
import { presetConsumerAbi, vrfCoordinatorAbi } from "../../src/chainlink/contracts/abi.ts";
import type { StackAddresses } from "../../src/chainlink/stackPlan.ts";
import type { RawLog } from "../../src/lib/nodeAnswers.ts";
import type { LogQuery } from "../../src/explorer/chainArchive.ts";
import { readJoins } from "../../src/explorer/readTransaction.ts";
import { idOf } from "../oracle/support/logs.ts";

const CONSUMER: Hex = `0x${"c".repeat(40)}`;
const COORDINATOR: Hex = `0x${"d".repeat(40)}`;
const contracts = {
  presetConsumer: `0x${"C".repeat(40)}`,
  vrfCoordinator: `0x${"D".repeat(40)}`,
} as unknown as StackAddresses;
const KEYS = [idOf(71n), idOf(72n)];
/** Transactions of the request, of the first word and of the second. */
const [ASKED, FIRST, SECOND] = [idOf(101n), idOf(102n), idOf(103n)];

const joining = (first: bigint, second: bigint, address = CONSUMER): RawLog =>
  log(presetConsumerAbi, "Joining", { requestId: first, keyHashes: KEYS, parts: [first, second] }, [
    address,
    5n,
    ASKED,
  ]);
const delivered = (id: bigint, hash: Hex, block: bigint): RawLog =>
  log(
    vrfCoordinatorAbi,
    "RandomWordsFulfilled",
    { requestId: id, outputSeed: 9n, payment: 0n, success: true },
    [COORDINATOR, block, hash],
  );
const joined = (id: bigint, block: bigint): RawLog =>
  log(presetConsumerAbi, "WordsJoined", { requestId: id, seed: 77n }, [CONSUMER, block, SECOND]);
const proofOf = (id: bigint) => ({ requestId: idOf(id), commitment: { blockNum: "5" } });

const OPEN: JoinView = {
  requestId: idOf(1n),
  requestedBy: ASKED,
  parts: [
    { requestId: idOf(1n), keyHash: KEYS[0]!, answeredBy: FIRST },
    { requestId: idOf(2n), keyHash: KEYS[1]!, answeredBy: null },
  ],
  seed: null,
  joinedBy: null,
};
const ENDED: JoinView = {
  ...OPEN,
  parts: [OPEN.parts[0]!, { ...OPEN.parts[1]!, answeredBy: SECOND }],
  seed: idOf(77n),
  joinedBy: SECOND,
};
const PAST = [joining(1n, 2n), joining(3n, 4n), delivered(1n, FIRST, 6n)];
const WHOLE = [...PAST, delivered(2n, SECOND, 7n), joined(1n, 7n)];

test.each<[string, readonly RawLog[], readonly RawLog[], readonly bigint[], JoinView]>([
  ["the request, of which one word is there", [joining(1n, 2n)], PAST, [], OPEN],
  ["the first word, while the other is missing", [delivered(1n, FIRST, 6n)], PAST, [1n], OPEN],
  ["the first word, once all are there", [delivered(1n, FIRST, 6n)], WHOLE, [1n], ENDED],
  ["the last word", [delivered(2n, SECOND, 7n), joined(1n, 7n)], WHOLE, [2n], ENDED],
  ["request and word in one transaction", [joining(1n, 2n)], WHOLE, [1n], ENDED],
])("the words that belong together, from %s", async (_, own, past, brought, view) => {
  expect(await readJoins(own, brought.map(proofOf), chainOf(past), 1_000n)).toEqual([view]);
});

test("words of one key are no join, nor is what another contract says", async () => {
  const forged = joining(1n, 2n, COORDINATOR);
  expect(await readJoins([forged], [proofOf(9n)], chainOf([forged, ...WHOLE]), 1_000n)).toEqual([]);
});

test("a block that a proof names past the end is not looked for", async () => {
  expect(await readJoins([], [proofOf(1n)], chainOf(WHOLE), 4n)).toEqual([]);
});

function chainOf(past: readonly RawLog[]) {
  const findLogs = async ({ address, topics, fromBlock, toBlock }: LogQuery) =>
    past.filter(
      (one) =>
        one.address === address.toLowerCase() &&
        one.blockNumber >= fromBlock &&
        one.blockNumber <= toBlock &&
        topics.every((wanted, index) => [wanted].flat().includes(one.topics[index]!)),
    );
  return { archive: { findLogs }, contracts };
}

function log(
  abi: Abi,
  eventName: string,
  args: Record<string, unknown>,
  [address, blockNumber, transactionHash]: readonly [Hex, bigint, Hex],
): RawLog {
  const event = abi.find((item) => item.type === "event" && item.name === eventName);
  if (event?.type !== "event") throw new Error(`${eventName} is not in the interface`);
  const unindexed = event.inputs.filter(({ indexed }) => indexed !== true);
  return {
    address,
    topics: encodeEventTopics({ abi, eventName, args }) as Hex[],
    data: encodeAbiParameters(
      unindexed,
      unindexed.map(({ name }) => args[name!]),
    ),
    blockNumber,
    blockHash: idOf(blockNumber),
    transactionHash,
    logIndex: 0,
  };
}
