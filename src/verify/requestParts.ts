import type { Hex } from "viem";
import { EVENT_TOPICS } from "../chainlink/events.ts";
import { TycheError } from "../lib/errors.ts";
import {
  decodeBatchItems,
  decodeJoinedSubmission,
  decodeSubmission,
  type JoinedCall,
  type SubmissionCall,
} from "../chainlink/calldata.ts";
import {
  eventsIn,
  findJoin,
  findJoinSentIn,
  findRandomness,
  pick,
  type JoinParts,
  type RandomnessParts,
  type RequestPartsMeans,
} from "./randomnessParts.ts";
import { createRevertedError } from "./revertedTransaction.ts";
import type { OracleEvent, OracleEventOf } from "../chainlink/contractBook.ts";

/** The on-chain locations of one request's parts; missing parts are absent. */
export interface RequestParts {
  readonly kind: "preset" | "function" | "random";
  /** For joined words: the first part. */
  readonly randomness?: RandomnessParts;
  readonly join?: JoinParts;
  /** A preset's place in its batch, which decides its word. */
  readonly item?: number;
  /** Why the words' callback could not send a preset's function request. */
  readonly refusal?: Hex;
  readonly functions?: FunctionsParts;
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
 * @param requestId only the request with that id, of functions or VRF
 * @throws UnknownTransactionError, RevertedTransactionError, NoRequestError
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
  }
  const found = new Map<string, RequestParts>();
  for (const id of vrfIds) {
    if (requestId !== undefined && vrfIds.has(requestId) && id !== requestId) continue;
    for (const parts of await followWords(id, means, hash)) {
      found.set(parts.functions?.requestId ?? `${parts.randomness?.vrfRequestId}/${parts.item}`, parts);
    }
  }
  for (const id of functionIds) {
    if (found.has(id) || (requestId !== undefined && id !== requestId)) continue;
    found.set(id, await followFunction(id, means, hash));
  }
  const wanted = [...found.values()].filter(
    ({ functions, randomness, join }) =>
      requestId === undefined ||
      functions?.requestId === requestId ||
      (join?.parts ?? [randomness]).some((one) => one?.vrfRequestId === requestId),
  );
  if (wanted.length === 0) throw new NoRequestError(hash, network, requestId);
  return wanted;
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
  const shared = { randomness, ...(join === undefined ? {} : { join }) };
  const { request } = randomness;
  const last = join === undefined ? own.fulfilment?.log.transactionHash : join.joined?.log.transactionHash;
  const sent =
    last === undefined
      ? []
      : (await eventsIn(last, means)).filter(
          (event) =>
            (event.name === "PresetSent" || event.name === "PresetRefused") &&
            event.vrfRequestId === randomness.vrfRequestId,
        );
  if (sent.length === 0) {
    const batch = request === undefined ? undefined : await findPresetCall(request, means);
    if (batch === undefined) return [{ kind: "random", ...shared }];
    // Their words have not arrived yet, or the callback failed as a whole.
    const { length } = decodeBatchItems(batch.batch);
    return Array.from({ length }, (_, item) => ({ kind: "preset", ...shared, item }));
  }
  return Promise.all(
    sent.map(async (event): Promise<RequestParts> => {
      const { item } = event as OracleEventOf<"PresetSent">;
      if (event.name === "PresetRefused") return { kind: "preset", ...shared, item, refusal: event.reason };
      const { requestId } = event as OracleEventOf<"PresetSent">;
      return { kind: "preset", ...shared, item, functions: await findFunctions(requestId, means, event) };
    }),
  );
}

async function followFunction(requestId: Hex, means: RequestPartsMeans, knownIn: Hex): Promise<RequestParts> {
  const known = (await eventsIn(knownIn, means)).find(
    (event) => "requestId" in event && event.requestId === requestId,
  );
  const functions = await findFunctions(requestId, means, known!);
  if (functions.request === undefined) return { kind: "function", functions };
  const sentIn = functions.request.log.transactionHash;
  const sent = (await eventsIn(sentIn, means)).find(
    (event): event is OracleEventOf<"PresetSent"> =>
      event.name === "PresetSent" && event.requestId === requestId,
  );
  if (sent === undefined) return { kind: "function", functions };
  const join = await findJoinSentIn(sent, means);
  const randomness = join?.parts[0] ?? (await findRandomness(sent.vrfRequestId, means, sentIn));
  return {
    kind: "preset",
    randomness,
    ...(join === undefined ? {} : { join }),
    item: sent.item,
    functions,
  };
}

/** Finds the batch of presets that a request for words was made for, in the calldata of its transaction. */
export async function findPresetCall(
  request: OracleEventOf<"RandomWordsRequested">,
  means: RequestPartsMeans,
): Promise<Pick<SubmissionCall["presets"][number], "batch"> | undefined> {
  const hash = request.log.transactionHash;
  const accepted = (await eventsIn(hash, means)).find(
    (event): event is OracleEventOf<"Accepted"> =>
      event.name === "Accepted" && event.requestId === request.requestId,
  );
  if (accepted === undefined || accepted.log.address !== request.sender) return undefined;
  const { input, to } = await means.facts.getTransaction(hash);
  if (to !== request.sender) return undefined;
  const joined = decodeJoinedSubmission(input)[accepted.index];
  if (joined !== undefined) return joined.batch === "0x" ? undefined : joined;
  // Entries are counted across the three lists, presets first.
  return decodeSubmission(input)?.presets[accepted.index];
}

/** Finds the entry of `submitJoined` that a join was made for, in the calldata of its transaction. */
export async function findJoinedCall(
  { requestId, log }: OracleEventOf<"Joining">,
  means: RequestPartsMeans,
): Promise<JoinedCall | undefined> {
  const accepted = (await eventsIn(log.transactionHash, means)).find(
    (event): event is OracleEventOf<"Accepted"> =>
      event.name === "Accepted" && event.log.address === log.address && event.requestId === requestId,
  );
  const { input, to } = await means.facts.getTransaction(log.transactionHash);
  return accepted === undefined || to !== log.address
    ? undefined
    : decodeJoinedSubmission(input)[accepted.index];
}

/** Finds the data of a function request in the calldata of `submit`; `undefined` if the caller's own contract sent it. */
export async function findFunctionCall(
  request: OracleEventOf<"OracleRequest">,
  means: RequestPartsMeans,
): Promise<Hex | undefined> {
  const hash = request.log.transactionHash;
  const { input, to } = await means.facts.getTransaction(hash);
  if (to !== request.requestingContract) return undefined;
  const call = decodeSubmission(input);
  const accepted = (await eventsIn(hash, means)).find(
    (event): event is OracleEventOf<"Accepted"> =>
      event.name === "Accepted" && event.requestId === request.requestId,
  );
  if (call === undefined || accepted === undefined) return undefined;
  return call.functions[accepted.index - call.presets.length]?.data;
}

/** Finds both ends of a function request, starting from any of its events. */
async function findFunctions(
  requestId: Hex,
  means: RequestPartsMeans,
  known: OracleEvent,
): Promise<FunctionsParts> {
  return means.facts.once(`functions ${requestId}`, async () => {
    const { facts, book } = means;
    const { transactionHash, blockNumber } = known.log;
    const events = await eventsIn(transactionHash, means);
    let request = pick(events, "OracleRequest", requestId);
    let processed = pick(events, "RequestProcessed", requestId);
    if (processed === undefined && request !== undefined) {
      const topics = [EVENT_TOPICS.RequestProcessed, requestId];
      const log = await facts.findLogAfter({ address: book.get("functionsRouter"), topics }, blockNumber);
      if (log !== undefined)
        processed = pick(await eventsIn(log.transactionHash, means), "RequestProcessed", requestId);
    }
    if (request === undefined) {
      const topics = [EVENT_TOPICS.RequestStart, requestId];
      const log = await facts.findLogBefore({ address: book.get("functionsRouter"), topics }, blockNumber);
      if (log !== undefined)
        request = pick(await eventsIn(log.transactionHash, means), "OracleRequest", requestId);
    }
    return {
      requestId,
      ...(request === undefined ? {} : { request }),
      ...(processed === undefined ? {} : { processed }),
    };
  });
}

/** The transaction has no part in any of the oracle's requests, or none in that one. */
export class NoRequestError extends TycheError {
  constructor(hash: Hex, network: string, requestId: Hex | undefined) {
    const what = requestId === undefined ? "no request of the oracle" : `nothing of the request ${requestId}`;
    super(
      `The transaction ${hash} on ${network} holds ${what}; give the transaction of a request, of a VRF proof or of a report.`,
      { code: "not_found", blame: "caller" },
    );
  }
}
