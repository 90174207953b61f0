import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeErrorResult, encodeFunctionData, type Hex } from "viem";
import type { Receipt, RpcError } from "../../src/lib/nodeAnswers.ts";
import { vrfCoordinatorAbi } from "../../src/chainlink/contracts/abi.ts";
import { FIELD_SIZE } from "../../src/vrf/curve.ts";
import { createProvingKey, prove, type Proof } from "../../src/vrf/proof.ts";
import { keyHash, outputOf, randomWords, requestIdOf, seedOf } from "../../src/vrf/randomWords.ts";
import { verify } from "../../src/vrf/verify.ts";
import { provisionDapp, submit } from "../support/consumer.ts";
import { deliverWords, eventsOf } from "../support/delivery.ts";
import { startTestStack, TEST_PROVING_KEY, TEST_ROLES, type TestStack } from "../support/stack.ts";
import { randomValueFromVrfProof } from "./support/vrfSol.ts";

let stack: TestStack;
let requested: Receipt;
let proof: Proof;
let other: Proof;
let seed: bigint;

beforeAll(async () => {
  stack = await startTestStack();
  const dapp = await provisionDapp(stack, "dapp");
  requested = await submit(stack, { randoms: [{ vrfSubId: dapp.vrfSubId, numWords: 3 }] });
  await stack.viem.mine({ blocks: 1 });
  const [request] = eventsOf(requested, "RandomWordsRequested");
  seed = seedOf(request!.preSeed, requested.blockHash);
  proof = prove(TEST_PROVING_KEY, { preSeed: request!.preSeed, seed });
  other = prove(createProvingKey(new Uint8Array(32).fill(8)), { preSeed: request!.preSeed, seed });
});
afterAll(() => stack.close());

/** Simulates VRFCoordinatorV2.fulfillRandomWords; returns the revert reason, or undefined if it succeeds. */
async function refusalOf(change: Partial<Proof>): Promise<string | undefined> {
  const twin = { ...proof, ...change };
  const [request] = eventsOf(requested, "RandomWordsRequested");
  const data = encodeFunctionData({
    abi: vrfCoordinatorAbi,
    functionName: "fulfillRandomWords",
    args: [
      {
        pk: [twin.publicKey.x, twin.publicKey.y],
        gamma: [twin.gamma.x, twin.gamma.y],
        c: twin.c,
        s: twin.s,
        seed: twin.preSeed,
        uWitness: twin.uWitness,
        cGammaWitness: [twin.cGammaWitness.x, twin.cGammaWitness.y],
        sHashWitness: [twin.sHashWitness.x, twin.sHashWitness.y],
        zInv: twin.zInv,
      },
      {
        blockNum: requested.blockNumber,
        subId: request!.subId,
        callbackGasLimit: request!.callbackGasLimit,
        numWords: request!.numWords,
        sender: request!.sender,
      },
    ],
  });
  try {
    await stack.client.call({ to: stack.addresses.vrfCoordinator, data, from: TEST_ROLES.vrfOracle.address });
    return undefined;
  } catch (error) {
    const { data } = error as RpcError;
    return decodeErrorResult({ abi: [], data: data as Hex }).args?.[0] as string;
  }
}

test("the contract accepts the proof", async () => {
  expect(await refusalOf({})).toBeUndefined();
});

test("request id, key hash and seed are the contract's", () => {
  const [request] = eventsOf(requested, "RandomWordsRequested");
  expect(keyHash(TEST_PROVING_KEY.publicKey)).toBe(request!.keyHash);
  expect(requestIdOf(request!.keyHash, request!.preSeed)).toBe(BigInt(request!.requestId));
});

test.each([
  ["gamma", () => ({ gamma: other.gamma })],
  ["gamma off the curve", () => ({ gamma: { x: proof.gamma.x, y: proof.gamma.y + 1n } })],
  ["gamma mirrored", () => ({ gamma: { x: proof.gamma.x, y: FIELD_SIZE - proof.gamma.y } })],
  ["c", () => ({ c: proof.c + 1n })],
  ["s", () => ({ s: proof.s + 1n })],
  ["uWitness", () => ({ uWitness: other.uWitness })],
  ["a zero uWitness", () => ({ uWitness: `0x${"00".repeat(20)}` as const })],
  ["cGammaWitness", () => ({ cGammaWitness: other.cGammaWitness })],
  ["sHashWitness", () => ({ sHashWitness: other.sHashWitness })],
  ["equal witnesses", () => ({ sHashWitness: proof.cGammaWitness })],
  ["zInv", () => ({ zInv: proof.zInv + 1n })],
])(
  "with another %s the contract refuses for the reason that the port of VRF.sol and verify give",
  async (_, change) => {
    const reason = await refusalOf(change());
    expect(reason).toBeTypeOf("string");
    expect(() => randomValueFromVrfProof({ ...proof, ...change() }, seed)).toThrow(reason!);
    expect(verify({ ...proof, ...change() }, seed).valid).toBe(false);
  },
);

test("output and words are the contract's", async () => {
  const delivered = await deliverWords(stack, requested);
  const [fulfilled] = eventsOf(delivered, "RandomWordsFulfilled");
  expect(fulfilled!.outputSeed).toBe(outputOf(proof.gamma));
  expect(new Set(randomWords(fulfilled!.outputSeed, 3)).size).toBe(3);
});
