import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { messageOf } from "../lib/errors.ts";
import { openLockConnection, type LockConnection } from "./lockConnection.ts";
import { retakeService, shareService, takeService } from "./postgresLock.ts";
import { StoreError } from "./storeErrors.ts";

const RETRY_INTERVAL_MS = 250;

/** One replica's claim to serve from a database. */
export interface ReplicaLock {
  /** Whether no other process serves, and none starts to before {@link share}. */
  readonly isAlone: boolean;
  /** Whether the claim holds, as far as is known. */
  isHeld(): boolean;
  /** Resolves once the claim holds, at once if it already does. Never rejects. */
  held(): Promise<void>;
  /** Lets other replicas serve too. Idempotent. */
  share(): Promise<void>;
  /** Releases the claim. Idempotent. */
  unlock(): Promise<void>;
}

export interface ReplicaLockOptions {
  /** Called once, with a short reason why the claim can't be retaken. The process must end. */
  readonly onLost: (reason: string) => void;
  /** Called with a short reason each time the connection is lost. The claim is retaken as soon as the database answers. */
  readonly onAway?: (reason: string) => void;
  /** Called when the claim has been retaken. */
  readonly onBack?: () => void;
  /** Called before the claim counts as retaken, to check that this version may still use the tables. Throws {@link StoreError} if not. */
  readonly assertTables?: () => Promise<void>;
  /** How long to wait for a process that has the database to itself, in milliseconds. Default 10,000. */
  readonly waitMs?: number;
}

/**
 * Claims the right to serve from a database as one of several replicas. The first is alone until it shares, and does then what only one
 * process may do at startup. If the connection is lost after that, the claim is retaken over a new one once the same server answers.
 *
 * @throws {StoreError} when a process has the database to itself, or the server can't be reached.
 */
export async function joinReplicas(url: string, options: ReplicaLockOptions): Promise<ReplicaLock> {
  const { onLost, onAway = () => {}, onBack = () => {}, assertTables = async () => {}, waitMs } = options;
  const closing = new AbortController();
  let holding = Promise.withResolvers<void>();
  let isHeld = true;
  holding.resolve();

  const lose = (reason: string): void => {
    if (!isHeld) return;
    // Another process may have started what only the first may do.
    if (mustShare) return onLost(reason);
    isHeld = false;
    holding = Promise.withResolvers();
    onAway(reason);
    retake().catch((error: unknown) => {
      if (!closing.signal.aborted) onLost(messageOf(error));
    });
  };

  /** Retries until it succeeds. Throws {@link StoreError} if it never can. */
  const retake = async (): Promise<void> => {
    while (!isHeld) {
      await sleep(RETRY_INTERVAL_MS, undefined, { signal: closing.signal, ref: false });
      const next = await openLockConnection(url, lose, async (client) => {
        const isSame = (await readIdentity(client)) === identity;
        await retakeService(client);
        return isSame;
      }).catch(() => undefined);
      if (next === undefined) continue;
      connection = next;
      if (closing.signal.aborted) return await next.close();
      if (!next.taken)
        throw new StoreError("another server, or a copy that may lack its last writes, answers in its place");
      isHeld = (await isUnchanged()) && next.isOpen();
      if (!isHeld) await next.close();
    }
    holding.resolve();
    onBack();
  };

  /** Whether the tables may still be used; `false` if that can't be determined at the moment. */
  const isUnchanged = async (): Promise<boolean> => {
    try {
      await assertTables();
      return true;
    } catch (error) {
      if (error instanceof StoreError) throw error;
      return false;
    }
  };

  let mustShare = true;
  const first = await openLockConnection(url, lose, async (client) => ({
    ...(await takeService(client, waitMs)),
    identity: await readIdentity(client),
  }));
  const { isAlone, identity } = first.taken;
  mustShare = isAlone;
  let connection: LockConnection<unknown> = first;
  return {
    isAlone,
    isHeld: () => isHeld,
    held: () => holding.promise,
    async share() {
      if (!mustShare) return;
      await shareService(first.client);
      mustShare = false;
    },
    async unlock() {
      closing.abort();
      await connection.close();
    },
  };
}

/**
 * Identifies the server: of two servers with the same name, one that was promoted from a standby or restored from a backup is on another
 * timeline.
 *
 * @throws when the server doesn't accept writes, or not yet.
 */
async function readIdentity(client: Client): Promise<string> {
  const { rows } = await client.query<{ standby: boolean }>("SELECT pg_is_in_recovery() AS standby");
  if (rows[0]?.standby !== false) throw new StoreError("its server takes no writes");
  try {
    const { rows } = await client.query<{ identity: string }>(
      "SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS identity FROM pg_control_system()",
    );
    return rows[0]!.identity;
  } catch {
    // If a server doesn't say, each of its starts counts as a different server.
    const { rows } = await client.query<{ identity: string }>(
      "SELECT pg_postmaster_start_time()::text AS identity",
    );
    return rows[0]!.identity;
  }
}
