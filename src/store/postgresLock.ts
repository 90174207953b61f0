import { setTimeout } from "node:timers/promises";
import type { Client, ClientBase } from "pg";
import { openLockConnection } from "./lockConnection.ts";
import { StoreError } from "./storeErrors.ts";

/** Namespace of our advisory locks, which are per database: "tych" in ASCII ("tyche" would need a fifth byte). */
const NAMESPACE = 0x74_79_63_68;
/** Shared by the serving replicas, one connection each; held exclusively by a process that must be alone. */
const SERVICE = 1;
/** Shared by all connections of the serving processes. */
const CONNECTIONS = 2;

/** For the server to notice that the connections of a process killed a moment ago have ended. */
const TAKE_OVER_MS = 10_000;
const TRY_INTERVAL_MS = 100;

export interface PostgresLockOptions {
  /**
   * Called once, with a short reason, when the lock can no longer be relied on: another process may have the database to itself. The
   * process must end.
   */
  readonly onLost: (reason: string) => void;
  /** How long to wait for other processes to end, in milliseconds. Default 10,000. */
  readonly waitMs?: number;
}

/**
 * Claims that no process serves from a database: an advisory lock, which the server releases with the connection, however the process
 * dies. Resolves once no connection of an earlier process is left on which a write may be in flight.
 *
 * @returns a function that releases the claim; idempotent.
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
 * Claims the right to serve over a connection: alone if no other process serves, otherwise beside those that do.
 *
 * @param waitMs how long to wait for a process that has the database to itself. Default 10,000.
 * @throws {StoreError} when that process still has it.
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

/** Claims the right to serve beside others, and releases the connection's exclusive claim if it has one. */
export async function shareService(client: Client): Promise<void> {
  await client.query("SELECT pg_advisory_lock_shared($1, $2)", [NAMESPACE, SERVICE]);
  await client.query("SELECT pg_advisory_unlock($1, $2)", [NAMESPACE, SERVICE]);
}

/**
 * Reclaims the right to serve beside others, unless a process has the database to itself.
 *
 * @throws {StoreError} when one has.
 */
export async function retakeService(client: Client): Promise<void> {
  if (!(await tryLock(client, "pg_try_advisory_lock_shared", SERVICE))) throw servedError();
}

/** Marks a connection as one of the serving process's. */
export async function joinService(client: ClientBase): Promise<void> {
  await client.query("SELECT pg_advisory_lock_shared($1, $2)", [NAMESPACE, CONNECTIONS]);
}

/** Takes the exclusive service lock if no other process holds it and none of their connections is left. */
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

/** Creates a pause between tries that throws a {@link StoreError} once the time is up. */
function createPause(waitMs = TAKE_OVER_MS): () => Promise<void> {
  const deadline = performance.now() + waitMs;
  return async () => {
    if (performance.now() >= deadline) throw servedError();
    await setTimeout(TRY_INTERVAL_MS);
  };
}

function servedError(): StoreError {
  return new StoreError("another process serves from this database; stop it, or name another database");
}
