import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { firstId } from "../../domain/id.ts";
import { repeat } from "../../lib/repeat.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { NetworkChain } from "../../networks/network.ts";
import { findOracleCheckpoint } from "../../store/chainRecords.ts";
import { deleteOldCallbackFailures } from "../../store/failedCallbacks.ts";
import { deleteOldDryRuns } from "../../store/dryRuns.ts";
import { deleteOldLateBeacons } from "../../store/lateBeacons.ts";
import { listDappIds } from "../../store/dapps.ts";
import {
  deletePayloads,
  deleteRequests,
  deleteTransactions,
  listOldRequests,
  listOldTransactions,
  type Keep,
  type OldRequest,
} from "../../store/retention.ts";
import { listOpenRequests, listNotFinalRequests } from "../../store/requests.ts";
import { findSetting, saveSetting } from "../../store/settings.ts";
import type { Store } from "../../store/store.ts";
import { findLastNonce, listOpenTransactions } from "../../store/transactions.ts";
import { isEnded } from "../../domain/vocabulary.ts";

/** Interval between passes over a network's requests. */
const PASS_INTERVAL_MS = 60_000;
/** Rows deleted per write: about 3 ms on SQLite, where nobody else can write in the meantime. */
const ROWS_AT_ONCE = 20;
/** Rows read at a time. */
const ROWS_OF_PAGE = 200;
/** Blocks examined per step, which takes about 30 ms in the thread that keeps them. */
const BLOCKS_AT_ONCE = 100;
/** Pause between writes: this work takes at most a fifth of the time. */
const PAUSE_MS = 20;
/** Newest nonces of an account whose transactions are always kept: a chain may lose that many and need them again. */
const KEPT_NONCES = 1_000;

export interface RetentionOptions {
  readonly network: string;
  readonly store: Store;
  /** Account that sends all transactions of the service there. */
  readonly operator: string;
  readonly keep: Keep;
  /** Returns the number of the newest final block: requests that ended in later ones are left alone. */
  readonly finalNumber: () => Promise<bigint>;
  /** Removes old blocks of an embedded chain. */
  readonly removeBlocks?: NetworkChain["removeBlocks"] | undefined;
  /** Returns the Unix time in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Deletes what is past its retention period. */
export interface Retention {
  /** Deletes everything that is due, in small steps. */
  pass(): Promise<void>;
  /** Runs a pass periodically. */
  start(onError: (error: unknown) => void): void;
  /** Stops the passes and resolves when no step is in flight; idempotent. */
  stop(): Promise<void>;
}

/**
 * Creates the retention of one network. A request that is open, or whose end a reorg may still take back, is never touched;
 * usage counts are kept.
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

  /** Passes removable requests from before a time, oldest first, to `remove`. @returns the id of the first request that must stay. */
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
        // SQLite reads block this thread: let other work run in between.
        await setImmediate();
        signal.throwIfAborted();
      }
    }
    return firstKept;
  };

  const passRequests = async (days: number): Promise<void> => {
    const time = now() - days * DAY_MS;
    const before = firstId("req", time);
    await walk({ from: "", before }, (ids) => write((db) => deleteRequests(db, ids)));
    await store.writeSoon(async (db) => {
      await deleteOldCallbackFailures(db, { network, before: time });
      // They belong to no network.
      await deleteOldLateBeacons(db, time);
    });
  };

  /**
   * Deletes the payloads of requests that were accepted longer ago than this. Stores its position, just before the first request that was
   * left alone, so that the next pass doesn't look at the earlier ones again.
   */
  const passPayloads = async (days: number): Promise<void> => {
    const before = firstId("req", now() - days * DAY_MS);
    const from = (await findSetting(store.db, placeName(network))) ?? "";
    if (from >= before) return;
    const firstKept = await walk(
      { from, before },
      (ids) => write((db) => deletePayloads(db, ids, now())),
      ({ hasPayload }) => hasPayload,
    );
    // Ids sort as text, and each text sorts after its own prefixes.
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
      // The versions of one nonce may span two pages.
      from = Math.max(from + 1, page.at(-1)!.nonce);
      await setImmediate();
      signal.throwIfAborted();
    }
  };

  /**
   * Returns the lowest nonce still needed: by a transaction in flight, by a request that is open or may reopen, or as one of
   * the newest.
   */
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

  /** Lists the requests that are open or may reopen. */
  const listNeeded = async () => {
    const skip = (): void => {};
    const head = Number(await finalNumber());
    return [
      ...(await listOpenRequests(store.db, network, skip)),
      ...(await listNotFinalRequests(store.db, network, { head, depth: 0 }, skip)),
    ];
  };

  /** Keeps all blocks from the first one that the oracle, or a request that is open or may reopen, may need to read again. */
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
