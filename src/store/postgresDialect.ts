import {
  PostgresDialect,
  PostgresQueryCompiler,
  sql,
  type Kysely,
  type PostgresPool,
  type PostgresPoolClient,
} from "kysely";
import {
  Pool,
  TypeOverrides,
  types as builtinTypes,
  type ClientBase,
  type CustomTypesConfig,
  type PoolClient,
} from "pg";
import { withDeadline } from "../lib/deadline.ts";
import { DatabaseAwayError, toAwayError } from "./databaseAway.ts";
import { parseDatabaseUrl } from "./databaseUrl.ts";
import { joinService } from "./postgresLock.ts";
import type { Tables } from "./schema.ts";
import type { StoreDialect } from "./storeDialect.ts";

/** Connections per process: statements of concurrent calls overlap, and commits that wait for the same flush share it. */
const MAX_CONNECTIONS = 10;
/** For a connection to open or to become free. */
const CONNECT_TIMEOUT_MS = 10_000;
/** For a lost claim to be retaken. */
const CLAIM_TIMEOUT_MS = 2_000;
/**
 * How long a service's transaction may be idle. A process suspended in the middle of one would hold its locks, and keep every other
 * replica from its leases, for as long as it is suspended.
 */
const STANDSTILL_MS = 4_000;
/**
 * How long a service's statement waits for a lock. Ours are held for milliseconds: what waits longer waits for somebody else's, and its
 * caller hears of it instead of waiting until that one ends.
 */
const LOCK_WAIT_MS = 15_000;
/** Oldest release that is tested. */
const MIN_MAJOR_VERSION = 15;

export interface PostgresDialectOptions {
  /**
   * The claim of a process that serves: no other process gets the database to itself before the last of these connections has ended. New
   * connections are opened only while the claim holds, and failures because the server doesn't answer become a `DatabaseAwayError`.
   * Default: none, for a tool that runs beside the service.
   */
  readonly claim?: { held(): Promise<void> };
}

/** The dialect, with a way to break a stalled server's connections. */
export interface PostgresStoreDialect extends StoreDialect {
  /** Breaks every connection of a serving process, so that whatever waits for an unresponsive server fails at once. */
  breakConnections(): void;
}

/**
 * Creates the dialect for PostgreSQL 15 to 18 over a connection pool. It doesn't connect before the first query. Integers of 64 bits are
 * read as numbers.
 *
 * @param url `postgres://user:password@host:port/database`, with libpq's parameters such as `sslmode`. Secret.
 * @throws {DatabaseUrlError} when it is not such a URL.
 */
export function createPostgresDialect(
  url: string,
  { claim }: PostgresDialectOptions = {},
): PostgresStoreDialect {
  const prepare = async (client: ClientBase): Promise<void> => {
    // Whatever we report as stored must be on disk: overrides a server that answers before its flush, and keeps stricter settings.
    await client.query(
      "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    );
    if (claim === undefined) return;
    await withDeadline(claim.held(), CLAIM_TIMEOUT_MS).catch((error: unknown) => {
      throw new DatabaseAwayError(error);
    });
    await joinService(client);
  };
  const pool = new Pool({
    ...parseDatabaseUrl(url),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: createTypes(),
    ...(claim ? { idle_in_transaction_session_timeout: STANDSTILL_MS, lock_timeout: LOCK_WAIT_MS } : {}),
    onConnect: (client): unknown => prepare(client),
  });
  // A lost connection already fails its query; an `error` event without a listener would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const servicePool = claim && createServicePool(pool);
  const dialect = new PostgresDialect({ pool: servicePool ?? pool });
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => new QueryCompiler(),
    assertUsable,
    breakConnections: () => servicePool?.breakAll(),
    async erase(db, work) {
      const result = await work();
      // Removes the row's old version from its page. The server's log and backups keep it, sealed, for as long as they are retained.
      await sql`VACUUM api_keys`.execute(db);
      return result;
    },
  };
}

async function assertUsable(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ version: number; encoding: string }>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding`.execute(
    db,
  );
  const { version, encoding } = rows[0]!;
  const major = Math.floor(version / 10_000);
  if (major < MIN_MAJOR_VERSION)
    throw new Error(
      `the server is PostgreSQL ${major}, and at least ${MIN_MAJOR_VERSION} is needed; upgrade it`,
    );
  if (encoding !== "UTF8")
    throw new Error(`its encoding is ${encoding} and must be UTF8; create it with ENCODING 'UTF8'`);
}

/**
 * Parses 64-bit integers as numbers instead of strings: all of ours are times, nonces and counts below 2^53. Parses bytes to the type
 * SQLite returns.
 */
function createTypes(): CustomTypesConfig {
  const types = new TypeOverrides();
  types.setTypeParser(builtinTypes.builtins.INT8, Number);
  // Bytes arrive as `\x` followed by hex digits.
  types.setTypeParser(
    builtinTypes.builtins.BYTEA,
    (text) => new Uint8Array(Buffer.from(text.slice(2), "hex")),
  );
  return types;
}

/** Compiles queries for PostgreSQL, whose text can't contain NUL: what a caller looks up with one isn't stored anyway. */
class QueryCompiler extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    super.addParameter(typeof parameter === "string" ? parameter.replaceAll("\0", "\ufffd") : parameter);
  }
}

/** A pool that tolerates broken connections: they fail with a {@link DatabaseAwayError} and are never reused. */
interface ServicePool extends PostgresPool {
  /** Breaks every connection, so that whatever waits for an answer on one fails at once. */
  breakAll(): void;
}

/** Creates the pool over a pool of `pg`. */
function createServicePool(pool: Pool): ServicePool {
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
