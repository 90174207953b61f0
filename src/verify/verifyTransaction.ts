/**
 * Checks the oracle's results from chain data alone. It asks neither service nor oracle, and does not trust the node that supplies
 * the data where its answers can be checked against each other:
 *
 * 1. each transaction matches its hash and is in a block whose header matches the block's hash (`transactionsStep.ts`),
 * 2. the VRF proof is valid for the exact hash of the request's block, under the registered key (`randomnessSteps.ts`), and so is
 *    that of each word of a join (`joinSteps.ts`),
 * 3. the function request sent in the proof's transaction carries that word, and a source and arguments fixed before the word
 *    existed (`presetSteps.ts`),
 * 4. the report with the result is signed by the nodes in the coordinator's configuration (`signerSet.ts`, `reportSteps.ts`), and
 *    the source, run again, gives that result (`executionStep.ts`).
 *
 * Every answer lists what no such check can show: see `trust.ts`.
 */
import type { RequestVerification, Verdict, Verification, VerificationStep } from "../api/types.ts";
import { STEP_NAMES, VERDICTS } from "../lib/verificationWords.ts";
import { BaseError, type Hex } from "viem";
import { CallResultError } from "../lib/callResult.ts";
import { TycheError } from "../lib/errors.ts";
import { DECIDING_STEPS } from "../lib/verificationWords.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import type { CallbackSources } from "../chainlink/failedCallbacks.ts";
import { createPendingReasons } from "../chainlink/pendingReason.ts";
import { decodeRevertReason } from "../chainlink/revertReason.ts";
import { createChainFacts, type ChainReader } from "./chainFacts.ts";
import { createContractBook, type ContractBook, type OracleContracts } from "../chainlink/contractBook.ts";
import { checkContracts } from "./contractsStep.ts";
import { checkExecution, type ExecutionOptions } from "./executionStep.ts";
import { checkFunction, checkPreset } from "./presetSteps.ts";
import { checkJoin } from "./joinSteps.ts";
import { checkRandomness } from "./randomnessSteps.ts";
import { findReportOperators } from "./reportOperators.ts";
import { checkReport } from "./reportSteps.ts";
import { findRequestParts, type RequestParts } from "./requestParts.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";
import { checkTransactions } from "./transactionsStep.ts";
import { remainingTrust } from "./trust.ts";
import { describeMissingRequest, notApplicableStep } from "./verification.ts";

/** Requests that one call checks: a transaction can carry hundreds. */
export const MAX_REQUESTS = 64;

/** After this time, in ms, no further source is run again. */
const EXECUTION_TIME_MS = 20_000;

export interface VerifyOptions extends Omit<ExecutionOptions, "deadline"> {
  readonly client: ChainReader;
  /** Name of the network, for messages. */
  readonly network: string;
  readonly chainId: number;
  /** Addresses of the oracle's contracts from a source that the reader trusts; missing ones are taken from the transactions. */
  readonly contracts?: Partial<OracleContracts>;
  /** Only the request with this id, of functions or VRF. Default: all that the transaction takes part in. */
  readonly requestId?: Hex;
  /** Whether block headers are Ethereum's, so that they can be hashed again. Default true, as on the embedded chains. */
  readonly hasEthereumBlocks?: boolean;
  /** Chainlink's VRF v2.5 coordinator on this chain, if known. Affects only the text of `trust`. */
  readonly chainlinkCoordinator?: Hex | undefined;
  /**
   * Returns what a service recorded of failed callbacks, quoted as its word. Affects only the texts of steps. Default: only the node is asked.
   */
  readonly findRecordedCallbacks?: CallbackSources["findRecorded"];
  /** Whether the oracle's operator runs the chain alone, if known. Affects only the text of `trust`. */
  readonly isEmbedded: boolean | undefined;
}

/**
 * Checks every request that a transaction takes part in: as its request, its VRF proof or its report. An invalid result is an
 * answer, which names the step.
 *
 * @param hash transaction hash, 32 bytes of lower-case hex
 * @throws UnknownTransactionError, NoRequestError `not_found`; TooManyRequestsError, WrongChainError `invalid_parameter`; what the
 * client throws if the node can't be reached, and the sandbox if it is overloaded.
 */
export async function verifyTransaction(hash: Hex, options: VerifyOptions): Promise<Verification> {
  const { network } = options;
  try {
    return await verifyHash(hash, options);
  } catch (error) {
    // A node may answer anything: an answer that can't be decoded is not our defect.
    const isTheirs =
      error instanceof BaseError ||
      error instanceof CallResultError ||
      error instanceof SyntaxError ||
      error instanceof RangeError;
    if (isTheirs) throw new UnusableChainDataError(network, error);
    throw error;
  }
}

async function verifyHash(hash: Hex, options: VerifyOptions): Promise<Verification> {
  const { network, chainId, client } = options;
  const actualChainId = Number(await client.request("eth_chainId"));
  if (actualChainId !== chainId) throw new WrongChainError(network, chainId, actualChainId);
  const hasEthereumBlocks = options.hasEthereumBlocks ?? true;
  const facts = createChainFacts(client, { network, chainId, hasEthereumBlocks });
  const book = createContractBook(options.contracts);
  const means = {
    facts,
    book,
    network,
    chainId,
    client,
    hasEthereumBlocks,
    pending: createPendingReasons(client),
    findRecordedCallbacks: options.findRecordedCallbacks,
  };
  const found = await findRequestParts(hash, means, options.requestId);
  if (found.length > MAX_REQUESTS) throw new TooManyRequestsError(hash, found.length);
  const requests: RequestVerification[] = [];
  const limited = { ...options, deadline: AbortSignal.timeout(EXECUTION_TIME_MS) };
  for (const parts of found) requests.push(await checkRequest(parts, means, limited));
  const verdict = VERDICTS.find((one) => requests.some((request) => request.verdict === one)) ?? "valid";
  return {
    network,
    chainId,
    transactionHash: hash,
    valid: verdict === "valid",
    verdict,
    requests,
    contracts: book.known(),
    trust: remainingTrust(requests, {
      ...options,
      operators: await findReportOperators(found, means),
      joinedKeys: found.map(({ join }) => join?.parts.length ?? 1),
      isChainlinkVrf: isOf(options.chainlinkCoordinator, book),
    }),
  };
}

function isOf(coordinator: Hex | undefined, book: ContractBook): boolean {
  return coordinator !== undefined && book.known().vrfCoordinator === coordinator.toLowerCase();
}

async function checkRequest(
  parts: RequestParts,
  means: RequestPartsMeans & { readonly chainId: number; readonly hasEthereumBlocks: boolean },
  options: VerifyOptions & ExecutionOptions,
): Promise<RequestVerification> {
  const { kind, randomness, join, functions, item, refusal } = parts;
  const requestHash = (randomness === undefined ? functions?.request : randomness.request)?.log
    .transactionHash;
  const proofs = (join?.parts ?? [randomness]).map((one) => one?.fulfilment?.log.transactionHash);
  const proofHash = join === undefined ? proofs[0] : join.joined?.log.transactionHash;
  const reportHash = functions?.processed?.log.transactionHash;
  const hashes = [requestHash, ...proofs, functions?.request?.log.transactionHash, reportHash].filter(
    (one): one is Hex => one !== undefined,
  );
  const steps: VerificationStep[] = [
    await checkTransactions(hashes, means),
    await checkContracts(parts, means),
  ];
  const checked =
    join !== undefined
      ? await checkJoin(join, means)
      : randomness && (await checkRandomness(randomness, means));
  steps.push(...(checked?.steps ?? []));
  const words = checked?.words ?? [];
  if (kind === "preset") steps.push(...(await checkPreset(parts, checked?.words, means)));
  if (kind === "function" && functions?.request !== undefined)
    steps.push(...(await checkFunction(functions.request, means)));
  if (refusal !== undefined)
    steps.push(
      notApplicableStep(
        "word",
        `the word came, but the preset's function request did not follow: ${decodeRevertReason(refusal).text}`,
      ),
    );
  if (functions !== undefined && functions.request === undefined)
    steps.push(describeMissingRequest("the report"));
  const report = functions === undefined ? undefined : await checkReport(functions, means);
  steps.push(...(report?.steps ?? []));
  const delivered = report?.delivered;
  if (delivered !== undefined && functions?.request !== undefined)
    steps.push(await checkExecution(functions.request, delivered, options));

  const failed = steps.find(({ outcome }) => outcome === "failed")?.name ?? null;
  const isComplete = kind === "random" ? proofHash !== undefined : delivered !== undefined;
  return {
    kind,
    requestId: functions?.requestId ?? randomness!.vrfRequestId,
    vrfRequestId: randomness?.vrfRequestId ?? null,
    verdict: verdictOf(steps, isComplete),
    failed,
    transactions: { request: requestHash ?? null, randomness: proofHash ?? null, report: reportHash ?? null },
    result: delivered?.result ?? null,
    err: delivered?.error ?? null,
    randomNumber: (kind === "preset" ? words.slice(item, item! + 1) : words).map(String),
    steps: steps.toSorted((a, b) => STEP_NAMES.indexOf(a.name) - STEP_NAMES.indexOf(b.name)),
  };
}

function verdictOf(steps: readonly VerificationStep[], isComplete: boolean): Verdict {
  const isOpen = (names: readonly string[]): boolean =>
    steps.some(({ name, outcome }) => outcome === "notApplicable" && names.includes(name));
  if (steps.some(({ outcome }) => outcome === "failed")) return "invalid";
  if (!isComplete) return "incomplete";
  if (isOpen(DECIDING_STEPS.unconfirmed)) return "unconfirmed";
  return isOpen(DECIDING_STEPS.conditional) ? "conditional" : "valid";
}

/** The node serves another chain. */
export class WrongChainError extends TycheError {
  constructor(network: string, expected: number, actual: number) {
    super(
      `The node serves the chain ${actual}, not ${expected} of ${network}; name the RPC URL of that network.`,
      {
        code: "invalid_parameter",
        blame: "caller",
      },
    );
  }
}

/** The node's answers are malformed. */
export class UnusableChainDataError extends TycheError {
  constructor(network: string, cause: unknown) {
    super(`The node of ${network} returned malformed data; try another node.`, {
      code: "chain_unavailable",
      blame: "upstream",
      cause,
    });
  }
}

/** A transaction with more requests than one call checks. */
export class TooManyRequestsError extends InvalidParameterError {
  constructor(hash: Hex, count: number) {
    const message = `${hash} involves ${count} requests; name one with requestId (limit: ${MAX_REQUESTS})`;
    super([{ path: "/requestId", message }]);
  }
}
