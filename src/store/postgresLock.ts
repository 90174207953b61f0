import { setTimeout } from "node:timers/promises";
import type { Client, ClientBase } from "pg";
import { openLockConnection } from "./lockConnection.ts";
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

/** Options of {@link lockPostgres}. */
export interface PostgresLockOptions {
  /** Told, in a few words and once, that the lock can't be relied on any more: another process may have the database alone. The process must end. */
  readonly onLost: (reason: string) => void;
  /** Time that other processes get to end, in milliseconds. Default 10,000. */
  readonly waitMs?: number;
}

/**
 * Takes the claim that no process serves from a database: an advisory lock, which the server drops with the connection, however the process
 * dies. Resolves when no connection of an earlier one is left that a write may still be under way on.
 *
 * @returns what gives the claim up; idempotent.
 * @throws {StoreError} when a process serves, or the server can't be reached.
 */
export async function lockPostgres(
  url: string,
  { onLost, waitMs }: PostgresLockOptions,
): Promise<() => Promise<void>> {
  const connection = await openLockConnection(url, onLost, async (client) => {
    const pause = createPause(waitMs);
    while ((await takeAlone(client)) !== "taken") await pause();
  });
  return () => connection.close();
}

/**
 * Takes the claim to serve over a connection: alone where no other process serves, otherwise beside those that do.
 *
 * @param waitMs time that a process which has the database alone gets to end. Default 10,000.
 * @throws {StoreError} when it has it still.
 */
export async function takeService(client: Client, waitMs?: number): Promise<{ readonly isAlone: boolean }> {
  const pause = createPause(waitMs);
  for (;;) {
    const alone = await takeAlone(client);
    if (alone === "taken") return { isAlone: true };
    if (alone === "served" && (await tryLock(client, "pg_try_advisory_lock_shared", SERVICE)))
      return { isAlone: false };
    await pause();
  }
}

/** Takes the claim to serve beside others, and gives up that to be alone where the connection has it. */
export async function shareService(client: Client): Promise<void> {
  await client.query("SELECT pg_advisory_lock_shared($1, $2)", [NAMESPACE, SERVICE]);
  await client.query("SELECT pg_advisory_unlock($1, $2)", [NAMESPACE, SERVICE]);
}

/**
 * Takes the claim to serve beside others again, where no process has the database alone.
 *
 * @throws {StoreError} when one has.
 */
export async function retakeService(client: Client): Promise<void> {
  if (!(await tryLock(client, "pg_try_advisory_lock_shared", SERVICE))) throw servedError();
}

/** Counts a connection among those of the process that serves. */
export async function joinService(client: ClientBase): Promise<void> {
  await client.query("SELECT pg_advisory_lock_shared($1, $2)", [NAMESPACE, CONNECTIONS]);
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

/** Pauses between two tries, and throws {@link StoreError} once the time is over. */
function createPause(waitMs = TAKE_OVER_MS): () => Promise<void> {
  const deadline = Date.now() + waitMs;
  return async () => {
    if (Date.now() >= deadline) throw servedError();
    await setTimeout(TRY_INTERVAL_MS);
  };
}

function servedError(): StoreError {
  return new StoreError("another process serves from this database; stop it, or name another database");
}
