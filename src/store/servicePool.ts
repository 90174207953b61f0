import type { PostgresPool, PostgresPoolClient } from "kysely";
import type { Pool, PoolClient } from "pg";
import { DatabaseAwayError, toAwayError } from "./databaseAway.ts";

/** A pool that tolerates broken connections: they fail with a {@link DatabaseAwayError} and are never reused. */
export interface ServicePool extends PostgresPool {
  /** Breaks every connection, so that whatever waits for an answer on one fails at once. */
  breakAll(): void;
}

/** Creates the pool over a pool of `pg`. */
export function createServicePool(pool: Pool): ServicePool {
  const clients = new Set<ClientWithSocket>();
  pool.on("connect", (client) => void clients.add(client as ClientWithSocket));
  pool.on("remove", (client) => void clients.delete(client as ClientWithSocket));
  return {
    async connect() {
      try {
        return wrap(await pool.connect());
      } catch (error) {
        throw toAwayError(error);
      }
    },
    end: () => pool.end(),
    breakAll() {
      for (const { connection } of clients) connection.stream.destroy();
    },
  };
}

/** The socket has no public name; `pg`'s own pool ends connections this way. */
type ClientWithSocket = PoolClient & { readonly connection: { readonly stream: { destroy(): void } } };

function wrap(client: PoolClient): PostgresPoolClient {
  let broken: DatabaseAwayError | undefined;
  const query = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    try {
      return await client.query(text, [...values]);
    } catch (error) {
      const told = toAwayError(error);
      if (told instanceof DatabaseAwayError) broken = told;
      throw told;
    }
  };
  return { query: query as PostgresPoolClient["query"], release: () => client.release(broken) };
}
