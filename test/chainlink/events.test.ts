import { type Abi, encodeAbiParameters, encodeEventTopics, getAddress, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import {
  type ChainEvent,
  EVENT_TOPICS,
  MalformedLogError,
  type EncodedLog,
  decodeLog,
} from "../../src/chainlink/events.ts";
import {
  batchVrfCoordinatorAbi,
  functionsCoordinatorAbi,
  functionsRouterAbi,
  presetConsumerAbi,
  subscriptionOwnerAbi,
  vrfCoordinatorAbi,
  vrfCoordinatorV2PlusAbi,
} from "../../src/chainlink/contracts/abi.ts";
import { encodeExtraArgs } from "../support/extraArgs.ts";

const word = (digit: string): Hex => `0x${digit.repeat(64)}`;
const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const checksummed = (digit: string): Hex => getAddress(address(digit));

const COMMITMENT = {
  requestId: word("1"),
  coordinator: checksummed("a"),
  estimatedTotalCostJuels: 5n,
  client: checksummed("b"),
  subscriptionId: 6n,
  callbackGasLimit: 7,
  adminFee: 8n,
  donFee: 9n,
  gasOverheadBeforeCallback: 10,
  gasOverheadAfterCallback: 11,
  timeoutTimestamp: 12,
};

/** Arguments as the contract emits them, and the decoded event. */
const CASES: readonly [abi: Abi, args: Record<string, unknown>, event: ChainEvent][] = [
  [
    vrfCoordinatorAbi,
    {
      keyHash: word("1"),
      requestId: BigInt(word("2")),
      preSeed: 3n,
      subId: 4n,
      minimumRequestConfirmations: 5,
      callbackGasLimit: 6,
      numWords: 7,
      sender: checksummed("8"),
    },
    {
      name: "RandomWordsRequested",
      keyHash: word("1"),
      requestId: word("2"),
      preSeed: 3n,
      subId: 4n,
      minimumRequestConfirmations: 5,
      callbackGasLimit: 6,
      numWords: 7,
      sender: address("8"),
    },
  ],
  [
    vrfCoordinatorAbi,
    { requestId: BigInt(word("2")), outputSeed: 3n, payment: 4n, success: true },
    { name: "RandomWordsFulfilled", requestId: word("2"), outputSeed: 3n, paymentJuels: 4n, success: true },
  ],
  [
    vrfCoordinatorV2PlusAbi,
    {
      keyHash: word("1"),
      requestId: BigInt(word("2")),
      preSeed: 3n,
      subId: BigInt(word("4")),
      minimumRequestConfirmations: 5,
      callbackGasLimit: 6,
      numWords: 7,
      extraArgs: encodeExtraArgs({ nativePayment: true }),
      sender: checksummed("8"),
    },
    {
      name: "RandomWordsRequested",
      keyHash: word("1"),
      requestId: word("2"),
      preSeed: 3n,
      subId: BigInt(word("4")),
      minimumRequestConfirmations: 5,
      callbackGasLimit: 6,
      numWords: 7,
      extraArgs: `0x92fd1338${"0".repeat(63)}1`,
      sender: address("8"),
    },
  ],
  ...[true, false].map((nativePayment): (typeof CASES)[number] => [
    vrfCoordinatorV2PlusAbi,
    {
      requestId: BigInt(word("2")),
      outputSeed: 3n,
      subId: BigInt(word("4")),
      payment: 4n,
      nativePayment,
      success: true,
      onlyPremium: !nativePayment,
    },
    {
      name: "RandomWordsFulfilled",
      requestId: word("2"),
      outputSeed: 3n,
      subId: BigInt(word("4")),
      ...(nativePayment ? { paymentJuels: 0n, paymentWei: 4n } : { paymentJuels: 4n }),
      success: true,
      onlyPremium: !nativePayment,
    },
  ]),
  [
    batchVrfCoordinatorAbi,
    { requestId: BigInt(word("2")), reason: "blockhash nöt found" },
    { name: "ErrorReturned", requestId: word("2"), reason: "blockhash nöt found" },
  ],
  [
    batchVrfCoordinatorAbi,
    { requestId: BigInt(word("2")), lowLevelData: "0x01020304" },
    { name: "RawErrorReturned", requestId: word("2"), reason: "0x01020304" },
  ],
  [
    functionsRouterAbi,
    {
      requestId: word("1"),
      donId: word("2"),
      subscriptionId: 3n,
      subscriptionOwner: checksummed("4"),
      requestingContract: checksummed("5"),
      requestInitiator: checksummed("6"),
      data: `0x${"07".repeat(33)}`,
      dataVersion: 1,
      callbackGasLimit: 8,
      estimatedTotalCostJuels: 9n,
    },
    {
      name: "RequestStart",
      requestId: word("1"),
      donId: word("2"),
      subscriptionId: 3n,
      subscriptionOwner: address("4"),
      requestingContract: address("5"),
      requestInitiator: address("6"),
      data: `0x${"07".repeat(33)}`,
      dataVersion: 1,
      callbackGasLimit: 8,
      estimatedTotalCostJuels: 9n,
    },
  ],
  [
    functionsRouterAbi,
    {
      requestId: word("1"),
      subscriptionId: 2n,
      totalCostJuels: 3n,
      transmitter: checksummed("4"),
      resultCode: 0,
      response: word("5"),
      err: "0x",
      callbackReturnData: "0x06",
    },
    {
      name: "RequestProcessed",
      requestId: word("1"),
      subscriptionId: 2n,
      totalCostJuels: 3n,
      transmitter: address("4"),
      resultCode: 0,
      response: word("5"),
      err: "0x",
      callbackReturnData: "0x06",
    },
  ],
  [
    functionsRouterAbi,
    { requestId: word("1"), coordinator: checksummed("2"), transmitter: checksummed("3"), resultCode: 3 },
    {
      name: "RequestNotProcessed",
      requestId: word("1"),
      coordinator: address("2"),
      transmitter: address("3"),
      resultCode: 3,
    },
  ],
  [functionsRouterAbi, { requestId: word("1") }, { name: "RequestTimedOut", requestId: word("1") }],
  [
    functionsCoordinatorAbi,
    {
      requestId: word("1"),
      requestingContract: checksummed("2"),
      requestInitiator: checksummed("3"),
      subscriptionId: 4n,
      subscriptionOwner: checksummed("5"),
      data: `0x${"06".repeat(40)}`,
      dataVersion: 1,
      flags: word("7"),
      callbackGasLimit: 8n,
      commitment: COMMITMENT,
    },
    {
      name: "OracleRequest",
      requestId: word("1"),
      requestingContract: address("2"),
      requestInitiator: address("3"),
      subscriptionId: 4n,
      subscriptionOwner: address("5"),
      data: `0x${"06".repeat(40)}`,
      dataVersion: 1,
      flags: word("7"),
      callbackGasLimit: 8,
      commitment: encodeAbiParameters(
        functionsCoordinatorAbi.find((item) => item.type === "event" && item.name === "OracleRequest")!
          .inputs as never,
        Object.values({
          requestId: word("0"),
          requestingContract: checksummed("0"),
          requestInitiator: checksummed("3"),
          subscriptionId: 4n,
          subscriptionOwner: checksummed("5"),
          data: "0x",
          dataVersion: 1,
          flags: word("7"),
          callbackGasLimit: 8n,
          commitment: COMMITMENT,
        }) as never,
      )
        .slice(2 + 64 * 9, 2 + 64 * 20)
        .replace(/^/, "0x") as Hex,
    },
  ],
  [
    functionsCoordinatorAbi,
    { requestId: word("1"), transmitter: checksummed("2") },
    { name: "OracleResponse", requestId: word("1"), transmitter: address("2") },
  ],
  [
    presetConsumerAbi,
    { sourceId: 513, sourceHash: word("1") },
    { name: "SourceStored", sourceId: 513, sourceHash: word("1") },
  ],
  [
    presetConsumerAbi,
    { index: 3n, requestId: 4n },
    { name: "Accepted", index: 3, requestId: `0x${"4".padStart(64, "0")}` },
  ],
  [
    presetConsumerAbi,
    { index: 3n, reason: "0xaabbccdd" },
    { name: "Refused", index: 3, reason: "0xaabbccdd" },
  ],
  [
    presetConsumerAbi,
    { vrfRequestId: BigInt(word("1")), batch: "0x00010002" },
    { name: "BatchRequested", vrfRequestId: word("1"), batch: "0x00010002" },
  ],
  [
    presetConsumerAbi,
    { labelHash: word("1"), index: 2n, item: 3n, dapp: "dapp_a", label: "räffle" },
    { name: "Labelled", labelHash: word("1"), index: 2n, item: 3n, dapp: "dapp_a", label: "räffle" },
  ],
  [
    presetConsumerAbi,
    { vrfRequestId: BigInt(word("1")), results: "0x0001aa" },
    { name: "BatchReported", vrfRequestId: word("1"), results: "0x0001aa" },
  ],
  [presetConsumerAbi, { configDigest: word("1") }, { name: "NodesAdopted", configDigest: word("1") }],
  [
    presetConsumerAbi,
    {
      requestId: BigInt(word("1")),
      keyHashes: [word("2"), word("3")],
      parts: [BigInt(word("1")), BigInt(word("4"))],
    },
    {
      name: "Joining",
      requestId: word("1"),
      keyHashes: [word("2"), word("3")],
      parts: [word("1"), word("4")],
    },
  ],
  [
    presetConsumerAbi,
    { requestId: BigInt(word("1")), seed: 2n },
    { name: "WordsJoined", requestId: word("1"), seed: 2n },
  ],
  [
    subscriptionOwnerAbi,
    { dapp: word("1"), vrfSubId: 2n, functionsSubId: 3n, created: false },
    { name: "Provisioned", dapp: word("1"), vrfSubId: 2n, functionsSubId: 3n, created: false },
  ],
  [
    subscriptionOwnerAbi,
    { dapp: word("1"), vrfSubId: 2n, functionsSubId: 3n, to: checksummed("4") },
    { name: "Closed", dapp: word("1"), vrfSubId: 2n, functionsSubId: 3n, to: address("4") },
  ],
];

describe("decodeLog", () => {
  test.each(CASES.map(([abi, args, event]) => [event.name, abi, args, event] as const))(
    "%s",
    (name, abi, args, event) => {
      expect(decodeLog(encodeLog(abi, name, args))).toEqual(event);
    },
  );

  test("every event is tried here", () => {
    const names = new Set(CASES.map(([, , { name }]) => name));
    expect([...names].toSorted()).toEqual(Object.keys(EVENT_TOPICS).toSorted());
  });

  test.each([
    ["no topic", []],
    ["another topic", [word("1")]],
  ])("a log with %s is none of ours", (_, topics) => {
    expect(decodeLog({ topics, data: "0x" })).toBeUndefined();
  });

  test.each(CASES.map(([abi, args, { name }]) => [name, abi, args] as const))(
    "%s cut short",
    (name, abi, args) => {
      const { topics, data } = encodeLog(abi, name, args);
      // One word fewer, or one topic fewer if there is no data.
      const cut: EncodedLog =
        data === "0x" ? { topics: topics.slice(0, -1), data } : { topics, data: `0x${data.slice(2, -64)}` };
      expect(() => decodeLog(cut)).toThrow(MalformedLogError);
    },
  );

  test("bytes that would begin beyond the data", () => {
    const { topics } = encodeLog(presetConsumerAbi, "Refused", { index: 0n, reason: "0x" });
    expect(() => decodeLog({ topics, data: `${word("0")}${"f".repeat(64)}` })).toThrow(MalformedLogError);
  });
});

function encodeLog(abi: Abi, eventName: string, args: Record<string, unknown>): EncodedLog {
  const event = abi.find((item) => item.type === "event" && item.name === eventName);
  if (event?.type !== "event") throw new Error(`${eventName} is not in the interface`);
  const unindexed = event.inputs.filter(({ indexed }) => indexed !== true);
  return {
    topics: encodeEventTopics({ abi, eventName, args }) as Hex[],
    data: encodeAbiParameters(
      unindexed,
      unindexed.map(({ name }) => args[name!]),
    ),
  };
}
