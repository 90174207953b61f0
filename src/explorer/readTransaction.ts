import type { EventView, TransactionView, JoinView, RandomnessView, ReportView } from "../api/types.ts";
import type { Hex } from "viem";
import type { RawLog, Receipt } from "../lib/nodeAnswers.ts";
import { EVENT_TOPICS, WORDS_TOPICS, findEvent } from "../chainlink/events.ts";
import { findRevertReason } from "../chainlink/findRevertReason.ts";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { ArchivedBlock, ArchivedTransaction } from "./chainArchive.ts";
import type { AddressBook } from "../chainlink/addressBook.ts";
import {
  callbackOf,
  readAnswer,
  readAsked,
  readFunctionRequests,
  readFunctionResults,
} from "./readFunctions.ts";
import { readPresetRuns } from "./readPresetRuns.ts";
import { readRandomRequests, readRandomness, readWords } from "./readRandomness.ts";
import type { ExploredChain } from "./exploredChain.ts";
import { toWord } from "../lib/uint256.ts";
import { decodeDelivery, decodeTransmission } from "../chainlink/calldata.ts";
import { PRESET_CONSUMER_READS } from "../chainlink/presetConsumerReads.ts";
import {
  batchReportDigest,
  decodeBatchReport,
  type ReportPlace,
  type SignedReport,
} from "../chainlink/presetReport.ts";
import { findSigner, reportDigest } from "../chainlink/reportSigners.ts";
import { toHexText } from "../lib/hex.ts";
import { explainFailedCallbacks } from "../chainlink/failedCallbacks.ts";
import { explainWaiting } from "./explainWaiting.ts";

/**
 * How many blocks from a transaction to search for its counterpart (request or answer). Confirmations are at most
 * 200.
 */
const SEARCH_BLOCKS = 1_000n;

/** Logs that are decoded and listed: a transaction can have tens of thousands, at a tenth of a millisecond each. */
const MAX_EVENTS = 1_000;

/** Reads a transaction with its receipt, its block and the requests and answers that belong to it. */
export async function readTransaction(
  transaction: ArchivedTransaction,
  chain: ExploredChain,
  book: AddressBook,
): Promise<TransactionView> {
  const { archive } = chain;
  const { blockNumber } = transaction;
  const [receipt, block, head] = await Promise.all([
    archive.findReceipt(transaction.hash),
    blockNumber === null ? undefined : archive.findBlock(blockNumber),
    archive.getHeadNumber(),
  ]);
  const logs = receipt?.logs ?? [];
  const ours = logs.filter(isFromOracle(chain.contracts));
  const randomness = isSentTo(
    transaction,
    chain.contracts.vrfCoordinator,
    chain.contracts.batchVrfCoordinator,
    chain.contracts.presetConsumer,
  )
    ? readRandomness(transaction.input, ours, book)
    : [];
  const randomRequests = readRandomRequests(ours, book);
  const functionRequests = readFunctionRequests(ours, book, chain.drandChains);
  const functionResults = readFunctionResults(ours, book);
  const [answers, requests] = await Promise.all([
    blockNumber === null
      ? emptyAnswers()
      : findAnswers(chain, blockNumber, head, randomRequests, functionRequests),
    blockNumber === null ? emptyRequests() : findRequests(chain, blockNumber, randomness, functionResults),
  ]);
  const [waiting, callbacks, joins, presets, reports] = await Promise.all([
    explainWaiting(ours, answers, chain),
    explainCallbacks([...ours, ...answers.values()], chain),
    blockNumber === null ? [] : readJoins(ours, randomness, chain, searchEnd(blockNumber, head)),
    blockNumber === null
      ? []
      : readPresetRuns(
          ours,
          chain,
          { fromBlock: searchStart(blockNumber), toBlock: searchEnd(blockNumber, head) },
          randomness,
        ),
    readReports(transaction, chain, book),
  ]);
  const words = new Map(randomness.map((one) => [one.requestId, one.words]));
  return {
    network: chain.network,
    hash: transaction.hash,
    status: statusOf(receipt),
    ...(await findReason(transaction, receipt, chain)),
    block:
      block === undefined
        ? null
        : {
            number: block.number.toString(),
            hash: block.hash,
            at: timeOf(block),
            confirmations: (head - block.number + 1n).toString(),
          },
    index: transaction.index,
    from: book.party(transaction.from),
    to: transaction.to && book.party(transaction.to),
    created: transaction.created && book.party(transaction.created),
    nonce: transaction.nonce,
    valueWei: transaction.valueWei.toString(),
    gasLimit: transaction.gasLimit.toString(),
    gasUsed: receipt?.gasUsed.toString() ?? null,
    gasPriceWei: (receipt?.effectiveGasPriceWei ?? transaction.gasPriceWei).toString(),
    input: transaction.input,
    call: book.decodeCall(transaction.to, transaction.input),
    randomRequests: randomRequests.map((one) => ({
      ...one,
      ...linkOf("answeredBy", answers.get(one.requestId)?.transactionHash),
      ...readWords(one, answers.get(one.requestId), callbacks.get(one.requestId)),
      ...waiting.get(one.requestId),
    })),
    randomness: randomness.map((one) => ({
      ...one,
      ...reasonOf(one.outcome === "callback failed" ? callbacks.get(one.requestId) : undefined),
      ...linkOf("requestedBy", requests.get(one.requestId)?.transactionHash),
    })),
    joins,
    presets,
    functionRequests: functionRequests.map((one) => ({
      ...one,
      ...linkOf("answeredBy", answers.get(one.requestId)?.transactionHash),
      ...readAnswer(answers.get(one.requestId), book, callbacks.get(one.requestId)),
      ...waiting.get(one.requestId),
    })),
    functionResults: functionResults.map((one) => {
      const request = requests.get(one.requestId);
      return {
        ...one,
        ...callbackOf(one, callbacks.get(one.requestId)),
        program: request?.program ?? null,
        beacon: request?.beacon ?? null,
        ...(request?.consumer === undefined ? {} : { consumer: book.party(request.consumer) }),
        ...linkOf("requestedBy", request?.transactionHash),
      };
    }),
    reports,
    events: logs.slice(0, MAX_EVENTS).map((log) => viewEvent(log, book, words)),
    ...(logs.length > MAX_EVENTS ? { moreEvents: logs.length - MAX_EVENTS } : {}),
  };
}

/** The log of the answer, by request id. */
type Answers = ReadonlyMap<Hex, RawLog>;
/** The transaction that made the request and, for functions, what was asked, by request id. */
type Requests = Map<
  Hex,
  { readonly transactionHash: Hex; readonly consumer?: Hex } & Partial<ReturnType<typeof readAsked>>
>;
type Identified = { readonly requestId: Hex };

const emptyAnswers = (): Answers => new Map();
const emptyRequests = (): Requests => new Map();

async function findAnswers(
  chain: ExploredChain,
  from: bigint,
  head: bigint,
  words: readonly Identified[],
  functions: readonly Identified[],
): Promise<Answers> {
  const { archive, contracts } = chain;
  const fromBlock = from;
  const toBlock = searchEnd(from, head);
  const find = async (
    address: Hex,
    topic: Hex | readonly Hex[],
    requests: readonly Identified[],
  ): Promise<readonly RawLog[]> =>
    requests.length === 0
      ? []
      : await archive.findLogs({
          address,
          topics: [topic, requests.map(({ requestId }) => requestId)],
          fromBlock,
          toBlock,
        });
  const logs = await Promise.all([
    find(contracts.vrfCoordinator, WORDS_TOPICS.fulfilled, words),
    find(contracts.functionsRouter, EVENT_TOPICS.RequestProcessed, functions),
  ]);
  return new Map(logs.flat().map((log) => [log.topics[1]!, log]));
}

function searchStart(to: bigint): bigint {
  return to > SEARCH_BLOCKS ? to - SEARCH_BLOCKS : 0n;
}

function searchEnd(from: bigint, head: bigint): bigint {
  return from + SEARCH_BLOCKS < head ? from + SEARCH_BLOCKS : head;
}

async function findRequests(
  chain: ExploredChain,
  to: bigint,
  randomness: readonly (Identified & { readonly commitment: { readonly blockNum: string } })[],
  results: readonly Identified[],
): Promise<Requests> {
  const { archive, contracts, drandChains } = chain;
  const found: Requests = new Map();
  // The commitment names the block, and the id isn't indexed in this event.
  const blocks = new Set(randomness.map(({ commitment }) => BigInt(commitment.blockNum)));
  const read = async (
    address: Hex,
    topics: readonly (Hex | readonly Hex[])[],
    fromBlock: bigint,
    toBlock: bigint,
  ): Promise<void> => {
    for (const log of await archive.findLogs({ address, topics, fromBlock, toBlock })) {
      const event = findEvent(log);
      const { transactionHash } = log;
      if (event?.name === "RandomWordsRequested") found.set(event.requestId, { transactionHash });
      if (event?.name === "OracleRequest")
        found.set(event.requestId, {
          transactionHash,
          consumer: event.requestingContract,
          ...readAsked(event.data, drandChains),
        });
    }
  };
  const fromBlock = searchStart(to);
  const ids = results.map(({ requestId }) => requestId);
  await Promise.all([
    ...[...blocks]
      .filter((block) => block <= to)
      .map((block) => read(contracts.vrfCoordinator, [WORDS_TOPICS.requested], block, block)),
    ...(ids.length === 0
      ? []
      : [read(contracts.functionsCoordinator, [EVENT_TOPICS.OracleRequest, ids], fromBlock, to)]),
  ]);
  return found;
}

/** Anyone can emit a log that looks like the oracle's; only the oracle's contracts and our consumer are trusted. */
export function isFromOracle(contracts: StackAddresses): (log: RawLog) => boolean {
  const { vrfCoordinator, batchVrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer } =
    contracts;
  const believed = new Set(
    [vrfCoordinator, batchVrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer].map((one) =>
      one.toLowerCase(),
    ),
  );
  return ({ address }) => believed.has(address);
}

function isSentTo({ to }: ArchivedTransaction, ...contracts: readonly Hex[]): boolean {
  return to !== null && contracts.some((contract) => contract.toLowerCase() === to);
}

function statusOf(receipt: Receipt | undefined): TransactionView["status"] {
  if (receipt === undefined) return "pending";
  return receipt.succeeded ? "succeeded" : "reverted";
}

function linkOf<Name extends string>(name: Name, hash: Hex | undefined): { [K in Name]?: Hex } {
  return hash === undefined ? {} : ({ [name]: hash } as { [K in Name]: Hex });
}

function reasonOf(reason: string | undefined): { readonly reason?: string } {
  return reason === undefined ? {} : { reason };
}

/**
 * Finds why a transaction reverted, for example `InvalidConsumer(…)` if a contract is not linked to the subscription.
 */
async function findReason(
  { from, to, input, gasLimit }: ArchivedTransaction,
  receipt: Receipt | undefined,
  { client }: ExploredChain,
): Promise<{ readonly revertReason?: string }> {
  if (receipt === undefined || receipt.succeeded || to === null) return {};
  const call = { from, to, data: input, gas: gasLimit };
  return { revertReason: (await findRevertReason(client, call, receipt)).text };
}

/**
 * Describes an event, decoded where its interface is known.
 *
 * @param words those that the transaction's proofs give, by request id
 */
function viewEvent(log: RawLog, book: AddressBook, words: ReadonlyMap<string, readonly string[]>): EventView {
  const decoded = book.decodeEvent(log.address, log);
  const given = words.get(log.topics[1] ?? "")?.map((value) => ({ name: "", type: "uint256", value }));
  const { logIndex, topics, data } = log;
  return {
    logIndex,
    contract: book.party(log.address),
    ...decoded,
    fields: (decoded?.fields ?? []).map((field) =>
      field.name === "outputSeed" && field.holds !== undefined && given !== undefined
        ? { ...field, holds: given }
        : field,
    ),
    topics,
    data,
  };
}

/** Returns the time of a block, ISO 8601. */
export function timeOf({ timestamp }: ArchivedBlock): string {
  return new Date(Number(timestamp) * 1000).toISOString();
}

/** The part of a chain that {@link readJoins} reads. */
type JoinChain = Pick<ExploredChain, "contracts"> & {
  readonly archive: Pick<ExploredChain["archive"], "findLogs">;
};
type Delivered = Pick<RandomnessView, "requestId"> & {
  readonly commitment: Pick<RandomnessView["commitment"], "blockNum">;
};

/**
 * Reads which words belong together: the joins that a transaction began, and those whose parts it delivered. Trusts only our own
 * consumer's events.
 *
 * @param logs the transaction's own, from the oracle's contracts
 * @param randomness the proofs that it delivered
 * @param toBlock last block to search for the other parts
 */
export async function readJoins(
  logs: readonly RawLog[],
  randomness: readonly Delivered[],
  { archive, contracts }: JoinChain,
  toBlock: bigint,
): Promise<readonly JoinView[]> {
  const { presetConsumer, vrfCoordinator } = contracts;
  const find = (address: Hex, topics: readonly (Hex | readonly Hex[])[], fromBlock: bigint, to: bigint) =>
    fromBlock > to ? [] : archive.findLogs({ address, topics, fromBlock, toBlock: to });
  // A join begins in the block of its parts' requests, which the commitments name.
  const blocks = [...new Set(randomness.map(({ commitment }) => BigInt(commitment.blockNum)))];
  const earlier = await Promise.all(
    blocks.map(async (block) =>
      find(presetConsumer, [EVENT_TOPICS.Joining], block, block < toBlock ? block : toBlock),
    ),
  );
  const own = logs.filter(({ address }) => address === presetConsumer.toLowerCase());
  const begun = own.flatMap(joiningOf);
  const brought = new Set(randomness.map(({ requestId }) => requestId));
  const others = earlier
    .flat()
    .flatMap(joiningOf)
    .filter(({ parts }) => parts.some((part) => brought.has(part)));
  const joins = [...new Map([...begun, ...others].map((join) => [join.requestId, join])).values()];
  if (joins.length === 0) return [];
  const from = joins.reduce((least, { block }) => (block < least ? block : least), toBlock);
  const [fulfilled, joined] = await Promise.all([
    find(vrfCoordinator, [WORDS_TOPICS.fulfilled, joins.flatMap(({ parts }) => parts)], from, toBlock),
    find(presetConsumer, [EVENT_TOPICS.WordsJoined, joins.map(({ requestId }) => requestId)], from, toBlock),
  ]);
  const deliveries = new Map(fulfilled.map((log) => [log.topics[1], log.transactionHash]));
  const ends = new Map(joined.map((log) => [log.topics[1], log]));
  return joins.map(({ requestId, keyHashes, parts, requestedBy }) => ({
    requestId,
    requestedBy,
    parts: parts.map((part, index) => ({
      requestId: part,
      keyHash: keyHashes[index]!,
      answeredBy: deliveries.get(part) ?? null,
    })),
    ...endOf(ends.get(requestId)),
  }));
}

function joiningOf(log: RawLog) {
  const event = findEvent(log);
  if (event?.name !== "Joining") return [];
  const { requestId, keyHashes, parts } = event;
  return [{ requestId, keyHashes, parts, block: log.blockNumber, requestedBy: log.transactionHash }];
}

function endOf(log: RawLog | undefined): Pick<JoinView, "seed" | "joinedBy"> {
  const event = log && findEvent(log);
  return event?.name === "WordsJoined"
    ? { seed: toWord(event.seed), joinedBy: log!.transactionHash }
    : { seed: null, joinedBy: null };
}

/** Reads the signed reports in a call of FunctionsCoordinator `transmit` or PresetConsumer `deliver`; none in any other call. */
async function readReports(
  { to, input }: Pick<ArchivedTransaction, "to" | "input">,
  chain: Pick<ExploredChain, "client" | "contracts" | "chainId">,
  book: AddressBook,
): Promise<readonly ReportView[]> {
  const { functionsCoordinator, presetConsumer } = chain.contracts;
  if (to === functionsCoordinator.toLowerCase()) return readTransmission(input, book);
  const signed = to === presetConsumer.toLowerCase() ? (decodeDelivery(input)?.reports ?? []) : [];
  if (signed.length === 0) return [];
  // Any number can share their bytes.
  const reports = [...new Map(signed.map((one) => [one.report, one])).values()];
  const { data, decode } = PRESET_CONSUMER_READS.adoptedNodes();
  const answer = await chain.client.request("eth_call", [{ to: presetConsumer, data }, "latest"]);
  const { configDigest, signers } = decode(answer as Hex);
  const place = { chainId: chain.chainId, presetConsumer, configDigest };
  return reports.flatMap((one) => viewPresetReport(one, place, { book, signers }));
}

function readTransmission(input: Hex, book: AddressBook): ReportView[] {
  const transmission = decodeTransmission(input);
  if (transmission === undefined) return [];
  const { context, items, signatures } = transmission;
  const digest = reportDigest(transmission);
  const [configDigest, epochAndRound] = context;
  const view = {
    configDigest,
    // OCR2Base: 27 bytes of padding, 4 of epoch, 1 of round.
    epoch: Number((BigInt(epochAndRound) >> 8n) & 0xffff_ffffn),
    round: Number(BigInt(epochAndRound) & 0xffn),
    requestIds: items.map(({ requestId }) => requestId),
    digest,
    signatures: signatures.map((signature) => {
      const signer = findSigner(digest, signature);
      return { ...signature, signer: signer === undefined ? null : book.party(signer) };
    }),
  };
  return [view];
}

function viewPresetReport(
  { report, signatures }: SignedReport,
  place: ReportPlace,
  { book, signers }: { readonly book: AddressBook; readonly signers: readonly Hex[] },
): ReportView[] {
  let requestIds: Hex[];
  try {
    requestIds = decodeBatchReport(report).map(({ vrfRequestId }) => vrfRequestId);
  } catch {
    return [];
  }
  const digest = toHexText(batchReportDigest(report, place));
  const view = {
    configDigest: place.configDigest,
    requestIds,
    digest,
    signatures: signatures.map(({ r, s, recoveryId }) => {
      const signature = { r: toHexText(r), s: toHexText(s), recoveryId };
      const signer = findSigner(digest, signature);
      const isAdopted = signer !== undefined && signers.includes(signer);
      return { ...signature, signer: isAdopted ? book.party(signer) : null };
    }),
  };
  return [view];
}

/** Explains, by request id, why consumers' callbacks failed, for those of these logs that say so. */
export async function explainCallbacks(
  logs: readonly RawLog[],
  { archive, client, findRecordedCallbacks: findRecorded }: ExploredChain,
): Promise<ReadonlyMap<Hex, string>> {
  const findInput = async (hash: Hex) => (await archive.findTransaction(hash))?.input;
  const found = await explainFailedCallbacks(logs, { client, findInput, findRecorded });
  return new Map([...found].map(([requestId, { reason }]) => [requestId, reason]));
}
