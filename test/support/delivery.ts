import secp256k1 from "secp256k1";
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  padHex,
  parseAbiParameters,
  type Hex,
} from "viem";
import type { Receipt } from "../../src/evm/client.ts";
import { type ChainEvent, type ChainEventOf, findEvent } from "../../src/chainlink/events.ts";
import {
  batchVrfCoordinatorAbi,
  batchVrfCoordinatorV2PlusAbi,
  functionsCoordinatorAbi,
  vrfCoordinatorAbi,
  vrfCoordinatorV2PlusAbi,
} from "../../src/chainlink/contracts/abi.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { prove } from "../../src/vrf/proof.ts";
import { seedOf } from "../../src/vrf/randomWords.ts";
import { FURTHER_PROVING_KEYS, TEST_PROVING_KEY, TEST_ROLES, type TestStack } from "./stack.ts";

/** Returns all events of one name in a receipt, in order. */
export function eventsOf<Name extends ChainEvent["name"]>(
  receipt: Receipt,
  name: Name,
): readonly ChainEventOf<Name>[] {
  return receipt.logs.map(findEvent).filter((event): event is ChainEventOf<Name> => event?.name === name);
}

/**
 * Fulfills, with real proofs, the random word requests of a transaction: one request directly at the coordinator,
 * several through the batch contract.
 */
export async function deliverWords(
  stack: TestStack,
  requested: Receipt,
  {
    onlyPremium = false,
    of = () => true,
    wrap = (call) => call,
    ...options
  }: {
    readonly gas?: bigint;
    readonly gasPriceWei?: bigint;
    readonly onlyPremium?: boolean;
    /** Requests to answer. Default: all. */
    readonly of?: (request: ChainEventOf<"RandomWordsRequested">) => boolean;
    /** Replaces the call of the coordinator with one that delivers the same proof. */
    readonly wrap?: (call: { readonly to: Hex; readonly data: Hex }) => {
      readonly to: Hex;
      readonly data: Hex;
    };
  } = {},
): Promise<Receipt> {
  const asked = eventsOf(requested, "RandomWordsRequested").filter(of);
  const fulfilments = asked.map((request) => {
    const key = [TEST_PROVING_KEY, ...FURTHER_PROVING_KEYS].find(
      ({ keyHash }) => keyHash === request.keyHash,
    );
    const proof = prove(key ?? TEST_PROVING_KEY, {
      preSeed: request.preSeed,
      seed: seedOf(request.preSeed, requested.blockHash),
    });
    return {
      proof: {
        pk: [proof.publicKey.x, proof.publicKey.y],
        gamma: [proof.gamma.x, proof.gamma.y],
        c: proof.c,
        s: proof.s,
        seed: proof.preSeed,
        uWitness: proof.uWitness,
        cGammaWitness: [proof.cGammaWitness.x, proof.cGammaWitness.y],
        sHashWitness: [proof.sHashWitness.x, proof.sHashWitness.y],
        zInv: proof.zInv,
      } as const,
      commitment: {
        blockNum: requested.blockNumber,
        subId: request.subId,
        callbackGasLimit: request.callbackGasLimit,
        numWords: request.numWords,
        sender: request.sender,
        extraArgs: request.extraArgs ?? "0x",
      },
    };
  });
  const [first] = fulfilments;
  if (first === undefined) throw new Error("the transaction asked for no words");
  const isV2 = stack.addresses.vrfVersion === undefined;
  if (fulfilments.length === 1) {
    return await stack.send(TEST_ROLES.vrfOracle, {
      ...options,
      ...wrap({
        to: stack.addresses.vrfCoordinator,
        data: isV2
          ? encodeFunctionData({
              abi: vrfCoordinatorAbi,
              functionName: "fulfillRandomWords",
              args: [first.proof, first.commitment],
            })
          : encodeFunctionData({
              abi: vrfCoordinatorV2PlusAbi,
              functionName: "fulfillRandomWords",
              args: [first.proof, first.commitment, onlyPremium],
            }),
      }),
    });
  }
  return await stack.send(TEST_ROLES.vrfOracle, {
    ...options,
    to: stack.addresses.batchVrfCoordinator,
    data: encodeFunctionData({
      abi: isV2 ? batchVrfCoordinatorAbi : batchVrfCoordinatorV2PlusAbi,
      functionName: "fulfillRandomWords",
      args: [fulfilments.map(({ proof }) => proof), fulfilments.map(({ commitment }) => commitment)],
    }),
  });
}

/** Delivers the same result for all function requests in a receipt, in one report signed by three nodes. */
export async function deliverResults(
  stack: TestStack,
  requested: Receipt,
  options: { readonly response?: Hex; readonly gasPriceWei?: bigint } = {},
): Promise<Receipt> {
  const requests = eventsOf(requested, "OracleRequest");
  const response = options.response ?? `0x${"00".repeat(31)}01`;
  const report = encodeAbiParameters(parseAbiParameters("bytes32[], bytes[], bytes[], bytes[], bytes[]"), [
    requests.map(({ requestId }) => requestId),
    requests.map(() => response),
    requests.map(() => "0x" as const),
    requests.map(({ commitment }) => commitment),
    requests.map(() => "0x" as const),
  ]);
  const [, , configDigest] = await stack.viem.readContract({
    address: stack.addresses.functionsCoordinator,
    abi: functionsCoordinatorAbi,
    functionName: "latestConfigDetails",
  });
  const context = [configDigest, `0x${"00".repeat(31)}01`, `0x${"00".repeat(32)}`] as const;
  const digest = Buffer.from(keccak256(concatHex([keccak256(report), ...context])).slice(2), "hex");
  const signatures = TEST_ROLES.signers
    .slice(0, 3)
    .map(({ secretKey }) => secp256k1.ecdsaSign(digest, secretKey));
  return await stack.send(TEST_ROLES.transmitters[0]!, {
    ...options,
    to: stack.addresses.functionsCoordinator,
    data: encodeFunctionData({
      abi: functionsCoordinatorAbi,
      functionName: "transmit",
      args: [
        context,
        report,
        signatures.map(({ signature }) => toHexText(signature.subarray(0, 32))),
        signatures.map(({ signature }) => toHexText(signature.subarray(32))),
        padHex(toHexText(Uint8Array.from(signatures, ({ recid }) => recid)), { dir: "right" }),
      ],
    }),
  });
}
