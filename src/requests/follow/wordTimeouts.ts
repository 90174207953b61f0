import { encodeFunctionData } from "viem";
import type { Hex } from "viem";
import { blockhashStoreAbi } from "../../chainlink/contracts/abi.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import { RpcError } from "../../evm/client.ts";
import type { BlockHead, ChainClient } from "../../evm/client.ts";
import type { ChainWatcher } from "../../evm/watcher.ts";
import type { RequestBook } from "../requestBook.ts";
import { describeMissing, missingParts } from "./joinedParts.ts";
import type { Facts, OpenRequest } from "../openRequest.ts";
import { CHAIN_FACTS } from "./takeBack.ts";
import type { Tracker } from "./tracker.ts";

/** Time for the oracle to deliver random words once their request has its confirmations: the same as for a function request. */
const WORD_TIMEOUT_MS = 300_000;
/** Chainlink's node drops a request that it could not answer within 24 hours, according to its documentation of VRF v2.5. */
const CHAINLINK_KEEPS_SECONDS = 86_400n;
/** `BLOCKHASH` reaches 256 blocks back from the block that asks (EIP-210 was never active). */
const REACHABLE_BLOCKS = 256;
/** Blocks by which another node may lag, and so not know of a fulfilment. */
const LAG_BLOCKS = 16;
/** Maximum number of times that a request whose proof can't be checked any more is sent again. */
const MAX_RESENDS = 3;
const RESENT = "sent again: no proof for its block can be checked any more";
/** Facts about the transactions that carried a request. */
const CARRIER_FACTS = [
  "transactionHashes",
  "nonce",
  "entry",
  "item",
] as const satisfies readonly (keyof Facts)[];

export interface WordTimeoutsOptions {
  readonly client: Pick<ChainClient, "call" | "getHead" | "isOneNode">;
  readonly watcher: Pick<ChainWatcher, "head" | "watched">;
  readonly contracts: Pick<StackAddresses, "blockhashStore" | "vrfCoordinator" | "vrfVersion">;
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
  /** Explains why a request isn't making progress. */
  readonly explain: (request: OpenRequest) => Promise<string | null>;
}

/**
 * Creates the job that ends the wait for random words. If neither the EVM nor the BlockhashStore has a request's block hash,
 * nobody can fulfil it any more, so it can be sent again without ever being answered twice. A request that could be fulfilled
 * but isn't in time fails with what it waited for. One with joined words is never sent again.
 *
 * What has been read from the chain decides, never this machine's clock: only time in which the head was watched counts, and a wait ends
 * only once every block up to the head has been read and the coordinator still waits for the proof. Words that are on chain are the
 * answer, however late this process learns of them: with a second draw, the caller could choose.
 *
 * Chainlink's oracle keeps a request for 24 hours, through high gas prices and an underfunded subscription, and its other
 * nodes bring old block hashes back. A waiting request is therefore never sent again, as both might be answered; it fails
 * when the 24 hours are over.
 *
 * @returns a function that checks all requests once.
 */
export function createWordTimeouts(options: WordTimeoutsOptions): () => Promise<void> {
  const { client, watcher, book, tracker, take } = options;
  /** By VRF request id: how long the head had been watched when it began to wait for nothing but the oracle. */
  const waitingSince = new Map<string, number>();
  /** By VRF request id: timestamp of its block in seconds, by the chain's clock. */
  const askedAt = new Map<string, bigint>();
  /** By VRF request id: the head when its wait was first found to be over. */
  const overAt = new Map<string, bigint>();

  const isHashLost = async (block: number): Promise<boolean> => {
    const args = [BigInt(block)] as const;
    const data = encodeFunctionData({ abi: blockhashStoreAbi, functionName: "getBlockhash", args });
    try {
      await client.call({ to: options.contracts.blockhashStore, data });
      return false;
    } catch (error) {
      // The store answers no with a revert and its reason; any other failure says nothing about the hash.
      if (error instanceof RpcError && error.data !== undefined) return true;
      throw error;
    }
  };

  /** Whether the coordinator still waits for the proof: it deletes a request's commitment as it fulfils it. */
  const isPending = async (vrfRequestId: Hex): Promise<boolean> => {
    const { vrfCoordinator, vrfVersion = "v2" } = options.contracts;
    const { data, decode } = COORDINATOR_READS[vrfVersion].commitment(vrfRequestId);
    return decode(await client.call({ to: vrfCoordinator, data })) !== 0n;
  };

  /** Whether a wait that is over has to end: no block that has been mined since the request brought its words. */
  const isUnanswered = async (request: OpenRequest, head: bigint): Promise<boolean> => {
    const { vrfRequestId } = request.progress;
    if (vrfRequestId === undefined) return false;
    const known = overAt.get(vrfRequestId);
    const over = known === undefined || head < known ? head : known;
    overAt.set(vrfRequestId, over);
    const readTo = tracker.readTo();
    if (readTo === undefined || readTo < over) return false;
    // The node behind the head may lag, and words may have been mined since.
    const isOpen = await isPending(missingParts(request)[0]?.id ?? vrfRequestId);
    return isOpen && isWaiting(request) && request.progress.vrfRequestId === vrfRequestId;
  };

  const isWaiting = (request: OpenRequest): boolean =>
    book.get(request.id) === request && request.progress.wordBlock === undefined;

  const sendAgain = async (request: OpenRequest): Promise<void> => {
    const { vrfRequestId } = request.progress;
    const why = "waiting to be sent again";
    let isResent = false;
    await book.change(() => {
      isResent = isWaiting(request) && request.progress.vrfRequestId === vrfRequestId;
      const names = [...CHAIN_FACTS, ...CARRIER_FACTS];
      const forget = names.filter((name) => request.progress[name] !== undefined);
      return isResent ? [{ request, forget, state: "submitted", detail: RESENT, why }] : [];
    });
    if (!isResent) return;
    // Reindexes the request without its old ids.
    tracker.track(request);
    take(request);
  };

  const fail = async (request: OpenRequest, reason: string): Promise<void> => {
    const missing = describeMissing(request, options.vrfOperatorOf);
    const isWithheld = missing !== undefined && missingParts(request).length < request.progress.parts!.length;
    const error = isWithheld
      ? { code: "word_withheld", message: `not every VRF operator brought a word: ${missing}; ${reason}` }
      : { code: "oracle_timeout", message: `the oracle network brought no random words: ${reason}` };
    // It may have ended while the reason was determined.
    await book.change(() => (isWaiting(request) ? [{ request, state: "failed", error }] : []));
    // Late words change nothing.
    tracker.track(request);
  };

  /** Fails a request once Chainlink's 24 hours are over, by the chain's own clock, so that a restart doesn't restart the count. */
  const lookAtChainlinks = async (request: OpenRequest, head: BlockHead): Promise<void> => {
    const { vrfRequestId, acceptedBlock } = request.progress;
    if (vrfRequestId === undefined || acceptedBlock === undefined) return;
    const since = askedAt.get(vrfRequestId) ?? (await client.getHead(BigInt(acceptedBlock)))?.timestamp;
    if (since === undefined) return;
    askedAt.set(vrfRequestId, since);
    if (head.timestamp - since < CHAINLINK_KEEPS_SECONDS) return;
    if (!(await isUnanswered(request, head.number))) return;
    const why = (await options.explain(request)) ?? "no reason known";
    await fail(request, `none within 24 hours, after which Chainlink's oracle drops a request; ${why}`);
  };

  const look = async (request: OpenRequest, { number }: BlockHead): Promise<void> => {
    const { progress, timeline } = request;
    const { vrfRequestId, acceptedBlock } = progress;
    if (vrfRequestId === undefined || acceptedBlock === undefined) return;
    const age = Number(number) - acceptedBlock;
    const confirmations =
      request.kind === "random" ? request.params.confirmations : options.presetConfirmations;
    if (age + 1 < confirmations) return;
    const unreachable = client.isOneNode ? REACHABLE_BLOCKS : REACHABLE_BLOCKS + LAG_BLOCKS;
    // A proof can be in the next block at the earliest.
    if (age >= unreachable && (await isHashLost(acceptedBlock))) {
      if (!(await isUnanswered(request, number))) return;
      // Sending a join again would give whoever has seen the others' words a second draw.
      if (progress.parts !== undefined)
        return await fail(request, `the hash of block ${acceptedBlock} is out of reach`);
      const isTriedOften = timeline.filter(({ detail }) => detail === RESENT).length >= MAX_RESENDS;
      const reason = `the hash of block ${acceptedBlock} is out of reach, after ${MAX_RESENDS} attempts`;
      return isTriedOften ? await fail(request, reason) : await sendAgain(request);
    }
    const { totalMs } = watcher.watched();
    const since = waitingSince.get(vrfRequestId) ?? totalMs;
    waitingSince.set(vrfRequestId, since);
    if (totalMs - since < WORD_TIMEOUT_MS || !(await isUnanswered(request, number))) return;
    const why = await options.explain(request);
    await fail(request, `none within ${WORD_TIMEOUT_MS / 1000} seconds; ${why ?? "no reason known"}`);
  };

  return async () => {
    const waiting = options.requests().filter(({ kind, progress }) => {
      const isWordAwaited = kind === "random" || (kind === "preset" && progress.wordBlock === undefined);
      return isWordAwaited && progress.vrfRequestId !== undefined;
    });
    const ids = new Set<string>(waiting.map(({ progress }) => progress.vrfRequestId!));
    for (const known of [waitingSince, askedAt, overAt])
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    const head = watcher.head();
    if (head === undefined) return;
    for (const request of waiting)
      await (options.isChainlinks === true ? lookAtChainlinks(request, head) : look(request, head));
  };
}
