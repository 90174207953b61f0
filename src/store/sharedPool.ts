import { Pool } from "pg";
import { TycheError } from "../lib/errors.ts";
import { parseDatabaseUrl } from "./databaseUrl.ts";

/** Callers wait for these statements: a database that takes longer counts as gone. */
const ANSWER_TIMEOUT_MS = 2_000;
/** One for the counts, which are sent one statement at a time, and some for sessions. */
const MAX_CONNECTIONS = 4;
const RETRY_AFTER_MS = 1_000;

/** Milliseconds since the epoch by the database's clock, which all replicas share. */
export const NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";
/** How long a replica counts as alive after its last heartbeat. It sends one every second. */
export const ALIVE_MS = 10_000;

/** Connections for statements that callers wait for: each is answered soon, or fails. */
export interface SharedPool {
  /**
   * Runs one statement.
   *
   * @throws {TycheError} `overloaded` when it fails, or isn't answered in time; its connection is then abandoned.
   */
  query<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** Creates the pool; it doesn't connect before the first statement. @param timeoutMs how long an answer may take, default 2,000 */
export function createSharedPool(url: string, timeoutMs = ANSWER_TIMEOUT_MS): SharedPool {
  const pool = new Pool({
    ...parseDatabaseUrl(url),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // A lost connection already fails its statement; an `error` event without a listener would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return {
    async query<Row extends object>(text: string, values: readonly unknown[]) {
      try {
        const { rows } = await pool.query<Row>(text, [...values]);
        return rows;
      } catch (cause) {
        throw new TycheError("the database that the replicas share does not answer; try again in a moment", {
          code: "overloaded",
          blame: "us",
          retryable: true,
          details: { retryAfterMs: RETRY_AFTER_MS },
          cause,
        });
      }
    },
    close: () => pool.end(),
  };
}
