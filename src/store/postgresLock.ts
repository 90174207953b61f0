import { setTimeout } from "node:timers/promises";
import { Client } from "pg";
import type { ClientBase } from "pg";
import { messageOf } from "../lib/errors.ts";
import { repeat } from "../lib/repeat.ts";
import { parseDatabaseUrl } from "./databaseUrl.ts";
import { StoreError } from "./storeErrors.ts";

/** Namespace of our advisory locks, which belong to one database: "tyche" in ASCII would have five bytes, "tych" has four. */
const NAMESPACE = 0x74_79_63_68;
/** Shared by the replicas that serve, one connection each; held exclusively by whoever must be alone. */
const SERVICE = 1;
/** Shared by all connections of the processes that serve. */
const CONNECTIONS = 2;

/** For the server to notice that the connections of an earlier process, killed a moment ago, have ended. */
const TAKE_OVER_MS = 10_000;
const TRY_INTERVAL_MS = 100;
/** How often the connection that holds the lock is tried, and how long an answer may take: longer, and the database counts as gone. */
const LOOK_INTERVAL_MS = 5_000;
const ANSWER_TIMEOUT_MS = 15_000;

/** Options of {@link lockPostgres} and {@link joinReplicas}. */
export interface PostgresLockOptions {
  /** Told, in a few words and once, that the lock can't be relied on any more: another process may have the database alone. The process must end. */
  readonly onLost: (reason: string) => void;
  /** Time that other processes get to end, in milliseconds. Default 10,000. */
  readonly waitMs?: number;
}

/** The claim of one replica to serve from a database. */
export interface ReplicaLock {
  /** Whether no other process serves, and none begins to before {@link share}. */
  readonly isAlone: boolean;
  /** Lets other replicas serve, too. Idempotent. */
  share(): Promise<void>;
  /** Gives the claim up. Idempotent. */
  unlock(): Promise<void>;
}

/**
 * Takes the claim that no process serves from a database: an advisory lock, which the server drops with the connection, however the process
 * dies. Resolves when no connection of an earlier one is left that a write may still be under way on.
 *
 * @returns what gives the claim up; idempotent.
 * @throws {StoreError} when a process serves, or the server can't be reached.
 */
export async function lockPostgres(url: string, options: PostgresLockOptions): Promise<() => Promise<void>> {
  const { unlock } = await holdLock(url, options, async (client, deadline) => {
    while ((await takeAlone(client)) !== "taken") await pauseUntil(deadline);
  });
  return unlock;
}

/**
 * Takes the claim to serve from a database as one of several replicas. The first is alone until it shares: what only one may do at a start, it
 * does then.
 *
 * @throws {StoreError} when a process has the database alone, or the server can't be reached.
 */
export async function joinReplicas(url: string, options: PostgresLockOptions): Promise<ReplicaLock> {
  const { client, taken, unlock } = await holdLock(url, options, async (client, deadline) => {
    for (;;) {
      const alone = await takeAlone(client);
      if (alone === "taken") return { isAlone: true };
      const isServed = alone === "served";
      if (isServed && (await tryLock(client, "pg_try_advisory_lock_shared", SERVICE)))
        return { isAlone: false };
      await pauseUntil(deadline);
    }
  });
  let { isAlone: mustShare } = taken;
  return {
    isAlone: taken.isAlone,
    unlock,
    async share() {
      if (!mustShare) return;
      mustShare = false;
      await client.query("SELECT pg_advisory_lock_shared($1, $2)", [NAMESPACE, SERVICE]);
      await client.query("SELECT pg_advisory_unlock($1, $2)", [NAMESPACE, SERVICE]);
    },
  };
}

/** Counts a connection among those of the process that serves. */
export async function joinService(client: ClientBase): Promise<void> {
  await client.query("SELECT pg_advisory_lock_shared($1, $2)", [NAMESPACE, CONNECTIONS]);
}

/** Takes a lock over a connection of its own, which is watched from then on. */
async function holdLock<T>(
  url: string,
  { onLost, waitMs = TAKE_OVER_MS }: PostgresLockOptions,
  take: (client: Client, deadline: number) => Promise<T>,
): Promise<{ readonly client: Client; readonly taken: T; readonly unlock: () => Promise<void> }> {
  const client = new Client({
    ...parseDatabaseUrl(url),
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  });
  let isOver = false;
  let isHeld = false;
  const lose = (reason: string): void => {
    if (isOver || !isHeld) return;
    isOver = true;
    onLost(reason);
  };
  client.on("error", (error) => lose(`the connection to it was lost (${messageOf(error)})`));
  client.on("end", () => lose("the connection to it was lost"));
  let taken: T;
  try {
    await client.connect();
    // A machine that is cut off must not keep the lock for the two hours that TCP waits by default.
    await client.query(
      "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3",
    );
    taken = await take(client, Date.now() + waitMs);
  } catch (error) {
    await client.end().catch(() => {});
    if (error instanceof StoreError) throw error;
    throw new StoreError(
      `the database can't be opened (${messageOf(error)}); see that PostgreSQL runs and that its URL is right`,
      error,
    );
  }
  isHeld = true;
  const stopLooking = repeat(
    async () => {
      const { rows } = await client.query<{ standby: boolean }>("SELECT pg_is_in_recovery() AS standby");
      if (rows[0]?.standby === true) lose("its server has become a standby, which takes no writes");
    },
    LOOK_INTERVAL_MS,
    (error) => lose(`it does not answer (${messageOf(error)})`),
  );
  const unlock = async (): Promise<void> => {
    stopLooking();
    isOver = true;
    await client.end().catch(() => {});
  };
  return { client, taken, unlock };
}

/** Takes the lock of a service where no other process has it, and none of their connections is left. */
async function takeAlone(client: Client): Promise<"taken" | "served" | "left"> {
  if (!(await tryLock(client, "pg_try_advisory_lock", SERVICE))) return "served";
  const isLeft = !(await tryLock(client, "pg_try_advisory_lock", CONNECTIONS));
  await client.query("SELECT pg_advisory_unlock($1, $2)", [NAMESPACE, isLeft ? SERVICE : CONNECTIONS]);
  return isLeft ? "left" : "taken";
}

type TryLock = "pg_try_advisory_lock" | "pg_try_advisory_lock_shared";

async function tryLock(client: Client, name: TryLock, lock: number): Promise<boolean> {
  const { rows } = await client.query<{ ok: boolean }>(`SELECT ${name}($1, $2) AS ok`, [NAMESPACE, lock]);
  return rows[0]!.ok;
}

/** @throws {StoreError} when the time is over. */
async function pauseUntil(deadline: number): Promise<void> {
  if (Date.now() >= deadline)
    throw new StoreError("another process serves from this database; stop it, or name another database");
  await setTimeout(TRY_INTERVAL_MS);
}
