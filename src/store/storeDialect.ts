import type { Dialect, Kysely } from "kysely";
import type { Tables } from "./schema.ts";

/** A Kysely dialect, plus what differs between databases besides their SQL. */
export interface StoreDialect extends Dialect {
  /**
   * Refuses a server that can't store data as intended. Default: accepts every server.
   *
   * @throws {Error} whose message says what is wrong and what to do.
   */
  assertUsable?(db: Kysely<Tables>): Promise<void>;
  /** Runs a write that replaces a secret, and leaves as little of the previous bytes as the database allows. */
  erase<T>(db: Kysely<Tables>, work: () => Promise<T>): Promise<T>;
  /** See `Store.checkpoint`. */
  checkpoint?(): void;
}
