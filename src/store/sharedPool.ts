import { Pool } from "pg";
import { TycheError } from "../lib/errors.ts";
import { parseDatabaseUrl } from "./databaseUrl.ts";

/** Calls wait for these statements: a database that takes longer counts as gone. */
const ANSWER_TIMEOUT_MS = 2_000;
/** One for the counts, which go one statement at a time, and some for sessions. */
const MAX_CONNECTIONS = 4;
const RETRY_AFTER_MS = 1_000;

/** Time by the database's clock, which is the same for every replica: milliseconds since the epoch. */
export const NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";
/** How long a replica counts as alive that was heard of last. Its heart beats each second. */
export const ALIVE_MS = 10_000;

/** Connections for statements that calls wait for: each answers soon, or fails. */
export interface SharedPool {
  /**
   * Runs one statement.
   *
   * @throws {SharedStateError} when it fails, or isn't answered within 2 s; its connection is given up then.
   */
  query<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** Creates the connections; nothing is connected before the first statement. */
export function createSharedPool(url: string): SharedPool {
  const pool = new Pool({
    ...parseDatabaseUrl(url),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  });
  // A lost connection fails the statement on it; told again as an event that nobody hears, it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return {
    async query<Row extends object>(text: string, values: readonly unknown[]) {
      try {
        const { rows } = await pool.query<Row>(text, [...values]);
        return rows;
      } catch (cause) {
        throw new SharedStateError(cause);
      }
    },
    close: () => pool.end(),
  };
}

/** What the replicas share can't be read or written. */
export class SharedStateError extends TycheError {
  constructor(cause: unknown) {
    super("the database that the replicas share does not answer; try again in a moment", {
      code: "overloaded",
      blame: "us",
      retryable: true,
      details: { retryAfterMs: RETRY_AFTER_MS },
      cause,
    });
  }
}
