import secp256k1 from "secp256k1";
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  padHex,
  parseAbiParameters,
  slice,
  type Hex,
} from "viem";
import type { Receipt } from "../../src/lib/nodeAnswers.ts";
import { type ChainEvent, type ChainEventOf, findEvent } from "../../src/chainlink/events.ts";
import {
  batchVrfCoordinatorAbi,
  batchVrfCoordinatorV2PlusAbi,
  functionsCoordinatorAbi,
  vrfCoordinatorAbi,
  vrfCoordinatorV2PlusAbi,
} from "../../src/chainlink/contracts/abi.ts";
import { deriveWords } from "../../src/chainlink/fulfilmentWords.ts";
import { decodePresetBatch, readyRecord } from "../../src/chainlink/presetBatch.ts";
import {
  batchReportDigest,
  encodeBatchReport,
  encodeDelivery,
  encodeResults,
  type ReportPlace,
  type SignedReport,
} from "../../src/chainlink/presetReport.ts";
import { fromHexText, toHexText } from "../../src/lib/hex.ts";
import { toWord } from "../../src/lib/uint256.ts";
import { prove } from "../../src/vrf/proof.ts";
import { outputOf, seedOf } from "../../src/vrf/randomWords.ts";
import { FURTHER_PROVING_KEYS, TEST_PROVING_KEY, TEST_ROLES, type TestStack } from "./stack.ts";

interface Call {
  readonly to: Hex;
  readonly data: Hex;
}
/** Replaces a call of a coordinator with one that delivers the same. */
type WrapCall = (call: Call) => Call | Promise<Call>;
type TestAccount = (typeof TEST_ROLES.transmitters)[number];

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
    reports,
    ...options
  }: {
    readonly gas?: bigint;
    readonly gasPriceWei?: bigint;
    readonly onlyPremium?: boolean;
    /** Delivered in the same transaction, by PresetConsumer. */
    readonly reports?: readonly SignedReport[];
    /** Requests to answer. Default: all. */
    readonly of?: (request: ChainEventOf<"RandomWordsRequested">) => boolean;
    readonly wrap?: WrapCall;
  } = {},
): Promise<Receipt> {
  const fulfilments = proveWords(requested, of);
  const [first] = fulfilments;
  if (first === undefined) throw new Error("the transaction asked for no words");
  const isV2 = stack.addresses.vrfVersion === undefined;
  const data = encodeFulfilments(stack, fulfilments);
  if (reports !== undefined) {
    return await stack.send(TEST_ROLES.vrfOracle, {
      ...options,
      to: stack.addresses.presetConsumer,
      data: encodeDelivery(data, reports),
    });
  }
  if (fulfilments.length === 1) {
    return await stack.send(TEST_ROLES.vrfOracle, {
      ...options,
      ...(await wrap({
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
      })),
    });
  }
  return await stack.send(TEST_ROLES.vrfOracle, {
    ...options,
    to: stack.addresses.batchVrfCoordinator,
    data,
  });
}

/** Proves the words that a transaction asked for. */
function proveWords(requested: Receipt, of: (request: ChainEventOf<"RandomWordsRequested">) => boolean) {
  return eventsOf(requested, "RandomWordsRequested")
    .filter(of)
    .map((request) => {
      const proof = prove(keyOf(request.keyHash), {
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
}

/** Returns the call of the batch coordinator with the proofs for all requests of a transaction. */
export function fulfilmentOf(stack: TestStack, requested: Receipt): Hex {
  return encodeFulfilments(
    stack,
    proveWords(requested, () => true),
  );
}

function encodeFulfilments(stack: TestStack, fulfilments: ReturnType<typeof proveWords>): Hex {
  return encodeFunctionData({
    abi: stack.addresses.vrfVersion === undefined ? batchVrfCoordinatorAbi : batchVrfCoordinatorV2PlusAbi,
    functionName: "fulfillRandomWords",
    args: [fulfilments.map(({ proof }) => proof), fulfilments.map(({ commitment }) => commitment)],
  });
}

/** Encodes the same call of VRFCoordinatorV2_5 with the extra arguments before the commitment that points to them. */
export function withNegativeOffset(data: Hex): Hex {
  const words = (from: number, count: number): Hex => slice(data, 4 + 32 * from, 4 + 32 * (from + count));
  const [proof, onlyPremium, commitment, extraArgs] = [
    words(0, 13),
    words(14, 1),
    words(15, 5),
    words(21, 3),
  ];
  const [commitmentAt, extraArgsAt] = [18 * 32, toWord(BigInt.asUintN(256, -96n))];
  return concatHex([
    slice(data, 0, 4),
    proof,
    toWord(BigInt(commitmentAt)),
    onlyPremium,
    extraArgs,
    commitment,
    extraArgsAt,
  ]);
}

/** Returns the seed that each batch of a transaction gets from its own VRF request: word 0 of the proof. */
export function seedsOf(requested: Receipt): ReadonlyMap<Hex, bigint> {
  return new Map(
    eventsOf(requested, "RandomWordsRequested").map(({ requestId, preSeed, keyHash }) => {
      const seed = seedOf(preSeed, requested.blockHash);
      return [requestId, deriveWords(outputOf(prove(keyOf(keyHash), { preSeed, seed }).gamma), 1)[0]!];
    }),
  );
}

/** What a test changes in a report. */
export interface TestReport {
  /** Result of each preset. Default: the number 1, of 32 bytes. */
  readonly result?: Hex;
  /** Packed results of each batch, instead. */
  readonly packed?: Hex;
  readonly seeds?: ReadonlyMap<Hex, bigint>;
  /** Indices of the nodes that sign. Default: the first three. */
  readonly signers?: readonly number[];
  /** The nodes of the configuration. Default: the stack's four. */
  readonly nodes?: readonly TestSigner[];
}

type TestSigner = Pick<TestAccount, "secretKey">;

/** Returns the bytes of a report with the results of all batches of a transaction. */
export function encodeReportOf(
  requested: Receipt,
  { result = toWord(1n), packed, seeds = seedsOf(requested) }: TestReport = {},
): Uint8Array {
  return encodeBatchReport(
    eventsOf(requested, "BatchRequested").map(({ vrfRequestId, batch }) => ({
      vrfRequestId,
      ready: readyRecord(batch, seeds.get(vrfRequestId)!),
      results:
        packed === undefined
          ? encodeResults(
              decodePresetBatch(batch).items.map(() => ({ ok: true, bytes: fromHexText(result) })),
            )
          : fromHexText(packed),
    })),
  );
}

/** Signs the bytes of a report, for the stack unless `place` says where else. */
export async function signReport(
  stack: TestStack,
  report: Uint8Array,
  { signers = [0, 1, 2], nodes = TEST_ROLES.signers }: TestReport = {},
  place: Partial<ReportPlace> = {},
): Promise<SignedReport> {
  const digest = batchReportDigest(report, {
    chainId: stack.chainId,
    presetConsumer: stack.addresses.presetConsumer,
    configDigest: await readConfigDigest(stack),
    ...place,
  });
  const signatures = signers.map((index) => {
    const { signature, recid } = secp256k1.ecdsaSign(digest, nodes[index]!.secretKey);
    return { index, r: signature.slice(0, 32), s: signature.slice(32), recoveryId: recid };
  });
  return { report, signatures };
}

/** Returns one signed report with the results of all batches of a transaction. */
export async function reportOf(
  stack: TestStack,
  requested: Receipt,
  options: TestReport = {},
): Promise<SignedReport> {
  return await signReport(stack, encodeReportOf(requested, options), options);
}

/** Delivers reports alone. */
export async function deliverReports(
  stack: TestStack,
  ...reports: readonly SignedReport[]
): Promise<Receipt> {
  return await deliver(stack, { reports });
}

/** Delivers what anybody may deliver, proofs and reports; default: as a node's transmitter. */
export async function deliver(
  stack: TestStack,
  {
    fulfilment = "0x",
    reports = [],
    account = TEST_ROLES.transmitters[0]!,
    ...options
  }: {
    readonly fulfilment?: Hex;
    readonly reports?: readonly SignedReport[];
    readonly account?: TestAccount;
    readonly gas?: bigint;
  },
): Promise<Receipt> {
  return await stack.send(account, {
    ...options,
    to: stack.addresses.presetConsumer,
    data: encodeDelivery(fulfilment, reports),
  });
}

/** Reads the digest of the Functions coordinator's current configuration. */
export async function readConfigDigest(stack: TestStack): Promise<Hex> {
  const [, , configDigest] = await stack.viem.readContract({
    address: stack.addresses.functionsCoordinator,
    abi: functionsCoordinatorAbi,
    functionName: "latestConfigDetails",
  });
  return configDigest;
}

function keyOf(keyHash: Hex) {
  const key = [TEST_PROVING_KEY, ...FURTHER_PROVING_KEYS].find((one) => one.keyHash === keyHash);
  return key ?? TEST_PROVING_KEY;
}

/** Delivers the same result for all function requests in a receipt, in one report signed by three nodes. */
export async function deliverResults(
  stack: TestStack,
  requested: Receipt,
  {
    beaconSignature = "0x",
    account = TEST_ROLES.transmitters[0]!,
    wrap = (call) => call,
    ...options
  }: {
    readonly response?: Hex;
    readonly gasPriceWei?: bigint;
    readonly beaconSignature?: Hex;
    readonly account?: TestAccount;
    readonly wrap?: WrapCall;
  } = {},
): Promise<Receipt> {
  const requests = eventsOf(requested, "OracleRequest");
  const response = options.response ?? `0x${"00".repeat(31)}01`;
  const report = encodeAbiParameters(parseAbiParameters("bytes32[], bytes[], bytes[], bytes[], bytes[]"), [
    requests.map(({ requestId }) => requestId),
    requests.map(() => response),
    requests.map(() => "0x" as const),
    requests.map(({ commitment }) => commitment),
    requests.map(() => beaconSignature),
  ]);
  const context = [await readConfigDigest(stack), `0x${"00".repeat(31)}01`, `0x${"00".repeat(32)}`] as const;
  const digest = Buffer.from(keccak256(concatHex([keccak256(report), ...context])).slice(2), "hex");
  const signatures = TEST_ROLES.signers
    .slice(0, 3)
    .map(({ secretKey }) => secp256k1.ecdsaSign(digest, secretKey));
  const data = encodeFunctionData({
    abi: functionsCoordinatorAbi,
    functionName: "transmit",
    args: [
      context,
      report,
      signatures.map(({ signature }) => toHexText(signature.subarray(0, 32))),
      signatures.map(({ signature }) => toHexText(signature.subarray(32))),
      padHex(toHexText(Uint8Array.from(signatures, ({ recid }) => recid)), { dir: "right" }),
    ],
  });
  return await stack.send(account, {
    ...options,
    ...(await wrap({ to: stack.addresses.functionsCoordinator, data })),
  });
}
