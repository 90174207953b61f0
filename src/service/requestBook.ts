import { setImmediate } from "node:timers/promises";
import type { Hex } from "viem";
import { findRequest, insertRequests, saveRequests } from "../store/requests.ts";
import type { BlockId, StoredRequest, TimelineEntry } from "../store/requests.ts";
import type { RequestState } from "../store/schema.ts";
import type { Queryable, Store } from "../store/store.ts";

/** What the service must know to go on with a request, after a restart too. Numbers of 256 bits are `0x` hex. */
export interface Progress {
  /** Preset: keccak256 of the stored source prefix that the request uses. */
  readonly prefixHash?: Hex;
  /** Preset: what the source gets as `args`. */
  readonly args?: readonly string[];
  readonly returnType?: "string" | "uint256" | "int256";
  /** Preset: length in bytes of that prefix. */
  readonly prefixBytes?: number;
  /** Transactions that may carry the request, all with the same nonce: more than one when a stuck one was repriced. */
  transactionHashes?: readonly Hex[];
  nonce?: number;
  /** Which entry of the transaction, and which item of the entry, the request is. */
  entry?: number;
  item?: number;
  vrfRequestId?: Hex;
  functionsRequestId?: Hex;
  /** Newest block when the first of them was signed: nothing of this request is on chain before. */
  sinceBlock?: number;
  /** Block whose logs accepted the request. */
  acceptedBlock?: number;
  /** Preset: block and transaction that brought the random word. */
  wordBlock?: number;
  wordTransactionHash?: Hex;
}

/** A request in work. */
export type OpenRequest = StoredRequest<Progress>;

/**
 * What happens to a request in one step; absent members stay as they are. A state before the end takes back what an end has
 * brought: outcome, error, and the block of the end.
 */
export interface Change {
  readonly request: OpenRequest;
  readonly state?: RequestState;
  readonly transactionHash?: Hex;
  readonly detail?: string;
  readonly why?: string | null;
  readonly progress?: Partial<Progress>;
  readonly outcome?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly message: string };
  /** With an end that a block brings. */
  readonly endedIn?: BlockId;
}

type Listener = (request: OpenRequest) => void;

/** Hears of every stored change of every request; must not throw. `firstNew`: index of the timeline's first new entry. */
export type RequestObserver = (
  request: OpenRequest,
  told: { readonly timeline: readonly TimelineEntry[]; readonly firstNew: number },
) => void;

/**
 * The requests in work, and those whose end may yet be taken back, in memory and in the journal: changed here, stored, and only then
 * told to those who wait.
 */
export interface RequestBook {
  /** Stores a new request. Throws the store's error when its idempotency key is taken. */
  add(request: OpenRequest): Promise<void>;
  /** Takes requests that an earlier process left open, and such as have ended in blocks that aren't final. */
  adopt(requests: readonly OpenRequest[]): void;
  openCount(): number;
  /** Requests in work on a network that have got further since then (Unix time in milliseconds). */
  livelyCount(network: string, since: number): number;
  /** Requests in work on a network, oldest first. */
  open(network: string): OpenRequest[];
  get(id: string): OpenRequest | undefined;
  /** Requests of a network that blocks have ended which may yet be replaced, in the order of their ends. */
  unsettled(network: string): OpenRequest[];
  /** The blocks of a network up to this one are final: what has ended there stays so. */
  settle(network: string, block: number): void;
  /** Applies the changes and stores them all, with `also` in the same transaction, before anybody is told. */
  change(changes: readonly Change[], also?: (db: Queryable) => Promise<void>): Promise<void>;
  /** Calls back after each stored change of a request; gives back a stop. */
  listen(id: string, listener: Listener): () => void;
  /** The request as stored, in work or ended. */
  find(id: string): Promise<OpenRequest | undefined>;
}

/** Whether nothing more will happen to a request in this state, unless a reorganisation takes back the block of its end. */
export function isEnded(state: RequestState): boolean {
  return state === "fulfilled" || state === "failed";
}

/** Makes the book over a store. */
export function createRequestBook(store: Store, observe: RequestObserver = () => {}): RequestBook {
  const openRequests = new Map<string, OpenRequest>();
  /** By network and id. */
  const unsettled = new Map<string, Map<string, OpenRequest>>();
  const listeners = new Map<string, Set<Listener>>();
  let gathering: { readonly requests: OpenRequest[]; readonly stored: Promise<void> } | undefined;

  /** Stores a request together with all that come in the same turn of the event loop. */
  const insert = (request: OpenRequest): Promise<void> => {
    if (gathering === undefined) {
      const requests: OpenRequest[] = [];
      const stored = setImmediate().then(() => {
        gathering = undefined;
        return insertRequests(store.db, requests);
      });
      gathering = { requests, stored };
    }
    const { requests, stored } = gathering;
    requests.push(request);
    // One whose key is taken fails them all: then each goes alone.
    return stored.catch((error: unknown) => {
      if (requests.length === 1) throw error;
      return insertRequests(store.db, [request]);
    });
  };

  const place = (request: OpenRequest): void => {
    const { id, network } = request;
    let ended = unsettled.get(network);
    if (ended === undefined) unsettled.set(network, (ended = new Map()));
    ended.delete(id);
    if (!isEnded(request.state)) openRequests.set(id, request);
    else {
      openRequests.delete(id);
      if (request.endedIn !== null) ended.set(id, request);
    }
  };

  return {
    async add(request) {
      await insert(request);
      openRequests.set(request.id, request);
      observe(request, { timeline: request.timeline, firstNew: 0 });
    },
    adopt(requests) {
      for (const request of requests) place(request);
    },
    openCount: () => openRequests.size,
    livelyCount(network, since) {
      let count = 0;
      for (const request of openRequests.values())
        if (request.network === network && request.updatedAt > since) count += 1;
      return count;
    },
    open: (network) => [...openRequests.values()].filter((request) => request.network === network),
    get: (id) => openRequests.get(id),
    unsettled: (network) => [...(unsettled.get(network)?.values() ?? [])],
    settle(network, block) {
      const ended = unsettled.get(network);
      for (const [id, { endedIn }] of ended ?? []) {
        if (endedIn !== null && endedIn.number > block) break;
        ended?.delete(id);
      }
    },
    async change(changes, also) {
      if (changes.length === 0 && also === undefined) return;
      const now = Date.now();
      const lengths = new Map(changes.map(({ request }) => [request, request.timeline.length]));
      for (const change of changes) apply(change, now);
      const touched = [...lengths.keys()];
      // Another change may come while this one is stored: each tells of its own entries.
      const told = [...lengths].map(([request, firstNew]) => ({ timeline: request.timeline, firstNew }));
      await store.write(async (db) => {
        await also?.(db);
        await saveRequests(db, touched);
      });
      for (const [index, request] of touched.entries()) {
        observe(request, told[index]!);
        place(request);
        for (const listener of listeners.get(request.id) ?? []) listener(request);
      }
    },
    listen(id, listener) {
      const set = listeners.get(id) ?? new Set();
      listeners.set(id, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0) listeners.delete(id);
      };
    },
    find: async (id) => (await findRequest(store.db, id)) as OpenRequest | undefined,
  };
}

function apply(change: Change, at: number): void {
  const { request } = change;
  if (change.progress !== undefined) request.progress = { ...request.progress, ...change.progress };
  if (change.state !== undefined && !isEnded(change.state)) {
    request.outcome = null;
    request.error = null;
    request.endedIn = null;
  }
  if (change.outcome !== undefined) request.outcome = change.outcome;
  if (change.error !== undefined) request.error = change.error;
  if (change.endedIn !== undefined) request.endedIn = change.endedIn;
  if (change.why !== undefined) request.why = change.why;
  if (change.state !== undefined) {
    request.state = change.state;
    request.updatedAt = at;
    if (isEnded(change.state)) request.why = null;
    const entry: TimelineEntry = {
      seq: request.timeline.length + 1,
      state: change.state,
      at,
      ...(change.transactionHash === undefined ? {} : { transactionHash: change.transactionHash }),
      ...(change.detail === undefined ? {} : { detail: change.detail }),
    };
    request.timeline = [...request.timeline, entry];
  }
}
