import type { Hex } from "viem";
import { EVENT_TOPICS } from "../chainlink/events.ts";
import type { DrandRound } from "../beacon/drand.ts";
import { TycheError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { fromHexText } from "../lib/hex.ts";
import { decodeBatch } from "../chainlink/calldata.ts";
import { MAX_PRESETS_PER_BATCH, presetRequestId, type PresetItem } from "../chainlink/presetBatch.ts";
import { decodeResults, PresetReportError, type PresetResult } from "../chainlink/presetReport.ts";
import {
  eventsIn,
  findJoin,
  findRandomness,
  pick,
  type JoinParts,
  type RandomnessParts,
  type RequestPartsMeans,
} from "./randomnessParts.ts";
import { findRevertReason } from "../chainlink/findRevertReason.ts";
import { parseObject, parseReceipt } from "../lib/nodeAnswers.ts";
import type { ChainReader } from "./chainFacts.ts";
import type { ContractBook, OracleEventOf, OtherContract } from "../chainlink/contractBook.ts";

/** Requests that one call checks, at least a whole batch: a transaction can carry hundreds. */
const MAX_REQUESTS = MAX_PRESETS_PER_BATCH;

/** The on-chain locations of one request's parts; missing parts are absent. */
export type RequestParts =
  | { readonly kind: "function"; readonly functions: FunctionsParts }
  | ({ readonly kind: "random" } & WordsParts)
  | ({ readonly kind: "preset"; readonly preset: PresetParts } & WordsParts);

interface WordsParts {
  /** For joined words: the first part. */
  readonly randomness: RandomnessParts;
  readonly join?: JoinParts | undefined;
}

/** A preset's batch, and its place in it. */
export interface PresetParts extends BatchParts {
  readonly requestId: Hex;
  /** The place, which decides the word. */
  readonly item: number;
}

/** Presets that share a request for words. */
export interface BatchParts {
  /** The batch, logged with the request for its words. */
  readonly requested: OracleEventOf<"BatchRequested"> | undefined;
  /** None if the batch is malformed or unknown. */
  readonly items: readonly PresetItem[];
  /** The round of drand that the batch waits for; its signature is the last of the results. */
  readonly beacon: DrandRound | undefined;
  readonly reported: OracleEventOf<"BatchReported"> | undefined;
  /** None if they are malformed or there is no report. */
  readonly results: readonly PresetResult[];
}

/** A request to run a source. */
export interface FunctionsParts {
  readonly requestId: Hex;
  readonly request?: OracleEventOf<"OracleRequest">;
  readonly processed?: OracleEventOf<"RequestProcessed">;
}

/**
 * Finds every request that a transaction takes part in, as its request, its VRF proof or its report, and follows each through its
 * logs to both ends.
 *
 * @param requestId only this request: a preset, a function, or all that share a VRF request
 * @throws {TycheError} `not_found`; `invalid_parameter` for too many requests, before more of them are followed
 */
export async function findRequestParts(
  hash: Hex,
  means: RequestPartsMeans,
  requestId?: Hex,
): Promise<RequestParts[]> {
  const { facts, book, network } = means;
  const { succeeded, logs } = await facts.getTransaction(hash);
  if (!succeeded) throw await createRevertedError(hash, means);
  const events = book.eventsOf(logs);
  const functionIds = new Set<Hex>();
  const vrfIds = new Set<Hex>();
  for (const event of events) {
    if (
      event.name === "OracleRequest" ||
      event.name === "RequestProcessed" ||
      event.name === "RequestNotProcessed"
    )
      functionIds.add(event.requestId);
    if (event.name === "RandomWordsRequested" || event.name === "RandomWordsFulfilled")
      vrfIds.add(event.requestId);
    if (event.name === "BatchReported") vrfIds.add(event.vrfRequestId);
  }
  const isWanted = (parts: RequestParts): boolean =>
    requestId === undefined ||
    idOf(parts) === requestId ||
    (parts.kind !== "function" &&
      (parts.join?.parts ?? [parts.randomness]).some(({ vrfRequestId }) => vrfRequestId === requestId));
  const found = new Map<Hex, RequestParts>();
  const add = (parts: RequestParts): void => {
    if (isWanted(parts)) found.set(idOf(parts), parts);
    if (found.size > MAX_REQUESTS)
      throw new InvalidParameterError([
        {
          path: "/requestId",
          message: `${hash} involves more than ${MAX_REQUESTS} requests; name one with requestId`,
        },
      ]);
  };
  const isFunction = requestId !== undefined && functionIds.has(requestId);
  for (const id of isFunction ? [] : orderByLikelihood(vrfIds, requestId)) {
    for (const parts of await followWords(id, means, hash)) add(parts);
    if (requestId !== undefined && found.size > 0) break;
  }
  for (const id of functionIds) {
    if (requestId !== undefined && id !== requestId) continue;
    add({ kind: "function", functions: await followFunction(id, means, hash) });
  }
  const what = requestId === undefined ? "no request of the oracle" : `nothing of the request ${requestId}`;
  const parts = [...found.values()];
  const strange = await Promise.all(parts.map((one) => findOtherConsumer(one, means)));
  if (!strange.every((one) => one !== undefined)) return parts;
  const others = parts.length === 0 ? book.othersIn(logs) : [strange[0]!];
  if (others.length > 0) throw new OtherContractsError(`${hash} on ${network}`, others, book);
  throw new TycheError(
    `The transaction ${hash} on ${network} holds ${what}; give the transaction of a request, of a VRF proof or of a report.`,
    { code: "not_found", blame: "caller" },
  );
}

/**
 * Returns the consumer of a preset's words that is not the one that was given: its words may be the oracle's, but not what it says of
 * them. What other contracts log in the same transaction is not its word.
 */
async function findOtherConsumer(
  parts: RequestParts,
  { facts, book }: RequestPartsMeans,
): Promise<OtherContract | undefined> {
  const request = parts.kind === "random" ? parts.randomness.request : undefined;
  if (request === undefined) return undefined;
  const { logs } = await facts.getTransaction(request.log.transactionHash);
  return book
    .othersIn(logs)
    .find(({ role, address }) => role === "presetConsumer" && address === request.sender);
}

/**
 * Returns the VRF requests in the order in which they are followed to find a request: first those whose own id it is, or that of a preset of
 * theirs. It may also be a preset whose words are joined with those of another VRF request.
 */
function orderByLikelihood(vrfIds: ReadonlySet<Hex>, requestId: Hex | undefined): readonly Hex[] {
  if (requestId === undefined) return [...vrfIds];
  if (vrfIds.has(requestId)) return [requestId];
  const items = Array.from({ length: MAX_PRESETS_PER_BATCH }, (_, item) => item);
  const isOf = (id: Hex): boolean => items.some((item) => presetRequestId(id, item) === requestId);
  const own = [...vrfIds].find(isOf);
  return own === undefined ? [...vrfIds].slice(0, MAX_REQUESTS) : [own];
}

/** Returns the id of a request: of a preset, of functions, or of VRF for random numbers. */
export function idOf(parts: RequestParts): Hex {
  if (parts.kind === "function") return parts.functions.requestId;
  return parts.kind === "preset" ? parts.preset.requestId : parts.randomness.vrfRequestId;
}

/** Returns the parts of all presets that share a request for words, or of the plain random numbers. */
async function followWords(
  vrfRequestId: Hex,
  means: RequestPartsMeans,
  knownIn: Hex,
): Promise<RequestParts[]> {
  const own = await findRandomness(vrfRequestId, means, knownIn);
  const join = await findJoin(own, means);
  const randomness = join?.parts[0] ?? own;
  const batch = await findBatch(randomness, means, knownIn);
  if (batch === undefined) return [{ kind: "random", randomness, join }];
  // A malformed batch counts as one preset, so that its request is not taken for one of random numbers.
  const length = Math.max(batch.items.length, batch.requested === undefined ? batch.results.length : 0, 1);
  return Array.from({ length }, (_, item) => {
    const requestId = presetRequestId(randomness.vrfRequestId, item);
    return { kind: "preset", randomness, join, preset: { ...batch, item, requestId } };
  });
}

/** Finds both ends of a batch of presets; `undefined` if the request is for random numbers. */
async function findBatch(
  { request, vrfRequestId }: RandomnessParts,
  means: RequestPartsMeans,
  knownIn: Hex,
): Promise<BatchParts | undefined> {
  const requested =
    request && pick(await eventsIn(request.log.transactionHash, means), "BatchRequested", vrfRequestId);
  let reported = pick(await eventsIn(knownIn, means), "BatchReported", vrfRequestId);
  if (reported === undefined && requested !== undefined) {
    const { address, blockNumber } = requested.log;
    const topics = [EVENT_TOPICS.BatchReported, vrfRequestId];
    const log = await means.facts.findLogAfter({ address, topics }, blockNumber);
    if (log !== undefined)
      reported = pick(await eventsIn(log.transactionHash, means), "BatchReported", vrfRequestId);
  }
  if (requested === undefined && reported === undefined) return undefined;
  return {
    requested,
    ...(requested === undefined ? { items: [], beacon: undefined } : decodeBatch(requested.batch)),
    reported,
    results: reported === undefined ? [] : decodeResultsOf(reported),
  };
}

/** The contract takes whatever the nodes signed. */
function decodeResultsOf({ results }: OracleEventOf<"BatchReported">): readonly PresetResult[] {
  try {
    return decodeResults(fromHexText(results));
  } catch (error) {
    if (error instanceof PresetReportError) return [];
    throw error;
  }
}

/** Finds both ends of a function request, one of which is in the transaction `knownIn`. */
async function followFunction(
  requestId: Hex,
  means: RequestPartsMeans,
  knownIn: Hex,
): Promise<FunctionsParts> {
  const { facts, book } = means;
  const events = await eventsIn(knownIn, means);
  let request = pick(events, "OracleRequest", requestId);
  let processed = pick(events, "RequestProcessed", requestId);
  if (processed === undefined && request !== undefined) {
    const topics = [EVENT_TOPICS.RequestProcessed, requestId];
    const { blockNumber } = request.log;
    const log = await facts.findLogAfter({ address: book.get("functionsRouter"), topics }, blockNumber);
    if (log !== undefined)
      processed = pick(await eventsIn(log.transactionHash, means), "RequestProcessed", requestId);
  }
  if (request === undefined) {
    const topics = [EVENT_TOPICS.RequestStart, requestId];
    const { blockNumber } = (processed ?? pick(events, "RequestNotProcessed", requestId))!.log;
    const log = await facts.findLogBefore({ address: book.get("functionsRouter"), topics }, blockNumber);
    if (log !== undefined)
      request = pick(await eventsIn(log.transactionHash, means), "OracleRequest", requestId);
  }
  return {
    requestId,
    ...(request === undefined ? {} : { request }),
    ...(processed === undefined ? {} : { processed }),
  };
}

/** Creates the error for a reverted transaction, with the reason if the node still reveals it. The reason is the node's word. */
async function createRevertedError(
  hash: Hex,
  { client, network }: { readonly client: ChainReader; readonly network: string },
): Promise<RevertedTransactionError> {
  const [transaction, receipt] = await Promise.all([
    client.request("eth_getTransactionByHash", [hash]),
    client.request("eth_getTransactionReceipt", [hash]),
  ]);
  const { from, to, input, gas } = parseObject(transaction, "transaction");
  if (typeof to !== "string" || typeof from !== "string" || typeof gas !== "string")
    return new RevertedTransactionError(hash, network, "no reason given");
  const call = { from: from as Hex, to: to as Hex, data: input as Hex, gas: BigInt(gas) };
  const { text } = await findRevertReason(client, call, parseReceipt(receipt));
  return new RevertedTransactionError(hash, network, text);
}

/** Most contracts that are named: a transaction can have hundreds. */
const MAX_OTHERS = 4;

/** The transaction has the events that are looked for, but of other contracts than those that were given. */
export class OtherContractsError extends TycheError {
  constructor(transaction: string, others: readonly OtherContract[], book: ContractBook) {
    const named = others
      .slice(0, MAX_OTHERS)
      .map(({ role, address }) => `of ${address}, where the ${role} that was given is ${book.get(role)}`);
    if (others.length > named.length) named.push(`of ${others.length - named.length} more`);
    super(
      `Not valid for these addresses: the events in the transaction ${transaction} are ${named.join("; ")}. A result of other contracts is not this operator's: compare the addresses with those that it publishes.`,
      { code: "not_found", blame: "caller" },
    );
  }
}

/** The transaction reverted, so it left nothing on chain. */
class RevertedTransactionError extends TycheError {
  constructor(hash: Hex, network: string, reason: string) {
    super(`The transaction ${hash} on ${network} reverted, so it holds no request of the oracle: ${reason}`, {
      code: "not_found",
      blame: "caller",
    });
  }
}
