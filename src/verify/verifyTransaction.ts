/**
 * Checks the oracle's results from chain data alone. It asks neither service nor oracle, and does not trust the node that supplies
 * the data where its answers can be checked against each other:
 *
 * 1. each transaction matches its hash and is in a block whose header matches the block's hash (`transactionsStep.ts`),
 * 2. the VRF proof is valid for the exact hash of the request's block, under the registered key (`randomnessSteps.ts`), and so is
 *    that of each word of a join (`joinSteps.ts`),
 * 3. where a preset waits for a round of drand, the request fixed it before it was due, and the signature is that round's
 *    (`beaconStep.ts`),
 * 4. a preset's source and arguments were fixed in the request's block, before the word existed (`sourceSteps.ts`),
 * 5. the report with the result is signed by the nodes in the coordinator's configuration (`signerSet.ts`), for this batch with this
 *    seed (`batchReportSteps.ts`) or for this function request (`reportSteps.ts`), and the source, run again, gives that result
 *    (`executionStep.ts`).
 *
 * Every answer lists what no such check can show: see `trust.ts`.
 */
import type { RequestVerification, Verdict, Verification, VerificationStep } from "../api/types.ts";
import { BaseError, keccak256, size, stringToHex, type Hex } from "viem";
import { CallResultError } from "../lib/callResult.ts";
import { fromHexText } from "../lib/hex.ts";
import { MAX_SOURCE_BYTES } from "../domain/sourceLimit.ts";
import { TycheError } from "../lib/errors.ts";
import { STEP_NAMES, worstVerdict } from "../domain/verdicts.ts";
import { DECIDING_STEPS } from "../text/verification.ts";
import type { CallbackSources } from "../chainlink/failedCallbacks.ts";
import { createPendingReasons } from "../chainlink/pendingReason.ts";
import { decodeArgs, decodeFunctionsRequest, type FunctionsRequest } from "../chainlink/functionsRequest.ts";
import { beaconWord, wordsOfBatch } from "../chainlink/presetBatch.ts";
import { createChainFacts, type ChainReader, type SearchBounds } from "./chainFacts.ts";
import { limitReader, MAX_READ_BYTES, type ReadingLimits } from "./recordedReader.ts";
import { createContractBook, type ContractBook, type OracleContracts } from "../chainlink/contractBook.ts";
import type { DrandChain } from "../beacon/drand.ts";
import { QUICKNET_HASH } from "../domain/vocabulary.ts";
import { checkBeacon } from "./beaconStep.ts";
import { checkContracts } from "./contractsStep.ts";
import { checkBatchReport } from "./batchReportSteps.ts";
import { checkFunctionExecution, checkPresetExecution, type ExecutionOptions } from "./executionStep.ts";
import { checkJoin } from "./joinSteps.ts";
import { checkRandomness } from "./randomnessSteps.ts";
import { findReportOperators, type ReportSigners } from "./reportOperators.ts";
import { checkReport, type CheckedReport } from "./reportSteps.ts";
import { createLabelSearch } from "./labelSearch.ts";
import { findRequestParts, idOf, type RequestParts } from "./requestParts.ts";
import { senderOf } from "./encodeBlock.ts";
import { checkFunctionSource, checkPresetSource } from "./sourceSteps.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";
import { checkTransactions } from "./transactionsStep.ts";
import { remainingTrust } from "./trust.ts";

/** After runs that took this long together, in ms, no further source is run again. */
const EXECUTION_TIME_MS = 20_000;
/** Longest time in which the chain is read, in ms. A node can make up a block of 20,000 transactions, and take seconds for each. */
const READING_TIME_MS = 600_000;

export interface VerifyOptions extends Omit<ExecutionOptions, "budget"> {
  readonly client: ChainReader;
  /** Name of the network, for messages. */
  readonly network: string;
  readonly chainId: number;
  /** Addresses of the oracle's contracts from a source that the reader trusts; missing ones are taken from the transactions. */
  readonly contracts?: Partial<OracleContracts>;
  /**
   * Hashes of the oracle's VRF keys from the same source. Default: a key counts if the node says that the coordinator has registered it.
   * Ignored for Chainlink's coordinator, which has keys of others.
   */
  readonly keyHashes?: readonly Hex[] | undefined;
  /** Only this request: a preset, a function, or all that share a VRF request. Default: all that the transaction takes part in. */
  readonly requestId?: Hex;
  /** Whether block headers are Ethereum's, so that they can be hashed again. Default true, as on the embedded chains. */
  readonly hasEthereumBlocks?: boolean;
  /** Chainlink's VRF v2.5 coordinator on this chain, if known. Affects only the text of `trust`. */
  readonly chainlinkCoordinator?: Hex | undefined;
  /**
   * Returns what a service recorded of failed callbacks, quoted as its word. Affects only the texts of steps. Default: only the node is asked.
   */
  readonly findRecordedCallbacks?: CallbackSources["findRecorded"] | undefined;
  /** Returns the preset with a source that the caller knows, by its keccak256. It only names things. Default: none is known. */
  readonly findPreset?: FindPreset | undefined;
  /** The chains of rounds that presets wait for, besides drand's quicknet, which is always known. */
  readonly drandChains?: readonly DrandChain[] | undefined;
  /** Whether the node, such as a chain of this process, must not be asked to search many blocks at once. Default false. */
  readonly searchesInParts?: boolean | undefined;
  /** Where further requests with a request's label are looked for. Default: on the whole chain, as far as the node answers. */
  readonly labelSearch?: SearchBounds | undefined;
  /** Longest time in which the chain is read, in ms, and most that is read of it, in characters of JSON. Default: 10 minutes, 256 Mi. */
  readonly readingLimits?: Partial<ReadingLimits>;
  /** Whether the oracle's operator runs the chain alone, if known. Affects only the text of `trust`. */
  readonly isEmbedded: boolean | undefined;
}

/** Finds a preset by keccak256 of its source. */
export type FindPreset = (sourceHash: Hex) => KnownPreset | undefined | Promise<KnownPreset | undefined>;

/** What a preset's source and arguments are called. */
export interface KnownPreset {
  readonly name: string;
  /** In the order of the arguments. */
  readonly parameters: readonly string[];
}

/**
 * Checks every request that a transaction takes part in: as its request, its VRF proof or its report. An invalid result is an
 * answer, which names the step.
 *
 * @param hash transaction hash, 32 bytes of lower-case hex
 * @throws {TycheError} `not_found`; `invalid_parameter` for too many requests or another chain; what the
 * client throws if the node can't be reached, {@link RpcError} when reading takes too long, and the sandbox if it is overloaded.
 */
export async function verifyTransaction(hash: Hex, options: VerifyOptions): Promise<Verification> {
  const { network } = options;
  const limits = { timeMs: READING_TIME_MS, chars: MAX_READ_BYTES, ...options.readingLimits };
  const reader = limitReader(options.client, limits);
  try {
    const found = await verifyHash(hash, { ...options, client: reader });
    // Checks that do without an answer go on.
    reader.assertWhole();
    return found;
  } catch (error) {
    reader.assertWhole();
    // A node may answer anything: an answer that can't be decoded is not our defect.
    const isTheirs =
      error instanceof BaseError ||
      error instanceof CallResultError ||
      error instanceof SyntaxError ||
      error instanceof RangeError;
    if (isTheirs)
      throw new TycheError(`The node of ${network} returned malformed data; try another node.`, {
        code: "chain_unavailable",
        blame: "upstream",
        cause: error,
      });
    throw error;
  }
}

async function verifyHash(hash: Hex, options: VerifyOptions): Promise<Verification> {
  const { network, chainId, client } = options;
  const actualChainId = Number(await client.request("eth_chainId"));
  if (actualChainId !== chainId) throw new WrongChainError(network, chainId, actualChainId);
  const hasEthereumBlocks = options.hasEthereumBlocks ?? true;
  const { searchesInParts } = options;
  const facts = createChainFacts(client, { network, chainId, hasEthereumBlocks, searchesInParts });
  const book = createContractBook(options.contracts);
  const isChainlinkVrf = isOf(options.chainlinkCoordinator, book);
  const reading = {
    facts,
    book,
    keyHashes: isChainlinkVrf ? undefined : options.keyHashes,
    network,
    chainId,
    client,
    hasEthereumBlocks,
    pending: createPendingReasons(client),
    findRecordedCallbacks: options.findRecordedCallbacks,
  };
  const found = await findRequestParts(hash, reading, options.requestId);
  const means = { ...reading, findLabel: createLabelSearch(reading, options.labelSearch) };
  const requests: RequestVerification[] = [];
  const signers: ReportSigners[] = [];
  const beacons: boolean[] = [];
  const limited = { ...options, budget: { leftMs: EXECUTION_TIME_MS } };
  for (const parts of found) {
    const checked = await checkRequest(parts, means, limited);
    requests.push(checked.request);
    if (parts.kind !== "random") signers.push(checked.signers);
    beacons.push(checked.isOfBeacon && checked.request.beacon?.chainHash === QUICKNET_HASH);
  }
  const verdict = worstVerdict(requests);
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
      operators: await findReportOperators(signers, means),
      beacons,
      joinedKeys: found.map((parts) => (parts.kind === "function" ? 1 : (parts.join?.parts.length ?? 1))),
      isChainlinkVrf: isOf(options.chainlinkCoordinator, book),
    }),
  };
}

function isOf(coordinator: Hex | undefined, book: ContractBook): boolean {
  return coordinator !== undefined && book.known().vrfCoordinator === coordinator.toLowerCase();
}

type Means = RequestPartsMeans & {
  readonly chainId: number;
  readonly hasEthereumBlocks: boolean;
  readonly findLabel: ReturnType<typeof createLabelSearch>;
};
type Options = VerifyOptions & ExecutionOptions;

async function checkRequest(
  parts: RequestParts,
  means: Means,
  options: Options,
): Promise<{
  readonly request: RequestVerification;
  readonly signers: ReportSigners;
  /** Whether its word follows from a round that was checked, too. */
  readonly isOfBeacon: boolean;
}> {
  const ends = endsOf(parts);
  const steps = [
    await checkTransactions(ends.all, {
      ...means,
      // A report is signed for its chain, a proof only for the request's block.
      ...(parts.kind === "random" ? { mustNameChain: ends.request } : {}),
    }),
    await checkContracts(parts, means),
  ];
  const checked = await (parts.kind === "function"
    ? checkFunction(parts.functions, means, options)
    : checkWords(parts, means, options));
  steps.push(...checked.steps);
  const { report, words = [] } = checked;
  const failed = steps.find(({ outcome }) => outcome === "failed")?.name ?? null;
  const { request, randomness, report: reported } = ends;
  const delivered = report?.delivered;
  const isComplete = parts.kind === "random" ? randomness !== undefined : delivered !== undefined;
  const [asked, answered] = await Promise.all(
    [request, parts.kind === "random" ? randomness : reported].map(async (hash) =>
      hash === undefined ? undefined : means.facts.getTransaction(hash),
    ),
  );
  return {
    request: {
      kind: parts.kind,
      requestId: idOf(parts),
      vrfRequestId: parts.kind === "function" ? null : parts.randomness.vrfRequestId,
      verdict: verdictOf(steps, isComplete),
      failed,
      transactions: { request: request ?? null, randomness: randomness ?? null, report: reported ?? null },
      result: delivered?.result ?? null,
      err: delivered?.error ?? null,
      randomNumber: words.map(String),
      keyHashes: keyHashesOf(parts),
      sourceHash: checked.source === undefined ? null : keccak256(checked.source),
      source: textOf(checked.source),
      args: argsOf(parts),
      preset: await presetOf(parts, checked.source, options),
      beacon: checked.beacon ?? null,
      requestedAt: timeOf(asked?.blockTime),
      deliveredAt: timeOf(answered?.blockTime),
      deliveredBy: ((answered && senderOf(answered.signed)?.toLowerCase()) as Hex | undefined) ?? null,
      label: await means.findLabel(
        parts,
        steps.some(({ name, outcome }) => name === "proof" && outcome === "ok"),
      ),
      steps: steps.toSorted((a, b) => STEP_NAMES.indexOf(a.name) - STEP_NAMES.indexOf(b.name)),
    },
    signers: reported === undefined ? "unsigned" : report?.signers,
    isOfBeacon: checked.signature !== undefined,
  };
}

function timeOf(blockTime: number | undefined): string | null {
  return blockTime === undefined ? null : new Date(blockTime * 1000).toISOString();
}

/** Decodes a source; `null` for one that is longer than any that the oracle takes. */
function textOf(source: Hex | undefined): string | null {
  const isShown = source !== undefined && size(source) <= MAX_SOURCE_BYTES;
  return isShown ? new TextDecoder().decode(fromHexText(source)) : null;
}

/** Returns a preset's source, and what the caller calls it. */
async function presetOf(
  parts: RequestParts,
  source: Hex | undefined,
  { findPreset }: Options,
): Promise<RequestVerification["preset"]> {
  const item = parts.kind === "preset" ? parts.preset.items[parts.preset.item] : undefined;
  if (item === undefined) return null;
  const known = source === undefined ? undefined : await findPreset?.(keccak256(source));
  return {
    sourceId: item.sourceId,
    name: known?.name ?? null,
    parameters: [...(known?.parameters ?? [])],
  };
}

/** Returns the VRF keys that a request names. */
function keyHashesOf(parts: RequestParts): Hex[] {
  if (parts.kind === "function") return [];
  return [...(parts.join?.joining.keyHashes ?? [parts.randomness.request?.keyHash ?? []].flat())];
}

/** Decodes what a function request asks for; `undefined` if it is malformed or unknown. */
function decodeAsked(request: { readonly data: Hex } | undefined): FunctionsRequest | undefined {
  try {
    return request && decodeFunctionsRequest(fromHexText(request.data));
  } catch {
    return undefined;
  }
}

function decodeFunction(parts: RequestParts): FunctionsRequest | undefined {
  return parts.kind === "function" ? decodeAsked(parts.functions.request) : undefined;
}

/** Returns the arguments of a request's source. */
function argsOf(parts: RequestParts): string[] | null {
  const asked = decodeFunction(parts);
  if (asked !== undefined) return [...asked.args];
  try {
    const args = parts.kind === "preset" ? parts.preset.items[parts.preset.item]?.args : undefined;
    return args === undefined ? null : [...decodeArgs(args)];
  } catch {
    return null;
  }
}

/** The transactions with a request's parts. */
function endsOf(parts: RequestParts) {
  const hashOf = (event: { readonly log: { readonly transactionHash: Hex } } | undefined): Hex | undefined =>
    event?.log.transactionHash;
  const isHash = (hash: Hex | undefined): hash is Hex => hash !== undefined;
  if (parts.kind === "function") {
    const [request, report] = [parts.functions.request, parts.functions.processed].map(hashOf);
    return { request, randomness: undefined, report, all: [request, report].filter(isHash) };
  }
  const { randomness, join } = parts;
  const request = hashOf(randomness.request);
  const report = parts.kind === "preset" ? hashOf(parts.preset.reported) : undefined;
  const proofs = (join?.parts ?? [randomness]).map(({ fulfilment }) => hashOf(fulfilment));
  return {
    request,
    randomness: join === undefined ? proofs[0] : hashOf(join.joined),
    report,
    all: [request, ...proofs, report].filter(isHash),
  };
}

/** The steps of one kind of request. */
interface CheckedParts {
  readonly steps: readonly VerificationStep[];
  readonly words?: readonly bigint[];
  readonly report?: CheckedReport;
  /** UTF-8. */
  readonly source?: Hex | undefined;
  readonly beacon?: RequestVerification["beacon"];
  /** Of the round that the word follows from, if it holds. */
  readonly signature?: Uint8Array | undefined;
}

async function checkFunction(
  functions: Extract<RequestParts, { readonly kind: "function" }>["functions"],
  means: Means,
  options: Options,
): Promise<CheckedParts> {
  const { request } = functions;
  const report = await checkReport(functions, means);
  if (request === undefined) return { steps: report.steps, report };
  const asked = decodeAsked(request);
  const { steps, beacon, signature } = await checkBeacon(
    {
      beacon: asked?.beacon,
      requested: request,
      reported: report.beaconSignature,
      isError: report.delivered !== undefined && report.delivered.error !== "0x",
    },
    means,
    options.drandChains,
  );
  const all = [...(await checkFunctionSource(request, means)), ...steps, ...report.steps];
  const isWordKnown = asked?.beacon === undefined || signature !== undefined;
  if (report.delivered !== undefined && isWordKnown)
    all.push(await checkFunctionExecution(request, report.delivered, { ...options, signature }));
  return { steps: all, report, source: asked && stringToHex(asked.source), beacon, signature };
}

async function checkWords(
  parts: Exclude<RequestParts, { readonly kind: "function" }>,
  means: Means,
  options: Options,
): Promise<CheckedParts> {
  const { randomness, join } = parts;
  const checked = await (join === undefined ? checkRandomness(randomness, means) : checkJoin(join, means));
  if (parts.kind === "random") return checked;
  const { preset } = parts;
  const { items, item } = preset;
  const { steps, source } = await checkPresetSource(preset, means);
  const round = {
    ...preset,
    reported: preset.results[items.length],
    isError: preset.results[item]?.ok === false,
  };
  const { signature, beacon, ...checkedBeacon } = await checkBeacon(round, means, options.drandChains);
  const report = await checkBatchReport(preset, checked.seed, beacon, means);
  const all = [...checked.steps, ...checkedBeacon.steps, ...steps, ...report.steps];
  const found = { steps: all, report, source, beacon, signature };
  const args = items[item]?.args;
  if (checked.seed === undefined || args === undefined) return found;
  if (preset.beacon !== undefined && signature === undefined) return found;
  const own = wordsOfBatch(checked.seed, item + 1)[item]!;
  const word = signature === undefined ? own : beaconWord(own, { signature, requestId: preset.requestId });
  if (source !== undefined)
    all.push(await checkPresetExecution({ source, args, word }, report.delivered, options));
  return { ...found, words: [word] };
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
