import { createGatherer } from "../lib/gather.ts";
import { findRequest, findRequests, insertRequests, saveRequests } from "../store/requests.ts";
import { addUsage } from "../store/usage.ts";
import { DatabaseAwayError } from "../store/databaseAway.ts";
import type { Fence } from "../store/leases.ts";
import type { TimelineEntry } from "../store/requests.ts";
import type { Queryable, Store } from "../store/store.ts";
import { applyChange, isEnded } from "./change.ts";
import type { Change } from "./change.ts";
import { createDamagedRequests } from "./damagedRequests.ts";
import type { DamagedRequests } from "./damagedRequests.ts";
import { parseRequest } from "./openRequest.ts";
import type { OpenRequest } from "./openRequest.ts";
import { readPatiently } from "./readPatiently.ts";
import { usageOfSteps } from "./usage.ts";

/** How often a request is looked for whose storing a lost connection has left open. */
const MAX_READS = 8;

type Listener = (request: OpenRequest) => void;

/** Hears of every stored change of every request; must not throw. `firstNew`: index of the timeline's first new entry. */
export type RequestObserver = (
  request: OpenRequest,
  told: { readonly timeline: readonly TimelineEntry[]; readonly firstNew: number },
) => void;

/** What the book of one replica has to do with those of others. */
export interface Sharing {
  /** Whether this replica takes the network's requests to the chain: only those are kept in memory. */
  holds(network: string): boolean;
  /** Told of requests once they are stored. */
  onStored(requests: readonly OpenRequest[]): void;
  /** Requests in work on a network that another replica dispatches, or those of one dapp there, as last counted. */
  openCount(network: string, dappId?: string): number;
}

/**
 * The requests in work, and those whose end may yet be taken back, in memory and in the journal. A change is stored first, then
 * applied to the request in memory, then reported to those who wait: memory is never ahead of the journal.
 */
export interface RequestBook {
  readonly damaged: DamagedRequests;
  /**
   * Stores a new request, of version 1. Throws the store's error when its idempotency key is taken. Where the connection is lost before the answer,
   * the request is looked for.
   *
   * @param assertMay asked in the same transaction, after the request was counted; what it throws keeps the request from being stored.
   */
  add(request: OpenRequest, assertMay?: (db: Queryable) => Promise<void>): Promise<void>;
  /**
   * Takes requests that an earlier process left open, and such as have ended in blocks that aren't final; whoever waits for one is called
   * back.
   */
  restore(requests: readonly OpenRequest[]): void;
  /** Requests in work: all, those on a network, or those of one dapp there. */
  openCount(network?: string, dappId?: string): number;
  /** Requests in work on a network that have got further since then (Unix time in milliseconds). */
  activeCount(network: string, since: number): number;
  /** Requests in work on a network, oldest first. */
  open(network: string): OpenRequest[];
  get(id: string): OpenRequest | undefined;
  /** Requests of a network that blocks have ended which may yet be replaced, in the order of their ends. */
  unsettled(network: string): OpenRequest[];
  /** The blocks of a network up to this one are final: what has ended there stays so. */
  settle(network: string, block: number): void;
  /**
   * Stores the changes, all or none, with `also` in the same transaction, and applies them to the requests after that. Changes are
   * taken one call after the other, each on what the calls before have stored; a function decides what to change when its turn
   * comes. After a failed write, which may have been committed, each request is as the database has it.
   *
   * @param fence asked in the same transaction, first of all; what it throws keeps everything from being stored.
   * @throws {StaleRequestError} when the database has another version of a request than this book.
   */
  change(
    changes: readonly Change[] | (() => readonly Change[]),
    also?: (db: Queryable) => Promise<void>,
    fence?: Pick<Fence, "assertHeld">,
  ): Promise<void>;
  /** Calls back after each stored change of a request, and when it is taken from the tables; gives back a stop. */
  listen(id: string, listener: Listener): () => void;
  /** Ids of the requests that somebody waits for. */
  awaited(): string[];
  /**
   * Takes what others have stored of some requests: those of a network that is dispatched here are in memory then, and whoever waits for one
   * is called back.
   */
  reread(ids: readonly string[]): Promise<void>;
  /** Forgets the requests of a network, which another replica dispatches from now on. */
  release(network: string): void;
  /** The request as stored, in work or ended. */
  find(id: string): Promise<OpenRequest | undefined>;
}

const ALONE: Sharing = { holds: () => true, onStored: () => {}, openCount: () => 0 };

/** Makes the book over a store. `sharing`: where several replicas serve from it. `damaged`: what notes the damaged requests. */
export function createRequestBook(
  store: Store,
  observe: RequestObserver = () => {},
  sharing: Sharing = ALONE,
  damaged: DamagedRequests = createDamagedRequests(),
): RequestBook {
  const openRequests = new Map<string, OpenRequest>();
  /** By network and id. */
  const unsettled = new Map<string, Map<string, OpenRequest>>();
  const listeners = new Map<string, Set<Listener>>();
  let tail: Promise<void> = Promise.resolve();

  /** One whose key is taken fails all that are stored with it: then each goes alone. */
  const insert = createGatherer<Added>(
    (added) => store.write((db) => insertNew(db, added)),
    (error) => !(error instanceof DatabaseAwayError),
  );

  const place = (request: OpenRequest): void => {
    const { id, network } = request;
    if (!sharing.holds(network)) return;
    let ended = unsettled.get(network);
    if (ended === undefined) unsettled.set(network, (ended = new Map()));
    ended.delete(id);
    if (!isEnded(request.state)) openRequests.set(id, request);
    else {
      openRequests.delete(id);
      if (request.endedIn !== null) ended.set(id, request);
    }
  };

  const wake = (request: OpenRequest): void => {
    for (const listener of listeners.get(request.id) ?? []) listener(request);
  };

  /** Takes a request as it is stored. Whoever waits for it may have been told of nothing that has happened to it since. */
  const take = (request: OpenRequest): void => {
    place(request);
    wake(request);
  };

  /** Takes what is stored of requests whose write failed: whether it was committed is open, and memory must not differ. */
  const reload = async (requests: readonly OpenRequest[]): Promise<void> => {
    const ids = requests.map(({ id }) => id);
    const stored = await damaged.read((note) => findRequests(store.db, ids, note));
    const byId = new Map(stored.map((one) => [one.id, one]));
    for (const request of requests) {
      const found = byId.get(request.id);
      if (found?.version === request.version) continue;
      if (found !== undefined) take(Object.assign(request, found));
      // One whose row is gone, or damaged, is nobody's any more: kept, it would fail each write of a block that it shares with others.
      else place(Object.assign(request, { state: "failed", endedIn: null }));
    }
  };

  const commit = async (
    changes: readonly Change[],
    also?: (db: Queryable) => Promise<void>,
    fence?: Pick<Fence, "assertHeld">,
  ): Promise<void> => {
    if (changes.length === 0 && also === undefined) return;
    const now = Date.now();
    const drafts = new Map<OpenRequest, OpenRequest>();
    for (const change of changes) {
      const draft = drafts.get(change.request) ?? { ...change.request, version: change.request.version + 1 };
      applyChange(draft, change, now);
      drafts.set(change.request, draft);
    }
    try {
      await store.write(async (db) => {
        await fence?.assertHeld(db);
        await also?.(db);
        await saveRequests(db, [...drafts.values()]);
        await addUsage(db, usageOfSteps([...drafts].map(([before, after]) => ({ before, after }))));
      });
    } catch (error) {
      // A database that can't be read either says nothing new.
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
      wake(request);
    }
  };

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = tail.then(work);
    tail = result.then(
      () => {},
      () => {},
    );
    return result;
  };

  return {
    damaged,
    async add(request, assertMay) {
      try {
        await insert({ request, assertMay });
      } catch (error) {
        // Where it was committed all the same, it is in work.
        const stored = await readPatiently(() => findRequest(store.db, request.id), MAX_READS).catch(
          () => undefined,
        );
        if (stored !== undefined) place(request);
        // Whoever has lost the answer alone has it now.
        if (stored === undefined || !(error instanceof DatabaseAwayError)) throw error;
      }
      place(request);
      sharing.onStored([request]);
      observe(request, { timeline: request.timeline, firstNew: 0 });
    },
    restore(requests) {
      for (const request of requests) take(request);
    },
    openCount(network, dappId) {
      if (network === undefined) return openRequests.size;
      if (!sharing.holds(network)) return sharing.openCount(network, dappId);
      let count = 0;
      for (const request of openRequests.values())
        if (request.network === network && (dappId === undefined || request.dappId === dappId)) count += 1;
      return count;
    },
    activeCount(network, since) {
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
    change(changes, also, fence) {
      return inTurn(() => commit(typeof changes === "function" ? changes() : changes, also, fence));
    },
    listen(id, listener) {
      const set = listeners.get(id) ?? new Set();
      listeners.set(id, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0) listeners.delete(id);
      };
    },
    awaited: () => [...listeners.keys()],
    reread: (ids) =>
      inTurn(async () => {
        for (const stored of await damaged.read((note) => findRequests(store.db, ids, note))) {
          const known = openRequests.get(stored.id) ?? unsettled.get(stored.network)?.get(stored.id);
          if (known !== undefined && known.version >= stored.version) continue;
          take(Object.assign(known ?? {}, stored));
        }
      }),
    release(network) {
      unsettled.delete(network);
      for (const [id, request] of openRequests) if (request.network === network) openRequests.delete(id);
    },
    async find(id) {
      const stored = await findRequest(store.db, id);
      return stored && parseRequest(stored);
    },
  };
}

/** A request that is to be stored, and what must let it in. */
interface Added {
  readonly request: OpenRequest;
  readonly assertMay: ((db: Queryable) => Promise<void>) | undefined;
}

async function insertNew(db: Queryable, added: readonly Added[]): Promise<void> {
  const requests = added.map(({ request }) => request);
  await insertRequests(db, requests);
  await addUsage(db, usageOfSteps(requests.map((after) => ({ after }))));
  // In one order everywhere: what they lock may be wanted by another transaction.
  const inOrder = added.toSorted((a, b) => (a.request.dappId < b.request.dappId ? -1 : 1));
  for (const { assertMay } of inOrder) await assertMay?.(db);
}
