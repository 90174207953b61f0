import { encodeAbiParameters, encodeEventTopics, type Abi, type AbiEvent, type Hex } from "viem";
import { expect, test } from "vitest";
import {
  functionsRouterAbi,
  vrfCoordinatorAbi,
  vrfCoordinatorV2PlusAbi,
} from "../../src/chainlink/contracts/abi.ts";
import type { EncodedLog } from "../../src/chainlink/events.ts";
import { createCharges } from "../../src/dapps/charges.ts";

const ADDRESS: Hex = `0x${"12".repeat(20)}`;
const ID: Hex = `0x${"ab".repeat(32)}`;
/** Ids of subscriptions of the two kinds may be the same. */
const SUBSCRIPTIONS = [
  { dappId: "a", network: "sepolia", vrfSubscriptionId: 1n, functionsSubscriptionId: 2n },
  { dappId: "b", network: "sepolia", vrfSubscriptionId: 2n, functionsSubscriptionId: 1n },
];

function logOf(abi: Abi, eventName: string, args: Readonly<Record<string, unknown>>): EncodedLog {
  const event = abi.find((item) => item.type === "event" && item.name === eventName) as AbiEvent;
  const plain = event.inputs.filter(({ indexed }) => indexed !== true);
  return {
    topics: encodeEventTopics({ abi, eventName, args }) as Hex[],
    data: encodeAbiParameters(
      plain,
      plain.map(({ name }) => args[name!]),
    ),
  };
}

const asked = (subId: bigint, requestId = 7n): EncodedLog =>
  logOf(vrfCoordinatorAbi, "RandomWordsRequested", {
    keyHash: ID,
    requestId,
    preSeed: 1n,
    subId,
    minimumRequestConfirmations: 1,
    callbackGasLimit: 1,
    numWords: 1,
    sender: ADDRESS,
  });
const answered = (requestId = 7n): EncodedLog =>
  logOf(vrfCoordinatorAbi, "RandomWordsFulfilled", { requestId, outputSeed: 1n, payment: 5n, success: true });

test("words of v2 are paid by the subscription that asked for them, in an earlier block or the same one", () => {
  const charges = createCharges(() => SUBSCRIPTIONS);
  expect(charges.read([asked(1n)])).toEqual([]);
  expect(charges.read([answered()])).toEqual(["a"]);
  expect(charges.read([asked(2n, 8n), answered(8n)])).toEqual(["b"]);
  expect(charges.read([answered(9n)])).toEqual([]);
});

test("words of v2.5 and results of functions name who pays", () => {
  const charges = createCharges(() => SUBSCRIPTIONS);
  const words = { requestId: 7n, outputSeed: 1n, subId: 2n, payment: 5n };
  const terms = { nativePayment: true, success: true, onlyPremium: false };
  expect(
    charges.read([logOf(vrfCoordinatorV2PlusAbi, "RandomWordsFulfilled", { ...words, ...terms })]),
  ).toEqual(["b"]);
  const result = {
    requestId: ID,
    subscriptionId: 2n,
    totalCostJuels: 5n,
    transmitter: ADDRESS,
    resultCode: 0,
    response: "0x",
    err: "0x",
    callbackReturnData: "0x",
  };
  expect(charges.read([logOf(functionsRouterAbi, "RequestProcessed", result)])).toEqual(["a"]);
});

test("logs of other dapps' subscriptions, unknown ones and malformed ones charge nobody", () => {
  const charges = createCharges(() => SUBSCRIPTIONS);
  const { topics } = answered();
  expect(charges.read([asked(3n), answered(), { topics: [ID], data: "0x" }, { topics, data: "0x" }])).toEqual(
    [],
  );
});
