import type { Hex } from "viem";
import { createMutex } from "../lib/mutex.ts";
import { batchWrites } from "../lib/batchWrites.ts";
import {
  findRequest,
  findRequestByOracleId,
  findRequests,
  insertRequests,
  saveRequests,
  type BlockId,
  type TimelineEntry,
} from "../store/requests.ts";
import { claimLabel } from "../store/labels.ts";
import { addUsage } from "../store/usage.ts";
import { DatabaseAwayError, readPatiently } from "../store/databaseAway.ts";
import type { Fence } from "../store/leases.ts";
import type { Store } from "../store/store.ts";
import type { Queryable } from "../store/queryable.ts";
import { createDamagedRequests, type DamagedRequests } from "./keep/damagedRequests.ts";
import { parseStoredRequest, type OpenRequest, type RequestFacts, type RequestStep } from "./openRequest.ts";
import type { Labelled } from "./service.ts";
import { usageOfSteps } from "./keep/usage.ts";
import { isEnded, type RequestState } from "../domain/vocabulary.ts";

/** Attempts to read back a request when a lost connection leaves it open whether it was stored. */
const MAX_READS = 8;

type Listener = (request: OpenRequest) => void;

/** Called after every stored change of every request; must not throw. `firstNew`: index of the timeline's first new entry. */
export type RequestObserver = (
  request: OpenRequest,
  told: { readonly timeline: readonly TimelineEntry[]; readonly firstNew: number },
) => void;

/** How the book of one replica works with those of others. */
export interface Sharing {
  /** Whether this replica dispatches on the network: only those networks' requests are kept in memory. */
  holds(network: string): boolean;
  /** Called with requests once they are stored. */
  onStored(requests: readonly OpenRequest[]): void;
  /** Number of open requests, of all dapps or of one, on a network where another replica dispatches, as last counted. */
  openCount(network: string, dappId?: string): number;
}

/**
 * The open requests, and those whose end a reorg may still take back, in memory and in the journal. A change is persisted,
 * then applied to the request in memory, then announced to its listeners: memory is never ahead of the journal.
 */
export interface RequestBook {
  readonly damaged: DamagedRequests;
  /**
   * Stores a new request with version 1. Throws the store's error when its idempotency key is taken. If the connection is
   * lost before the answer, the request is read back. Nobody may be told of it before the store is flushed.
   *
   * @param assertMay called in the same transaction, after the request was counted; if it throws, the request is not stored.
   */
  add(request: OpenRequest, assertMay?: (db: Queryable) => Promise<void>): Promise<void>;
  /** Loads requests that an earlier process left open, and those that ended in blocks that aren't final; calls their listeners. */
  restore(requests: readonly OpenRequest[]): void;
  /** Number of open requests: all of them, those on a network, or those of one dapp there. */
  openCount(network?: string, dappId?: string): number;
  /** Number of open requests on a network that have changed state within the last `withinMs`. */
  activeCount(network: string, withinMs: number): number;
  /**
   * For how long an open request has been in its state, in milliseconds. An adjustment of the system clock changes nothing: only what it
   * was when the request was loaded comes from that clock.
   */
  ageMs(request: OpenRequest): number;
  /** Open requests on a network, oldest first. */
  open(network: string): OpenRequest[];
  get(id: string): OpenRequest | undefined;
  /** Requests of a network that ended in blocks that may still be replaced, in the order of their ends. */
  notFinal(network: string): OpenRequest[];
  /** Marks the blocks of a network up to this one as final: requests that ended there stay ended. */
  settle(network: string, block: number): void;
  /**
   * Stores the changes, all or none, with `also` in the same transaction, then applies them to the requests. Calls are
   * handled in sequence, each based on what the previous ones stored: `decide` is called when its turn comes, as a request may have ended
   * while the call was prepared. After a failed write, which may have been committed, each request is as the database has it.
   *
   * @throws {StaleRequestError} when the database has another version of a request than this book.
   */
  change(
    decide: () => readonly Change[],
    also?: (db: Queryable) => Promise<void>,
    terms?: ChangeTerms,
  ): Promise<void>;
  /** Calls `listener` after each stored change of a request, and when it is loaded from the database; returns a function that stops it. */
  listen(id: string, listener: Listener): () => void;
  /** Ids of the requests that have listeners. */
  awaited(): string[];
  /**
   * Reads requests again that others have stored: those of a network that is dispatched here are kept in memory, and
   * listeners are called.
   */
  reread(ids: readonly string[]): Promise<void>;
  /** Drops the requests of a network from memory, when another replica takes over dispatching there. */
  release(network: string): void;
  /** Reads a request from the store, open or ended. */
  find(id: string): Promise<OpenRequest | undefined>;
  /** Reads a dapp's request by the id that the oracle network assigned. */
  findByOracleId(dappId: string, oracleId: Hex): Promise<OpenRequest | undefined>;
}

/** How changes are stored. */
export interface ChangeTerms {
  /** Checked first in the same transaction; if it throws, nothing is stored. */
  readonly fence?: Pick<Fence, "assertHeld">;
  /** Whether the chain shows what has changed: after a power cut it is read again, so nothing waits for the disk. Default: no. */
  readonly isOnChain?: boolean;
}

/** Stores events for webhooks with the changes that they tell of. */
export interface RequestOutbox {
  /** Called in the transaction of every change. Returns whether there is something to deliver. */
  add(db: Queryable, steps: readonly RequestStep[]): Promise<boolean>;
  /** Called once a transaction with something to deliver is committed. */
  wake(): void;
}

const NO_OUTBOX: RequestOutbox = { add: async () => false, wake: () => {} };

const ALONE: Sharing = { holds: () => true, onStored: () => {}, openCount: () => 0 };

export interface RequestBookOptions {
  /** Default: nobody. */
  readonly observe?: RequestObserver;
  /** How the book works with those of other replicas. Default: this process alone serves from the store. */
  readonly sharing?: Sharing | undefined;
  /** The record of damaged requests. Default: one of its own, without a log. */
  readonly damaged?: DamagedRequests;
  /** Default: no webhook is told of changes. */
  readonly outbox?: RequestOutbox;
}

/** Creates the book over a store. */
export function createRequestBook(store: Store, options: RequestBookOptions = {}): RequestBook {
  const {
    observe = () => {},
    sharing = ALONE,
    damaged = createDamagedRequests(),
    outbox = NO_OUTBOX,
  } = options;
  const memory = createMemory(sharing);
  const { place } = memory;
  const listeners = createListeners();

  /** What a receiver is told survives a power cut, or it would be told again under another id. */
  const tell = async (hasEvents: boolean): Promise<void> => {
    if (!hasEvents) return;
    await store.flush();
    outbox.wake();
  };

  /** A request whose key is taken fails all that are stored with it; each is then stored alone. */
  const insert = batchWrites<Added>(
    async (added) => {
      await tell(await store.writeSoon((db) => insertNew(db, added, outbox)));
    },
    (error) => !(error instanceof DatabaseAwayError),
  );

  /** Loads a request as stored. Its listeners may have missed everything that happened to it since. */
  const take = (request: OpenRequest): void => {
    place(request);
    listeners.wake(request);
  };

  /** Reloads requests whose write failed: it may have been committed, and memory must not differ from the database. */
  const reload = async (requests: readonly OpenRequest[]): Promise<void> => {
    const ids = requests.map(({ id }) => id);
    const stored = await damaged.read((note) => findRequests(store.db, ids, note));
    const byId = new Map(stored.map((one) => [one.id, one]));
    for (const request of requests) {
      const found = byId.get(request.id);
      if (found?.version === request.version) continue;
      if (found !== undefined) take(Object.assign(request, found));
      // A request whose row is gone or damaged is dropped: kept, it would fail every write of a block that it shares with others.
      else place(Object.assign(request, { state: "failed", endedIn: null }));
    }
  };

  const commit = async (
    changes: readonly Change[],
    also?: (db: Queryable) => Promise<void>,
    { fence, isOnChain = false }: ChangeTerms = {},
  ): Promise<void> => {
    if (changes.length === 0 && also === undefined) return;
    const drafts = draftsOf(changes);
    const steps = [...drafts].map(([before, after]) => ({ before, after }));
    try {
      const hasEvents = await store[isOnChain ? "writeSoon" : "write"](async (db) => {
        await fence?.assertHeld(db);
        await also?.(db);
        await saveRequests(db, [...drafts.values()]);
        await addUsage(db, usageOfSteps(steps));
        return await outbox.add(db, steps);
      });
      await tell(hasEvents);
    } catch (error) {
      // If the database can't be read either, there is nothing new to learn.
      await reload([...drafts.keys()]).catch(() => {});
      throw error;
    }
    const changed = [...drafts].map(([request, draft]) => {
      const firstNew = request.timeline.length;
      Object.assign(request, draft);
      place(request);
      return { request, firstNew };
    });
    sharing.onStored(changed.map(({ request }) => request));
    for (const { request, firstNew } of changed) {
      observe(request, { timeline: request.timeline, firstNew });
      listeners.wake(request);
    }
  };

  const inTurn = createMutex();

  return {
    damaged,
    ...memory.shown,
    async add(request, assertMay) {
      try {
        await insert({ request, assertMay });
      } catch (error) {
        // If it was committed after all, the request is open.
        const stored = await readPatiently(() => findRequest(store.db, request.id), MAX_READS).catch(
          () => undefined,
        );
        if (stored !== undefined) place(request);
        // If only the answer was lost, the request is stored and nothing has failed.
        if (stored === undefined || !(error instanceof DatabaseAwayError)) throw error;
      }
      place(request);
      sharing.onStored([request]);
      observe(request, { timeline: request.timeline, firstNew: 0 });
    },
    restore(requests) {
      for (const request of requests) take(request);
    },
    change: (decide, also, terms) => inTurn(() => commit(decide(), also, terms)),
    listen: listeners.listen,
    awaited: listeners.awaited,
    reread: (ids) =>
      inTurn(async () => {
        for (const stored of await damaged.read((note) => findRequests(store.db, ids, note))) {
          const known = memory.find(stored);
          if (known !== undefined && known.version >= stored.version) continue;
          take(Object.assign(known ?? {}, stored));
        }
      }),
    async find(id) {
      const stored = await findRequest(store.db, id);
      return stored && parseStoredRequest(stored);
    },
    async findByOracleId(dappId, oracleId) {
      const stored = await findRequestByOracleId(store.db, dappId, oracleId);
      return stored && parseStoredRequest(stored);
    },
  };
}

/** Creates the memory of a book: open requests, and those that have ended in blocks that aren't final. */
function createMemory(sharing: Sharing) {
  const openRequests = new Map<string, OpenRequest>();
  /** By network and id. */
  const notFinal = new Map<string, Map<string, OpenRequest>>();
  /** When the open requests' states began: `updatedAt`, and the same moment by `performance.now()`. */
  const states = new Map<string, { readonly updatedAt: number; readonly beganMs: number }>();

  const count = (isCounted: (request: OpenRequest) => boolean): number => {
    let counted = 0;
    for (const request of openRequests.values()) if (isCounted(request)) counted += 1;
    return counted;
  };
  const ageMs = (request: OpenRequest): number => {
    const began = states.get(request.id);
    return began === undefined ? wallAgeMs(request) : performance.now() - began.beganMs;
  };
  const shown = {
    ageMs,
    openCount(network, dappId) {
      if (network === undefined) return openRequests.size;
      if (!sharing.holds(network)) return sharing.openCount(network, dappId);
      return count((one) => one.network === network && (dappId === undefined || one.dappId === dappId));
    },
    activeCount: (network, withinMs) => count((one) => one.network === network && ageMs(one) < withinMs),
    open: (network) => [...openRequests.values()].filter((request) => request.network === network),
    get: (id) => openRequests.get(id),
    notFinal: (network) => [...(notFinal.get(network)?.values() ?? [])],
    settle(network, block) {
      const ended = notFinal.get(network);
      for (const [id, { endedIn }] of ended ?? []) {
        if (endedIn !== null && endedIn.number > block) break;
        ended?.delete(id);
      }
    },
    release(network) {
      notFinal.delete(network);
      for (const [id, request] of openRequests) {
        if (request.network !== network) continue;
        openRequests.delete(id);
        states.delete(id);
      }
    },
  } satisfies Partial<RequestBook>;

  return {
    /** What a book shows of its memory. */
    shown,
    find: ({ id, network }: Pick<OpenRequest, "id" | "network">) =>
      openRequests.get(id) ?? notFinal.get(network)?.get(id),
    /** Puts a request where its state belongs. */
    place: (request: OpenRequest): void => {
      const { id, network } = request;
      if (!sharing.holds(network)) return;
      let ended = notFinal.get(network);
      if (ended === undefined) notFinal.set(network, (ended = new Map()));
      ended.delete(id);
      if (!isEnded(request.state)) {
        openRequests.set(id, request);
        const { updatedAt } = request;
        if (states.get(id)?.updatedAt !== updatedAt)
          states.set(id, { updatedAt, beganMs: performance.now() - wallAgeMs(request) });
      } else {
        openRequests.delete(id);
        states.delete(id);
        if (request.endedIn !== null) ended.set(id, request);
      }
    },
  };
}

/** Creates what tells those who wait for a request of its changes. */
function createListeners() {
  const listeners = new Map<string, Set<Listener>>();
  return {
    listen: (id: string, listener: Listener): (() => void) => {
      const set = listeners.get(id) ?? new Set();
      listeners.set(id, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0) listeners.delete(id);
      };
    },
    wake(request: OpenRequest): void {
      for (const listener of listeners.get(request.id) ?? []) listener(request);
    },
    awaited: (): string[] => [...listeners.keys()],
  };
}

/** Returns requests as changes leave them, by the requests as they are. */
function draftsOf(changes: readonly Change[]): ReadonlyMap<OpenRequest, OpenRequest> {
  const now = Date.now();
  const drafts = new Map<OpenRequest, OpenRequest>();
  for (const change of changes) {
    const draft = drafts.get(change.request) ?? { ...change.request, version: change.request.version + 1 };
    applyChange(draft, change, now);
    drafts.set(change.request, draft);
  }
  return drafts;
}

/** Returns for how long a request has been in its state by the system clock, in milliseconds. */
function wallAgeMs({ updatedAt }: OpenRequest): number {
  return Math.max(0, Date.now() - updatedAt);
}

/** A request to store, and the check that must admit it. */
interface Added {
  readonly request: OpenRequest;
  readonly assertMay: ((db: Queryable) => Promise<void>) | undefined;
}

/** Returns whether there is something to deliver. */
async function insertNew(db: Queryable, added: readonly Added[], outbox: RequestOutbox): Promise<boolean> {
  const requests = added.map(({ request }) => request);
  const steps = requests.map((after) => ({ after }));
  await insertRequests(db, requests);
  // Always in the same order: another transaction may need the rows they lock.
  const inOrder = added.toSorted((a, b) => (a.request.dappId < b.request.dappId ? -1 : 1));
  for (const { request } of inOrder) {
    const { id: requestId, dappId, network, params } = request;
    const { label, once = false } = params as Labelled;
    if (label !== undefined) await claimLabel(db, { dappId, network, label, requestId, isOnce: once });
  }
  await addUsage(db, usageOfSteps(steps));
  const hasEvents = await outbox.add(db, steps);
  for (const { assertMay } of inOrder) await assertMay?.(db);
  return hasEvents;
}

/**
 * One step in a request's progress; absent members stay unchanged. A state before the end clears what an end has set:
 * outcome, error and the block of the end.
 */
export interface Change {
  readonly request: OpenRequest;
  readonly state?: RequestState;
  readonly transactionHash?: Hex;
  readonly detail?: string;
  readonly why?: string | null;
  readonly progress?: RequestFacts;
  /** Facts that no longer hold; removed before `progress` is merged in. */
  readonly forget?: readonly (keyof RequestFacts)[];
  readonly outcome?: NonNullable<OpenRequest["outcome"]>;
  readonly error?: { readonly code: string; readonly message: string };
  /** Set if a block ended the request. */
  readonly endedIn?: BlockId;
}

/** Stores a change to one request, with `also`, unless the request has ended in the meantime. */
export async function changeOpen(
  book: Pick<RequestBook, "change" | "get">,
  change: Change,
  also?: (db: Queryable) => Promise<void>,
): Promise<void> {
  let isOpen = false;
  await book.change(
    () => {
      isOpen = book.get(change.request.id) !== undefined;
      return isOpen ? [change] : [];
    },
    also && (async (db) => (isOpen ? await also(db) : undefined)),
  );
}

/** Applies a change to a draft of its request. @param at Unix time in milliseconds. */
export function applyChange(request: OpenRequest, change: Omit<Change, "request">, at: number): void {
  if (change.forget !== undefined || change.progress !== undefined) {
    const progress = { ...request.progress };
    for (const name of change.forget ?? []) delete progress[name];
    // Facts are common to all kinds and never overlap with a kind's own members.
    Object.assign(request, { progress: { ...progress, ...change.progress } });
  }
  if (change.state !== undefined && !isEnded(change.state)) {
    request.outcome = null;
    request.error = null;
    request.endedIn = null;
  }
  if (change.outcome !== undefined) Object.assign(request, { outcome: change.outcome });
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
