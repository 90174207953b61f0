import type { Hex } from "viem";
import { askContract } from "../../chainlink/contractRead.ts";
import { PRESET_CONSUMER_READS } from "../../chainlink/presetConsumerReads.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import { describeLostHash, isHashStored, REACHABLE_BLOCKS } from "../../chainlink/waitingText.ts";
import { BEACON_WAIT_MS } from "../../text/draw.ts";
import type { BlockHead, ChainClient } from "../../evm/client.ts";
import type { ChainWatcher } from "../../evm/watcher.ts";
import type { RequestBook } from "../requestBook.ts";
import { describeMissing, missingParts } from "./joinedParts.ts";
import { idOfAwaited } from "./omittedAnswers.ts";
import type { RequestFacts, OpenRequest } from "../openRequest.ts";
import type { BeaconWait } from "./beaconWait.ts";
import { CHAIN_FACTS } from "./takeBack.ts";
import type { Tracker } from "./tracker.ts";

/**
 * Time for the oracle to deliver random words once their request has its confirmations, and a preset's result after its word: the same as
 * for a function request.
 */
const TIMEOUT_MS = 300_000;
/** Chainlink's node drops a request that it could not answer within 24 hours, according to its documentation of VRF v2.5. */
const CHAINLINK_KEEPS_SECONDS = 86_400n;
/** Blocks by which another node may lag, and so not know of a fulfilment. */
const LAG_BLOCKS = 16;
/** Maximum number of times that a request whose proof can't be checked any more is sent again. */
const MAX_RESENDS = 3;
const RESENT = "sent again: no proof for its block can be checked any more";
/** Facts about the transactions that carried a request. */
const TRANSACTION_FACTS = [
  "transactionHashes",
  "nonce",
  "entry",
  "item",
  "items",
] as const satisfies readonly (keyof RequestFacts)[];

export interface AnswerTimeoutsOptions {
  readonly client: Pick<ChainClient, "call" | "getHead" | "isOneNode">;
  readonly watcher: Pick<ChainWatcher, "head" | "watched">;
  readonly contracts: Pick<
    StackAddresses,
    "blockhashStore" | "vrfCoordinator" | "vrfVersion" | "presetConsumer"
  >;
  /** Confirmations of a preset whose caller chose none. */
  readonly presetConfirmations: number;
  /** Whether Chainlink's own oracle delivers the words. Default `false`: the one that the contracts were deployed for. */
  readonly isChainlinks?: boolean | undefined;
  readonly book: RequestBook;
  readonly tracker: Pick<Tracker, "track" | "readTo">;
  /** Open requests that no component holds. */
  readonly requests: () => readonly OpenRequest[];
  /** Sends a request that no transaction carries. */
  readonly take: (request: OpenRequest) => void;
  /** Returns the address of the operator that delivers the words of a key. */
  readonly vrfOperatorOf?: ((keyHash: Hex) => Hex | undefined) | undefined;
  /** Says that a preset waits for its round of drand. */
  readonly beaconWait: BeaconWait;
  /** Explains why a request isn't making progress. */
  readonly explain: (request: OpenRequest) => Promise<string | null>;
}

/**
 * Creates the job that ends the wait for random words, and the wait of a preset with a word for its result. If neither the EVM nor the
 * BlockhashStore has a request's block hash, nobody can fulfil it any more, so it can be sent again without ever being answered twice. A
 * request that could be fulfilled but isn't in time fails with what it waited for. One with joined words, a label, a round of drand or a word
 * is never sent again. A preset whose round of drand is late waits for a day.
 *
 * What has been read from the chain decides, never this machine's clock: only time in which the head was watched counts, and a wait ends
 * only once every block up to the head has been read and the coordinator still waits for the proof, or PresetConsumer for the results. Words that are on chain are the
 * answer, however late this process learns of them: with a second draw, the caller could choose.
 *
 * Chainlink's oracle keeps a request for 24 hours, through high gas prices and an underfunded subscription, and its other
 * nodes bring old block hashes back. A waiting request is therefore never sent again, as both might be answered; it fails
 * when the 24 hours are over.
 *
 * @returns a function that checks all requests once.
 */
export function createAnswerTimeouts(options: AnswerTimeoutsOptions): () => Promise<void> {
  const { client, watcher, book, tracker, take } = options;
  /** By {@link idOfAwaited}: how long the head had been watched when it began to wait for nothing but the oracle. */
  const waitingSince = new Map<string, number>();
  /** Likewise, for its round of drand. */
  const beaconSince = new Map<string, number>();
  /** Likewise: timestamp of its block in seconds, by the chain's clock. */
  const askedAt = new Map<string, bigint>();
  /** Likewise: the head when its wait was first found to be over. */
  const overAt = new Map<string, bigint>();

  /**
   * Whether the contracts still wait for the answer: the coordinator deletes a request's commitment as it fulfils it, PresetConsumer a
   * batch's record with its results.
   */
  const isPending = async (request: OpenRequest): Promise<boolean> => {
    const { vrfCoordinator, presetConsumer, vrfVersion = "v2" } = options.contracts;
    const { vrfRequestId, wordBlock } = request.progress;
    if (vrfRequestId === undefined) return false;
    const hasWord = wordBlock !== undefined;
    const read = hasWord
      ? PRESET_CONSUMER_READS.record(vrfRequestId)
      : COORDINATOR_READS[vrfVersion].commitment(missingParts(request)[0]?.id ?? vrfRequestId);
    return (await askContract(client, hasWord ? presetConsumer : vrfCoordinator, read)) !== 0n;
  };

  /** Whether a wait that is over has to end: no block that has been mined since the request brought its answer. */
  const isUnanswered = async (awaiting: Awaiting, head: bigint): Promise<boolean> => {
    const { id, request } = awaiting;
    const known = overAt.get(id);
    const over = known === undefined || head < known ? head : known;
    overAt.set(id, over);
    const readTo = tracker.readTo();
    if (readTo === undefined || readTo < over) return false;
    // The node behind the head may lag, and the answer may have been mined since.
    return (await isPending(request)) && isWaiting(awaiting);
  };

  const isWaiting = ({ id, request }: Awaiting): boolean =>
    book.get(request.id) === request && idOfAwaited(request) === id;

  /** Whether a request has waited long enough; the first call starts the wait. */
  const isOver = ({ id }: Awaiting, starts = waitingSince, timeoutMs = TIMEOUT_MS): boolean => {
    const { totalMs } = watcher.watched();
    const since = starts.get(id) ?? totalMs;
    starts.set(id, since);
    return totalMs - since >= timeoutMs;
  };

  const sendAgain = async (awaiting: Awaiting): Promise<void> => {
    const { request } = awaiting;
    const why = "waiting to be sent again";
    let isResent = false;
    await book.change(() => {
      isResent = isWaiting(awaiting);
      const names = [...CHAIN_FACTS, ...TRANSACTION_FACTS];
      const forget = names.filter((name) => request.progress[name] !== undefined);
      return isResent ? [{ request, forget, state: "submitted", detail: RESENT, why }] : [];
    });
    if (!isResent) return;
    // Reindexes the request without its old ids.
    tracker.track(request);
    take(request);
  };

  const failWithoutWords = async (awaiting: Awaiting, reason: string): Promise<void> => {
    const { request } = awaiting;
    const missing = describeMissing(request, options.vrfOperatorOf);
    const isWithheld = missing !== undefined && missingParts(request).length < request.progress.parts!.length;
    const error = isWithheld
      ? { code: "word_withheld", message: `not every VRF operator brought a word: ${missing}; ${reason}` }
      : { code: "oracle_timeout", message: `the oracle network brought no random words: ${reason}` };
    await fail(awaiting, error);
  };

  const fail = async (
    awaiting: Awaiting,
    error: { readonly code: string; readonly message: string },
  ): Promise<void> => {
    const { request } = awaiting;
    // It may have ended, or moved on, while the reason was determined.
    await book.change(() => (isWaiting(awaiting) ? [{ request, state: "failed", error }] : []));
    // Late words or results change nothing.
    tracker.track(request);
  };

  const explain = async ({ request }: Awaiting): Promise<string> =>
    (await options.explain(request)) ?? "no reason known";

  /** The oracle can't answer before it has the round, whatever comes: its own time begins then. */
  const lookForBeacon = async (awaiting: Awaiting, head: BlockHead, reason: string): Promise<void> => {
    waitingSince.delete(awaiting.id);
    if (!isOver(awaiting, beaconSince, BEACON_WAIT_MS) || !(await isUnanswered(awaiting, head.number)))
      return;
    const message = `the round did not come within 24 hours, and no other is ever taken; the result follows on chain once a relay has it: ${reason}`;
    await fail(awaiting, { code: "beacon_late", message });
  };

  const lookForResult = async (awaiting: Awaiting, head: BlockHead): Promise<void> => {
    const delay = options.beaconWait(awaiting.request);
    if (delay !== undefined) return await lookForBeacon(awaiting, head, delay.why);
    if (!isOver(awaiting) || !(await isUnanswered(awaiting, head.number))) return;
    const why = await explain(awaiting);
    const message = `the random word was on chain in the transaction ${awaiting.request.progress.wordTransactionHash}, but the oracle network gave no result within ${TIMEOUT_MS / 1000} seconds; ${why}`;
    await fail(awaiting, { code: "oracle_timeout", message });
  };

  /** Fails a request once Chainlink's 24 hours are over, by the chain's own clock, so that a restart doesn't restart the count. */
  const lookAtChainlinks = async (awaiting: Awaiting, head: BlockHead): Promise<void> => {
    const { id, acceptedBlock } = awaiting;
    const since = askedAt.get(id) ?? (await client.getHead(BigInt(acceptedBlock)))?.timestamp;
    if (since === undefined) return;
    askedAt.set(id, since);
    if (head.timestamp - since < CHAINLINK_KEEPS_SECONDS) return;
    if (!(await isUnanswered(awaiting, head.number))) return;
    const why = await explain(awaiting);
    await failWithoutWords(
      awaiting,
      `none within 24 hours, after which Chainlink's oracle drops a request; ${why}`,
    );
  };

  const lookForWords = async (awaiting: Awaiting, { number }: BlockHead): Promise<void> => {
    const { request, acceptedBlock } = awaiting;
    const { timeline } = request;
    const age = Number(number) - acceptedBlock;
    const confirmations =
      (request.kind === "random" || request.kind === "preset" ? request.params.confirmations : undefined) ??
      options.presetConfirmations;
    if (age + 1 < confirmations) return;
    const unreachable = Number(REACHABLE_BLOCKS) + (client.isOneNode ? 0 : LAG_BLOCKS);
    // A proof can be in the next block at the earliest.
    const { blockhashStore } = options.contracts;
    if (age >= unreachable && !(await isHashStored(client, blockhashStore, BigInt(acceptedBlock)))) {
      if (!(await isUnanswered(awaiting, number))) return;
      const lost = describeLostHash(BigInt(acceptedBlock));
      if (isDrawnOnce(request)) return await failWithoutWords(awaiting, lost);
      const isTriedOften = timeline.filter(({ detail }) => detail === RESENT).length >= MAX_RESENDS;
      const reason = `${lost}, after ${MAX_RESENDS} attempts`;
      return isTriedOften ? await failWithoutWords(awaiting, reason) : await sendAgain(awaiting);
    }
    if (!isOver(awaiting) || !(await isUnanswered(awaiting, number))) return;
    const why = await explain(awaiting);
    await failWithoutWords(awaiting, `none within ${TIMEOUT_MS / 1000} seconds; ${why}`);
  };

  return async () => {
    const waiting = options.requests().flatMap((request): Awaiting[] => {
      const id = idOfAwaited(request);
      const { acceptedBlock } = request.progress;
      const isMeant = request.kind !== "function" && id !== undefined && acceptedBlock !== undefined;
      return isMeant ? [{ id, request, acceptedBlock }] : [];
    });
    const ids = new Set<string>(waiting.map(({ id }) => id));
    for (const known of [waitingSince, beaconSince, askedAt, overAt])
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    const head = watcher.head();
    if (head === undefined) return;
    for (const one of waiting) {
      if (one.request.progress.wordBlock !== undefined) await lookForResult(one, head);
      else if (options.isChainlinks === true) await lookAtChainlinks(one, head);
      else await lookForWords(one, head);
    }
  };
}

/**
 * Whether a request must not be sent again: whoever has seen others' words would get a second draw, and whoever withholds a word one that
 * the label's first request doesn't show. The round of drand is known by then.
 */
function isDrawnOnce({ progress, params }: OpenRequest): boolean {
  const { label, beacon } = params as { readonly label?: unknown; readonly beacon?: unknown };
  return progress.parts !== undefined || label !== undefined || beacon !== undefined;
}

/** A request with what it waited for when it was looked at, see {@link idOfAwaited}. */
interface Awaiting {
  readonly id: Hex;
  readonly request: OpenRequest;
  readonly acceptedBlock: number;
}
