import { setTimeout } from "node:timers/promises";
import { Client } from "pg";
import type { ClientBase } from "pg";
import { messageOf } from "../lib/errors.ts";
import { repeat } from "../lib/repeat.ts";
import { parseDatabaseUrl } from "./databaseUrl.ts";
import { StoreError } from "./storeErrors.ts";

/** Namespace of our advisory locks, which belong to one database: "tyche" in ASCII would have five bytes, "tych" has four. */
const NAMESPACE = 0x74_79_63_68;
/** Held exclusively, by one connection, for as long as the process serves. */
const SERVICE = 1;
/** Shared by the connections of the process that serves. */
const CONNECTIONS = 2;

/** For the server to notice that the connections of an earlier process, killed a moment ago, have ended. */
const TAKE_OVER_MS = 10_000;
const TRY_INTERVAL_MS = 100;
/** How often the connection that holds the lock is tried, and how long an answer may take: longer, and the database counts as gone. */
const LOOK_INTERVAL_MS = 5_000;
const ANSWER_TIMEOUT_MS = 15_000;

/** Options of {@link lockPostgres}. */
export interface PostgresLockOptions {
  /** Told, in a few words and once, that the lock can't be relied on any more: another process may serve. The process must end. */
  readonly onLost: (reason: string) => void;
  /** Time that another process gets to end, in milliseconds. Default 10,000. */
  readonly waitMs?: number;
}

/**
 * Takes the claim to be the only process that serves from a database: an advisory lock, which the server drops with the connection,
 * however the process dies. Resolves when no connection of an earlier one is left that a write may still be under way on.
 *
 * @returns what gives the claim up; idempotent.
 * @throws {StoreError} when another process serves, or the server can't be reached.
 */
export async function lockPostgres(
  url: string,
  { onLost, waitMs = TAKE_OVER_MS }: PostgresLockOptions,
): Promise<() => Promise<void>> {
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
  try {
    await client.connect();
    // A machine that is cut off must not keep the lock for the two hours that TCP waits by default.
    await client.query(
      "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3",
    );
    await takeLock(client, Date.now() + waitMs);
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
  return async () => {
    stopLooking();
    isOver = true;
    await client.end().catch(() => {});
  };
}

/** Counts a connection among those of the process that serves. */
export async function joinService(client: ClientBase): Promise<void> {
  await client.query("SELECT pg_advisory_lock_shared($1, $2)", [NAMESPACE, CONNECTIONS]);
}

async function takeLock(client: Client, deadline: number): Promise<void> {
  const tryLock = async (lock: number): Promise<boolean> => {
    const { rows } = await client.query<{ ok: boolean }>("SELECT pg_try_advisory_lock($1, $2) AS ok", [
      NAMESPACE,
      lock,
    ]);
    return rows[0]!.ok;
  };
  const waitFor = async (lock: number): Promise<void> => {
    while (!(await tryLock(lock))) {
      if (Date.now() >= deadline)
        throw new StoreError("another process serves from this database; stop it, or name another database");
      await setTimeout(TRY_INTERVAL_MS);
    }
  };
  await waitFor(SERVICE);
  await waitFor(CONNECTIONS);
  await client.query("SELECT pg_advisory_unlock($1, $2)", [NAMESPACE, CONNECTIONS]);
}
