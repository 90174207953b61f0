import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { firstId } from "../lib/id.ts";
import { repeat } from "../lib/repeat.ts";
import type { NetworkChain } from "../networks/network.ts";
import { findOracleCheckpoint } from "../store/chainRecords.ts";
import { deleteOldDryRuns } from "../store/dryRuns.ts";
import { listDappIds } from "../store/dapps.ts";
import {
  deletePayloads,
  deleteRequests,
  deleteTransactions,
  listOldRequests,
  listOldTransactions,
} from "../store/retention.ts";
import type { OldRequest } from "../store/retention.ts";
import { listOpenRequests, listUnsettledRequests } from "../store/requests.ts";
import { findSetting, saveSetting } from "../store/settings.ts";
import type { Store } from "../store/store.ts";
import { findLastNonce, listOpenTransactions } from "../store/transactions.ts";
import { isEnded } from "./change.ts";

const DAY_MS = 86_400_000;
/** Between passes over a network's requests. */
const PASS_INTERVAL_MS = 60_000;
/** Rows that one write deletes: some 3 ms on SQLite, where nobody else writes meanwhile. */
const ROWS_AT_ONCE = 20;
/** Rows that are looked at in one read. */
const ROWS_OF_PAGE = 200;
/** Blocks that are looked at in one step of some 30 ms, in the thread that keeps them. */
const BLOCKS_AT_ONCE = 100;
/** Between writes: a fifth of the time at most is this work's. */
const PAUSE_MS = 20;
/** The newest nonces of an account, whose transactions are kept in any case: a chain may lose and want back that many. */
const KEPT_NONCES = 1_000;

/** For how many days ended requests of a network are kept, counted from their acceptance; absent: for ever. */
export interface Keep {
  readonly requestDays?: number | undefined;
  /** What callers sent: parameters of presets, source and arguments of functions. */
  readonly payloadDays?: number | undefined;
  /** Transactions of the service that were mined, replaced or refused. */
  readonly transactionDays?: number | undefined;
  /** Blocks of a chain of our own, by their timestamps. */
  readonly blockDays?: number | undefined;
}

/** Options of {@link createRetention}. */
export interface RetentionOptions {
  readonly network: string;
  readonly store: Store;
  /** Account that sends every transaction of the service there. */
  readonly operator: string;
  readonly keep: Keep;
  /** Number of the newest final block: requests that later ones have ended are left alone. */
  readonly finalNumber: () => Promise<bigint>;
  /** Removes old blocks of a chain of our own. */
  readonly removeBlocks?: NetworkChain["removeBlocks"];
  /** Unix time in milliseconds. Default: the clock's. */
  readonly now?: () => number;
}

/** Deletes what has been kept long enough. */
export interface Retention {
  /** Deletes everything that is due, in small steps. */
  pass(): Promise<void>;
  /** Makes a pass now and then. */
  start(onError: (error: unknown) => void): void;
  /** Resolves when no step is under way any more; idempotent. */
  stop(): Promise<void>;
}

/**
 * Creates the retention of one network. A request that is in work, or whose end a reorg may yet take back, is never touched; the
 * counts of usage stay.
 */
export function createRetention(options: RetentionOptions): Retention {
  const { network, store, operator, keep, finalNumber, now = Date.now } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let stopPasses = (): void => {};
  let underWay: Promise<void> = Promise.resolve();

  const write = async (work: Parameters<Store["write"]>[0]): Promise<void> => {
    await store.write(work);
    await sleep(PAUSE_MS, undefined, { signal, ref: false });
  };

  /** Looks at requests from before a time, oldest first, and hands over those that may go. @returns the first one that may not yet. */
  const walk = async (
    range: { readonly from: string; readonly before: string },
    remove: (ids: readonly string[]) => Promise<void>,
    isDue: (request: OldRequest) => boolean = () => true,
  ): Promise<string> => {
    const final = Number(await finalNumber());
    const { from, before } = range;
    let firstKept = before;
    for (const dappId of await listDappIds(store.db)) {
      for (let after = from; ;) {
        const limit = ROWS_OF_PAGE;
        const page = await listOldRequests(store.db, { dappId, network, after, before, limit });
        const removable = page.filter(
          ({ state, endedBlock }) => isEnded(state) && (endedBlock === null || endedBlock <= final),
        );
        const kept = page.find((request) => !removable.includes(request));
        if (kept !== undefined && kept.id < firstKept) firstKept = kept.id;
        const ids = removable.filter(isDue).map(({ id }) => id);
        for (let i = 0; i < ids.length; i += ROWS_AT_ONCE) await remove(ids.slice(i, i + ROWS_AT_ONCE));
        if (page.length < limit) break;
        after = page.at(-1)!.id;
        // Reads of SQLite are this thread's: others have their turn.
        await setImmediate();
        signal.throwIfAborted();
      }
    }
    return firstKept;
  };

  const passRequests = async (days: number): Promise<void> => {
    const before = firstId("req", now() - days * DAY_MS);
    await walk({ from: "", before }, (ids) => write((db) => deleteRequests(db, ids)));
  };

  /** What is over is not looked at again: the place is noted, a little before the first request that was left alone. */
  const passPayloads = async (days: number): Promise<void> => {
    const before = firstId("req", now() - days * DAY_MS);
    const from = (await findSetting(store.db, placeName(network))) ?? "";
    if (from >= before) return;
    const firstKept = await walk(
      { from, before },
      (ids) => write((db) => deletePayloads(db, ids, now())),
      ({ hasPayload }) => hasPayload,
    );
    // Ids sort by their text: one is after all that begin with less of it.
    await saveSetting(store.db, placeName(network), firstKept.slice(0, -1));
  };

  const passTransactions = async (days: number): Promise<void> => {
    const before = await findFirstNeededNonce();
    const time = now() - days * DAY_MS;
    for (let from = 0; ;) {
      const range = { network, sender: operator, from, before, limit: ROWS_OF_PAGE };
      const page = await listOldTransactions(store.db, range);
      const old = page.filter(({ createdAt }) => createdAt < time);
      const hashes = old.filter(({ hasEnded }) => hasEnded).map(({ hash }) => hash);
      for (let i = 0; i < hashes.length; i += ROWS_AT_ONCE)
        await write((db) => deleteTransactions(db, hashes.slice(i, i + ROWS_AT_ONCE)));
      // Later nonces were signed later.
      if (page.length < ROWS_OF_PAGE || old.length === 0) return;
      // The versions of one nonce may be on two pages.
      from = Math.max(from + 1, page.at(-1)!.nonce);
      await setImmediate();
      signal.throwIfAborted();
    }
  };

  /** First nonce that a transaction under way has, or one of a request that is in work or may come back to it, or one of the newest. */
  const findFirstNeededNonce = async (): Promise<number> => {
    const last = (await findLastNonce(store.db, network, operator)) ?? 0;
    const signed = await listOpenTransactions(store.db, network);
    const nonces = (await listNeeded()).flatMap(
      ({ progress }) => (progress["nonce"] as number | undefined) ?? [],
    );
    return [...nonces, ...signed.map((one) => one.nonce)].reduce(
      (first, one) => Math.min(first, one),
      last - KEPT_NONCES,
    );
  };

  /** Requests that are in work, or may come back to it. */
  const listNeeded = async () => {
    const skip = (): void => {};
    const head = Number(await finalNumber());
    return [
      ...(await listOpenRequests(store.db, network, skip)),
      ...(await listUnsettledRequests(store.db, network, { head, depth: 0 }, skip)),
    ];
  };

  /** Blocks stay from the first on that the oracle, or a request in work, may want to read again. */
  const passBlocks = async (days: number): Promise<void> => {
    const checkpoint = await findOracleCheckpoint(store.db, network);
    if (options.removeBlocks === undefined || checkpoint === undefined) return;
    const since = (await listNeeded()).flatMap(({ progress }) => (progress["sinceBlock"] as number) ?? []);
    const before = Math.min(Number(await finalNumber()), Number(checkpoint.blockNumber), ...since);
    const olderThan = Math.floor((now() - days * DAY_MS) / 1_000);
    while (await options.removeBlocks({ before, olderThan, limit: BLOCKS_AT_ONCE }))
      await sleep(PAUSE_MS, undefined, { signal, ref: false });
  };

  const pass = async (): Promise<void> => {
    const { requestDays, payloadDays, transactionDays, blockDays } = keep;
    if (requestDays !== undefined) await passRequests(requestDays);
    if (payloadDays !== undefined) await passPayloads(payloadDays);
    if (transactionDays !== undefined) await passTransactions(transactionDays);
    if (blockDays !== undefined) await passBlocks(blockDays);
    const dryRunDays = Math.min(requestDays ?? Infinity, payloadDays ?? Infinity);
    const before = now() - dryRunDays * DAY_MS;
    if (dryRunDays < Infinity) await store.writeSoon((db) => deleteOldDryRuns(db, { network, before }));
  };

  return {
    pass,
    start(onError) {
      stopPasses = repeat(
        () => {
          const result = pass();
          underWay = result.catch(() => {});
          return result;
        },
        PASS_INTERVAL_MS,
        onError,
      );
    },
    async stop() {
      stopPasses();
      stopping.abort();
      await underWay;
    },
  };
}

function placeName(network: string): string {
  return `payloads deleted before ${network}`;
}
