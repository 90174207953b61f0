import { encodeFunctionData } from "viem";
import type { Hex } from "viem";
import { blockhashStoreAbi } from "../chainlink/contracts/abi.ts";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import { COORDINATOR_READS } from "../chainlink/vrfCoordinator.ts";
import { RpcError } from "../evm/client.ts";
import type { ChainClient } from "../evm/client.ts";
import type { ChainWatcher } from "../evm/watcher.ts";
import type { RequestBook } from "./requestBook.ts";
import { describeMissing, missingParts } from "./joinedParts.ts";
import type { Facts, OpenRequest } from "./openRequest.ts";
import { CHAIN_FACTS } from "./takeBack.ts";
import type { Tracker } from "./tracker.ts";

/** Time for the oracle to bring random words once their request has its confirmations: as long as a function request has. */
const WORD_TIMEOUT_MS = 300_000;
/** Chainlink's node drops a request that it could not answer for so long, by its documentation of VRF v2.5: 24 hours. */
const CHAINLINK_KEEPS_SECONDS = 86_400n;
/** `BLOCKHASH` reaches 256 blocks back from the block that asks (EIP-210 was never active). */
const REACHABLE_BLOCKS = 256;
/** Blocks that another node may be behind, and know nothing of a fulfilment in. */
const LAG_BLOCKS = 16;
/** Times that a request is sent anew whose proof can't be checked any more. */
const MAX_RESENDS = 3;
const RESENT = "sent again: no proof for its block can be checked any more";
/** What a request knows of the transactions that carried it. */
const CARRIER_FACTS = [
  "transactionHashes",
  "nonce",
  "entry",
  "item",
] as const satisfies readonly (keyof Facts)[];

/** Options of {@link createWordTimeouts}. */
export interface WordTimeoutsOptions {
  readonly client: Pick<ChainClient, "call" | "getHead" | "isOneNode">;
  readonly watcher: Pick<ChainWatcher, "head">;
  readonly contracts: Pick<StackAddresses, "blockhashStore" | "vrfCoordinator" | "vrfVersion">;
  readonly presetConfirmations: number;
  /** Whether Chainlink's own oracle brings the words. Default `false`: the one that the contracts were deployed for. */
  readonly isChainlinks?: boolean | undefined;
  readonly book: RequestBook;
  readonly tracker: Pick<Tracker, "track">;
  /** Requests in work that nobody has in hand. */
  readonly requests: () => readonly OpenRequest[];
  /** Sends a request that no transaction carries. */
  readonly take: (request: OpenRequest) => void;
  /** Address that brings the words of a key. */
  readonly vrfOperatorOf?: ((keyHash: Hex) => Hex | undefined) | undefined;
  /** Says why a request is not further. */
  readonly explain: (request: OpenRequest) => Promise<string | null>;
}

/**
 * Creates what ends the wait for random words. A request whose block hash neither the EVM nor the BlockhashStore has can't be
 * fulfilled any more by anybody, so it is sent again and never answered twice. One that could be, and isn't in time, fails with
 * what it waited for. One with joined words is never sent again.
 *
 * Chainlink's oracle keeps a request for 24 hours, through dear gas and a subscription that is short, and others of its nodes bring old
 * block hashes back: one that is waiting is never sent again, as both might be answered. It fails when those hours are over.
 *
 * @returns one look at all requests.
 */
export function createWordTimeouts(options: WordTimeoutsOptions): () => Promise<void> {
  const { client, watcher, book, tracker, take } = options;
  /** By VRF request id: since when (Unix time in milliseconds) nothing but the oracle is waited for. */
  const waitingSince = new Map<string, number>();
  /** By VRF request id: time of its block in seconds, by the chain's clock. */
  const askedAt = new Map<string, bigint>();

  const isHashLost = async (block: number): Promise<boolean> => {
    const args = [BigInt(block)] as const;
    const data = encodeFunctionData({ abi: blockhashStoreAbi, functionName: "getBlockhash", args });
    try {
      await client.call({ to: options.contracts.blockhashStore, data });
      return false;
    } catch (error) {
      // The store's way to say no is a revert with its reason; any other failure says nothing about the hash.
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
    // Under its old names it is not to be found any more.
    tracker.track(request);
    take(request);
  };

  const fail = async (request: OpenRequest, reason: string): Promise<void> => {
    const missing = describeMissing(request, options.vrfOperatorOf);
    const isWithheld = missing !== undefined && missingParts(request).length < request.progress.parts!.length;
    const error = isWithheld
      ? { code: "word_withheld", message: `not every VRF operator brought a word: ${missing}; ${reason}` }
      : { code: "oracle_timeout", message: `the oracle network brought no random words: ${reason}` };
    // It may have ended while the reason was looked for.
    await book.change(() => (isWaiting(request) ? [{ request, state: "failed", error }] : []));
    // Words that come too late change nothing.
    tracker.track(request);
  };

  /** Of the hours that Chainlink's oracle has, by the chain's own clock, so that a restart doesn't start them anew. */
  const lookAtChainlinks = async (request: OpenRequest, now: bigint): Promise<void> => {
    const { vrfRequestId, acceptedBlock } = request.progress;
    if (vrfRequestId === undefined || acceptedBlock === undefined) return;
    const since = askedAt.get(vrfRequestId) ?? (await client.getHead(BigInt(acceptedBlock)))?.timestamp;
    if (since === undefined) return;
    askedAt.set(vrfRequestId, since);
    if (now - since < CHAINLINK_KEEPS_SECONDS || !(await isPending(vrfRequestId))) return;
    const why = (await options.explain(request)) ?? "no reason known";
    await fail(request, `none within 24 hours, after which Chainlink's oracle drops a request; ${why}`);
  };

  const look = async (request: OpenRequest, head: number): Promise<void> => {
    const { progress, timeline } = request;
    const { vrfRequestId, acceptedBlock } = progress;
    if (vrfRequestId === undefined || acceptedBlock === undefined) return;
    const age = head - acceptedBlock;
    const confirmations =
      request.kind === "random" ? request.params.confirmations : options.presetConfirmations;
    if (age + 1 < confirmations) return;
    const unreachable = client.isOneNode ? REACHABLE_BLOCKS : REACHABLE_BLOCKS + LAG_BLOCKS;
    // A proof can be in the next block at the earliest.
    if (age >= unreachable && (await isHashLost(acceptedBlock))) {
      // Its words may be in a block that the tracker has yet to read: then they are its answer.
      const isAnswered = !(await isPending(missingParts(request)[0]?.id ?? vrfRequestId));
      if (isAnswered || request.progress.vrfRequestId !== vrfRequestId) return;
      // Sent again, a join would give who has seen the others' words another draw.
      if (progress.parts !== undefined)
        return await fail(request, `the hash of block ${acceptedBlock} is out of reach`);
      const isTriedOften = timeline.filter(({ detail }) => detail === RESENT).length >= MAX_RESENDS;
      const reason = `the hash of block ${acceptedBlock} is out of reach, after ${MAX_RESENDS} attempts`;
      return isTriedOften ? await fail(request, reason) : await sendAgain(request);
    }
    const since = waitingSince.get(vrfRequestId) ?? Date.now();
    waitingSince.set(vrfRequestId, since);
    if (Date.now() - since < WORD_TIMEOUT_MS) return;
    const why = await options.explain(request);
    await fail(request, `none within ${WORD_TIMEOUT_MS / 1000} seconds; ${why ?? "no reason known"}`);
  };

  return async () => {
    const waiting = options.requests().filter(({ kind, progress }) => {
      const isWordAwaited = kind === "random" || (kind === "preset" && progress.wordBlock === undefined);
      return isWordAwaited && progress.vrfRequestId !== undefined;
    });
    const ids = new Set<string>(waiting.map(({ progress }) => progress.vrfRequestId!));
    for (const times of [waitingSince, askedAt])
      for (const id of times.keys()) if (!ids.has(id)) times.delete(id);
    const head = watcher.head();
    if (head === undefined) return;
    for (const request of waiting)
      await (options.isChainlinks === true
        ? lookAtChainlinks(request, head.timestamp)
        : look(request, Number(head.number)));
  };
}
