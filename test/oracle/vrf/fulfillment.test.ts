import {
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionData,
  parseAbi,
  parseAbiParameters,
  type Hex,
} from "viem";
import { expect, test } from "vitest";
import { EVENT_TOPICS } from "../../../src/chainlink/events.ts";
import {
  batchVrfCoordinatorAbi,
  batchVrfCoordinatorV2PlusAbi,
} from "../../../src/chainlink/contracts/abi.ts";
import { encodeExtraArgs } from "../../support/extraArgs.ts";
import { encodeFulfillment, readVrfOutcomes, type VrfRequest } from "../../../src/oracle/vrf/fulfillment.ts";
import { createProvingKey, prove } from "../../../src/vrf/proof.ts";
import { idOf, logOf } from "../support/logs.ts";

const request: VrfRequest = {
  requestId: idOf(77n),
  preSeed: 88n,
  subscriptionId: 5n,
  confirmations: 3,
  callbackGasLimit: 250_000,
  numWords: 4,
  sender: "0x00000000000000000000000000000000000000aa",
  blockNumber: 9n,
  blockHash: idOf(1n),
};

test.each([
  [1, "v2"],
  [2, "v2"],
  [5, "v2"],
  [1, "v2.5"],
  [3, "v2.5"],
] as const)("a fulfilment of %i entries of VRF %s has the bytes of viem's encoder", (count, version) => {
  const extraArgs = encodeExtraArgs({ nativePayment: true });
  const key = createProvingKey(new Uint8Array(32).fill(7));
  const entries = Array.from({ length: count }, (_, index) => ({
    request: version === "v2" ? request : { ...request, subscriptionId: 5n << 200n, extraArgs },
    proof: prove(key, { preSeed: BigInt(index), seed: BigInt(index) }),
  }));
  const { sender, callbackGasLimit, numWords } = request;
  const expected = encodeFunctionData({
    abi: version === "v2" ? batchVrfCoordinatorAbi : batchVrfCoordinatorV2PlusAbi,
    functionName: "fulfillRandomWords",
    args: [
      entries.map(({ proof }) => ({
        pk: [proof.publicKey.x, proof.publicKey.y] as const,
        gamma: [proof.gamma.x, proof.gamma.y] as const,
        c: proof.c,
        s: proof.s,
        seed: proof.preSeed,
        uWitness: proof.uWitness,
        cGammaWitness: [proof.cGammaWitness.x, proof.cGammaWitness.y] as const,
        sHashWitness: [proof.sHashWitness.x, proof.sHashWitness.y] as const,
        zInv: proof.zInv,
      })),
      entries.map((entry) => ({
        blockNum: 9n,
        subId: entry.request.subscriptionId,
        callbackGasLimit,
        numWords,
        sender,
        extraArgs,
      })),
    ],
  });
  expect(encodeFulfillment(entries)).toBe(expected);
});

const fulfilled = (success: boolean): Hex =>
  encodeAbiParameters(parseAbiParameters("uint256, uint96, bool"), [5n, 6n, success]);
const raw = (data: Hex): Hex => encodeAbiParameters(parseAbiParameters("bytes"), [data]);
const customError = encodeErrorResult({ abi: parseAbi(["error InsufficientBalance()"]) });

test.each([
  ["a fulfilment", "RandomWordsFulfilled", fulfilled(true), { kind: "fulfilled", callbackSucceeded: true }],
  [
    "a reverted callback",
    "RandomWordsFulfilled",
    fulfilled(false),
    { kind: "fulfilled", callbackSucceeded: false },
  ],
  [
    "a revert with a text",
    "ErrorReturned",
    encodeAbiParameters(parseAbiParameters("string"), ["blockhash not found in store"]),
    { kind: "refused", reason: "blockhash not found in store" },
  ],
  [
    "a custom error",
    "RawErrorReturned",
    raw(customError),
    { kind: "refused", reason: "InsufficientBalance" },
  ],
  ["a revert without data", "RawErrorReturned", raw("0x"), { kind: "refused", reason: "OutOfGas" }],
  ["an unknown error", "RawErrorReturned", raw("0xdeadbeef"), { kind: "refused", reason: "0xdeadbeef" }],
] as const)("%s is told apart", (_, event, data, outcome) => {
  expect([...readVrfOutcomes([logOf([EVENT_TOPICS[event], idOf(1n)], data)])]).toEqual([[idOf(1n), outcome]]);
});

test("what was fulfilled is not refused afterwards", () => {
  const again = logOf([EVENT_TOPICS.RawErrorReturned, idOf(1n)], raw(customError));
  const outcomes = readVrfOutcomes([
    logOf([EVENT_TOPICS.RandomWordsFulfilled, idOf(1n)], fulfilled(true)),
    again,
  ]);
  expect(outcomes.get(idOf(1n))?.kind).toBe("fulfilled");
});

test("logs of others say nothing", () => {
  expect(readVrfOutcomes([logOf([idOf(1n), idOf(2n)], "0x")]).size).toBe(0);
});
