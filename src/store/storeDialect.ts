import type { Dialect, Kysely } from "kysely";
import type { Tables } from "./schema.ts";

/** A Kysely dialect, with what differs between databases beside their SQL. */
export interface StoreDialect extends Dialect {
  /**
   * Refuses a server that wouldn't hold what is stored as it is meant. Default: every one will do.
   *
   * @throws {Error} whose message says what is wrong and what to do.
   */
  assertUsable?(db: Kysely<Tables>): Promise<void>;
  /** Runs a write that replaces a secret, and sees that as little as the database allows is left of the earlier bytes. */
  erase<T>(db: Kysely<Tables>, work: () => Promise<T>): Promise<T>;
}
