import { decodeBatchReport, type SignedReport } from "./presetReport.ts";

/*
 * How much gas a transaction gets, by its kind. None is estimated: what a callback uses is not known before, and with too little gas proofs and
 * reports fail one by one, in events, while the transaction succeeds. Each is an upper bound, measured plus a margin; unused gas costs nothing.
 *
 * How much a transaction that carries several may get at most is `maxTransactionGas` of `evm/pipelining.ts`; one that exceeds it goes alone.
 */

/** What a transaction pays at least for a byte of calldata (EIP-7623); calldata, hash and log take about 25. */
const BYTE_GAS = 40;

/** One transaction of PresetConsumer.submit or submitJoined, by the lengths that decide its gas. */
export interface SubmissionSize {
  /** Length of each packed batch. */
  readonly batchBytes: readonly number[];
  /** Length of each function call's data. */
  readonly functionBytes: readonly number[];
  /** The subscriptions of these function calls. */
  readonly subscriptions: readonly {
    /** Number of contracts on the subscription besides PresetConsumer. */
    readonly linked: number;
    readonly requests: number;
  }[];
  /** Number of requests for random words that are not joined. */
  readonly randoms: number;
  /** Number of key hashes of each request for joined words; the batches of presets among them are in `batchBytes`. */
  readonly joins?: readonly number[];
  /** Bytes of each label's texts. */
  readonly labelBytes?: readonly number[];
}

/**
 * Returns the gas limit of a submission, on subscriptions never used before. Too little reverts all of it (`InsufficientGas`). Each of three
 * nested calls holds back 1/64 of the gas.
 */
export function submissionGas(size: SubmissionSize): bigint {
  const { batchBytes, functionBytes, subscriptions, randoms, joins = [], labelBytes = [] } = size;
  let gas = FIRST_TOUCH_GAS + randoms * RANDOM_GAS;
  for (const keys of joins) gas += JOIN_GAS + keys * JOINED_KEY_GAS;
  for (const bytes of batchBytes) gas += BATCH_GAS + bytes * BYTE_GAS;
  for (const bytes of functionBytes) gas += FUNCTION_GAS + bytes * FUNCTION_GAS_PER_BYTE;
  for (const bytes of labelBytes) gas += LABEL_GAS + bytes * LABEL_GAS_PER_BYTE;
  for (const { linked, requests } of subscriptions)
    gas += linked * (CONSUMER_GAS + Math.max(0, requests - 1) * CONSUMER_AGAIN_GAS);
  return BigInt(Math.ceil((gas * 64) / 61));
}

/** The transaction itself, and the first access to every contract and subscription. */
const FIRST_TOUCH_GAS = 70_000;
const RANDOM_GAS = 45_000;
const BATCH_GAS = 75_000;
/** A join, and each of its parts. */
const JOIN_GAS = 75_000;
const JOINED_KEY_GAS = 65_000;
/** A label's other words in calldata and log. */
const LABEL_GAS = 12_000;
const LABEL_GAS_PER_BYTE = 50;
const FUNCTION_GAS = 145_000;
/** Calldata, two logs, and copies in memory from contract to contract. */
const FUNCTION_GAS_PER_BYTE = 45;
/**
 * For each contract on a subscription, which the router loads for each request (FunctionsRouter._sendRequest,
 * FunctionsSubscriptions.getSubscription): 2,174 from cold storage, and 175 for each request after the first.
 */
const CONSUMER_GAS = 2_250;
const CONSUMER_AGAIN_GAS = 190;

/**
 * Returns the gas limit of PresetConsumer.deliver.
 *
 * @param fulfilment {@link proofsGas} of the proofs that go with the reports. Default: none do.
 */
export function deliveryGas(reports: readonly SignedReport[], fulfilment = 0n): bigint {
  let gas = DELIVERY_GAS;
  for (const { report, signatures } of reports)
    gas +=
      REPORT_GAS +
      decodeBatchReport(report).length * REPORTED_BATCH_GAS +
      report.length * BYTE_GAS +
      signatures.length * SIGNATURE_GAS;
  // A call gets at most 63/64 of the gas that is left (EIP-150).
  return BigInt(gas) + (fulfilment * 64n) / 63n;
}

/** The transaction itself, and reading the nodes' addresses. */
const DELIVERY_GAS = 35_000;
const REPORT_GAS = 10_000;
/** The record, before its refund, and the event's topics. */
const REPORTED_BATCH_GAS = 10_000;
const SIGNATURE_GAS = 6_000;

/** An open request, with the factor by which its gas is raised once it ran out of it. */
interface Answered<Request> {
  readonly request: Request & { readonly callbackGasLimit: number };
  readonly gasFactor: bigint;
}

/** Gas with which a callback can use all of its own; EIP-150 withholds one part in 64 at each of two calls. */
function gasOfCallback({ callbackGasLimit }: { readonly callbackGasLimit: number }): bigint {
  return (BigInt(callbackGasLimit) * 66n) / 64n;
}

/** Returns the gas limit of a transaction of the batch coordinator with these requests' proofs. */
export function proofsGas(entries: readonly Answered<{ readonly numWords: number }>[]): bigint {
  return entries.reduce(
    (sum, { request, gasFactor }) =>
      sum + (PROOF_GAS + gasOfCallback(request) + BigInt(request.numWords) * WORD_GAS) * gasFactor,
    PROOFS_GAS,
  );
}

const PROOFS_GAS = 60_000n;
/**
 * Gas per entry besides callback and words: checking the proof takes about 120,000, plus 10,000 for each round of hashing to the curve
 * beyond the first.
 */
const PROOF_GAS = 350_000n;
/** Gas for hashing a word and passing it to the consumer, calldata included. */
const WORD_GAS = 1_000n;

/** Returns the gas limit of FunctionsCoordinator.transmit with the results of these requests. */
export function functionsReportGas(
  entries: readonly Answered<{
    readonly gasOverheadAfterCallback: number;
    readonly subscriptionId: bigint;
  }>[],
): bigint {
  const subscriptions = new Set(entries.map(({ request }) => request.subscriptionId)).size;
  return entries.reduce(
    (sum, { request, gasFactor }) =>
      sum + (ANSWER_GAS + gasOfCallback(request) + BigInt(request.gasOverheadAfterCallback)) * gasFactor,
    TRANSMIT_GAS + BigInt(subscriptions) * SUBSCRIPTION_GAS,
  );
}

/** Gas for checking the signatures and decoding the report. */
const TRANSMIT_GAS = 150_000n;
/** Gas per item besides its callback. */
const ANSWER_GAS = 250_000n;
/** Gas for loading a subscription's consumers, at most 100, from storage (FunctionsRouter.fulfill, getSubscription): 2,174 each. */
const SUBSCRIPTION_GAS = 225_000n;
