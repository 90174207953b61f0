import { Client } from "pg";
import { messageOf } from "../lib/errors.ts";
import { repeat } from "../lib/repeat.ts";
import { parseDatabaseUrl } from "./databaseUrl.ts";
import { StoreError } from "./storeErrors.ts";

/** How often the connection is checked, and how long an answer may take before the database counts as gone. */
const LOOK_INTERVAL_MS = 5_000;
const ANSWER_TIMEOUT_MS = 15_000;

/** A connection that holds a session-level lock, and what taking the lock returned. */
export interface LockConnection<T> {
  readonly client: Client;
  readonly taken: T;
  /** Whether the connection is, as far as is known, neither lost nor closed. */
  isOpen(): boolean;
  /** Ends the connection, and the lock with it. Idempotent; doesn't call `onLost`. */
  close(): Promise<void>;
}

/**
 * Takes a lock over a dedicated connection, which is monitored from then on.
 *
 * @param url see `createPostgresDialect`. Secret.
 * @param onLost called once, with a short reason, when the connection can no longer be relied on.
 * @param take takes the lock; if it throws, the connection is closed.
 * @throws {StoreError} when the server can't be reached.
 */
export async function openLockConnection<T>(
  url: string,
  onLost: (reason: string) => void,
  take: (client: Client) => Promise<T>,
): Promise<LockConnection<T>> {
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
    stopLooking();
    onLost(reason);
  };
  const stopLooking = repeat(
    async () => {
      if (!isHeld) return;
      const { rows } = await client.query<{ standby: boolean }>("SELECT pg_is_in_recovery() AS standby");
      if (rows[0]?.standby === true) lose("its server has become a standby, which takes no writes");
    },
    LOOK_INTERVAL_MS,
    (error) => lose(`it does not answer (${messageOf(error)})`),
  );
  const close = async (): Promise<void> => {
    stopLooking();
    isOver = true;
    await client.end().catch(() => {});
  };
  client.on("error", (error) => lose(`the connection to it was lost (${messageOf(error)})`));
  client.on("end", () => lose("the connection to it was lost"));
  try {
    await client.connect();
    // A machine that is cut off must not keep the lock for the two hours that TCP waits by default.
    await client.query(
      "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3",
    );
    const taken = await take(client);
    isHeld = true;
    return { client, taken, isOpen: () => !isOver, close };
  } catch (error) {
    await close();
    if (error instanceof StoreError) throw error;
    throw new StoreError(
      `the database can't be opened (${messageOf(error)}); see that PostgreSQL runs and that its URL is right`,
      error,
    );
  }
}
