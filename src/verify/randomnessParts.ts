import type { Hex } from "viem";
import { EVENT_TOPICS, findEvent, WORDS_TOPICS, type EncodedLog } from "../chainlink/events.ts";
import { decodeFulfilments, type Fulfilment } from "../chainlink/calldata.ts";
import type { ContractBook, OracleEvent, OracleEventOf } from "../chainlink/contractBook.ts";
import type { CallbackSources } from "../chainlink/failedCallbacks.ts";
import type { PendingReasons } from "../chainlink/pendingReason.ts";
import { toWord } from "../lib/uint256.ts";
import { MAX_JOINED_KEYS } from "../domain/vocabulary.ts";
import { keyHash, requestIdOf } from "../vrf/randomWords.ts";
import type { ChainFacts, ChainReader } from "./chainFacts.ts";

/** A request for random words. */
export interface RandomnessParts {
  readonly vrfRequestId: Hex;
  readonly request?: OracleEventOf<"RandomWordsRequested">;
  readonly fulfilment?: OracleEventOf<"RandomWordsFulfilled">;
}

/** A request whose words are joined from those of several requests. */
export interface JoinParts {
  readonly joining: OracleEventOf<"Joining">;
  /** In the order of the key hashes. */
  readonly parts: readonly RandomnessParts[];
  /** Set once the consumer has all words. */
  readonly joined?: OracleEventOf<"WordsJoined">;
}

/** What the checks work with. */
export interface RequestPartsMeans {
  readonly facts: ChainFacts;
  readonly book: ContractBook;
  readonly network: string;
  readonly client: ChainReader;
  /** See `keyHashes` of `VerifyOptions`. */
  readonly keyHashes?: readonly Hex[] | undefined;
  /** Explains why requests are not answered. */
  readonly pending: PendingReasons;
  /** What a service recorded of failed callbacks; absent if none was asked. */
  readonly findRecordedCallbacks?: CallbackSources["findRecorded"];
}

/** Finds the join that a request for words is part of; `undefined` if there is none. */
export async function findJoin(
  { request, vrfRequestId }: RandomnessParts,
  means: RequestPartsMeans,
): Promise<JoinParts | undefined> {
  if (request === undefined) return undefined;
  const askedIn = request.log.transactionHash;
  const joining = (await eventsIn(askedIn, means)).find(
    (event): event is OracleEventOf<"Joining"> =>
      event.name === "Joining" &&
      event.log.address === request.sender &&
      // A node can make up any number, and each is searched for.
      event.parts.length <= MAX_JOINED_KEYS &&
      event.parts.includes(vrfRequestId),
  );
  if (joining === undefined) return undefined;
  return means.facts.once(`join ${joining.requestId}`, async () => {
    const parts = await Promise.all(joining.parts.map((id) => findRandomness(id, means, askedIn)));
    const ends = new Set(parts.flatMap(({ fulfilment }) => fulfilment?.log.transactionHash ?? []));
    for (const hash of ends) {
      const joined = (await eventsIn(hash, means)).find(
        (event): event is OracleEventOf<"WordsJoined"> =>
          event.name === "WordsJoined" && event.requestId === joining.requestId,
      );
      if (joined !== undefined) return { joining, parts, joined };
    }
    return { joining, parts };
  });
}

/** Finds both ends of a request for words, one of which is in the transaction `knownIn`, or the report of a batch that it is for. */
export async function findRandomness(
  vrfRequestId: Hex,
  means: RequestPartsMeans,
  knownIn: Hex,
): Promise<RandomnessParts> {
  return means.facts.once(`randomness ${vrfRequestId}`, async () => {
    const { facts } = means;
    const events = await eventsIn(knownIn, means);
    let request = pick(events, "RandomWordsRequested", vrfRequestId);
    let fulfilment = pick(events, "RandomWordsFulfilled", vrfRequestId);
    const reported = pick(events, "BatchReported", vrfRequestId);
    if (request === undefined && fulfilment === undefined && reported !== undefined) {
      const search = { address: reported.log.address, topics: [EVENT_TOPICS.BatchRequested, vrfRequestId] };
      const log = await facts.findLogBefore(search, reported.log.blockNumber);
      if (log !== undefined)
        request = pick(await eventsIn(log.transactionHash, means), "RandomWordsRequested", vrfRequestId);
    }
    if (fulfilment === undefined && request !== undefined) {
      const { address } = request.log;
      const topics = [WORDS_TOPICS.fulfilled, vrfRequestId];
      const log = await facts.findLogAfter({ address, topics }, request.log.blockNumber);
      if (log !== undefined)
        fulfilment = pick(await eventsIn(log.transactionHash, means), "RandomWordsFulfilled", vrfRequestId);
    }
    if (request === undefined && fulfilment !== undefined)
      request = await findWordsRequest(fulfilment, means);
    return {
      vrfRequestId,
      ...(request === undefined ? {} : { request }),
      ...(fulfilment === undefined ? {} : { fulfilment }),
    };
  });
}

/** Finds the request that a proof answers, whoever delivered the proof. The request's id is not a topic of its log. */
async function findWordsRequest(
  { requestId, log }: OracleEventOf<"RandomWordsFulfilled">,
  means: RequestPartsMeans,
): Promise<OracleEventOf<"RandomWordsRequested"> | undefined> {
  const { facts, book } = means;
  const search = {
    address: book.get("vrfCoordinator"),
    topics: [WORDS_TOPICS.requested],
    isWanted: (one: EncodedLog) => {
      const event = findEvent(one);
      return event?.name === "RandomWordsRequested" && event.requestId === requestId;
    },
  };
  const { input } = await facts.getTransaction(log.transactionHash);
  // The calldata of a proof name the block, which saves a search. Those of a stranger's contract may name any, which a node may refuse.
  const [named] = proofsIn(input, requestId);
  const inBlock = named && (await facts.findLogIn(search, named.commitment.blockNum).catch(() => undefined));
  const found = inBlock ?? (await facts.findLogBefore(search, log.blockNumber));
  if (found === undefined) return undefined;
  return pick(await eventsIn(found.transactionHash, means), "RandomWordsRequested", requestId);
}

/** Decodes the proofs for a request in calldata: its id is a hash of key and pre-seed. Anyone can put proofs there that are not valid. */
export function proofsIn(input: Hex, vrfRequestId: Hex): readonly Fulfilment[] {
  return decodeFulfilments(input).filter(
    ({ proof }) => toWord(requestIdOf(keyHash(proof.publicKey), proof.preSeed)) === vrfRequestId,
  );
}

export async function eventsIn(hash: Hex, { facts, book }: RequestPartsMeans): Promise<OracleEvent[]> {
  return book.eventsOf((await facts.getTransaction(hash)).logs);
}

/** Returns the event of that name for a request, of VRF or of functions. */
export function pick<Name extends OracleEvent["name"]>(
  events: readonly OracleEvent[],
  name: Name,
  requestId: Hex,
): OracleEventOf<Name> | undefined {
  return events.find((event): event is OracleEventOf<Name> => {
    const id = "vrfRequestId" in event ? event.vrfRequestId : "requestId" in event && event.requestId;
    return event.name === name && id === requestId;
  });
}
