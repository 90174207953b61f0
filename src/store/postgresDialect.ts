import { DataTypeNode, PostgresDialect, PostgresQueryCompiler, sql } from "kysely";
import type { ColumnDefinitionNode, Kysely } from "kysely";
import { Pool, TypeOverrides, types as builtinTypes } from "pg";
import type { ClientBase, CustomTypesConfig } from "pg";
import { withDeadline } from "../lib/deadline.ts";
import { DatabaseAwayError } from "./databaseAway.ts";
import { parseDatabaseUrl } from "./databaseUrl.ts";
import { joinService } from "./postgresLock.ts";
import type { Tables } from "./schema.ts";
import { createServicePool } from "./servicePool.ts";
import type { StoreDialect } from "./storeDialect.ts";

/** Connections of one process: statements of calls overlap, and commits that wait for the same flush share it. */
const MAX_CONNECTIONS = 10;
/** For a connection to be made, or to become free. */
const CONNECT_TIMEOUT_MS = 10_000;
/** For a lost claim to be taken again. */
const CLAIM_TIMEOUT_MS = 2_000;
/**
 * How long a transaction of a service may stand still. A process that is stopped in the middle of one would keep its locks, and with them
 * every other replica from its leases, for as long as it is stopped.
 */
const STANDSTILL_MS = 4_000;
/** Oldest release that is tested. */
const MIN_MAJOR_VERSION = 15;

/** Options of {@link createPostgresDialect}. */
export interface PostgresDialectOptions {
  /**
   * The claim of a process that serves: no other process has the database alone before the last of these connections has ended. New ones are made
   * while it holds, and what fails because the server doesn't answer is a `DatabaseAwayError`. Default: a tool beside it.
   */
  readonly claim?: { held(): Promise<void> };
}

/** The dialect, and what ends a standstill of it. */
export interface PostgresStoreDialect extends StoreDialect {
  /** Breaks every connection of a process that serves, so that what waits for a server which doesn't answer fails at once. */
  breakConnections(): void;
}

/**
 * Creates the dialect of PostgreSQL 15 to 18, over a pool of connections. Nothing is connected before the first query. Columns that
 * migrations call `integer` have 64 bits and are read as numbers, `blob` is `bytea`, and text is ordered by its bytes, as SQLite does.
 *
 * @param url `postgres://user:password@host:port/database`, with libpq's parameters such as `sslmode`. Secret.
 * @throws {DatabaseUrlError} when it is none.
 */
export function createPostgresDialect(
  url: string,
  { claim }: PostgresDialectOptions = {},
): PostgresStoreDialect {
  const prepare = async (client: ClientBase): Promise<void> => {
    // What is told as stored must be on disk: a server that answers before its flush is overruled, a stricter setting stays.
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
    ...(claim ? { idle_in_transaction_session_timeout: STANDSTILL_MS } : {}),
    onConnect: (client): unknown => prepare(client),
  });
  // A lost connection fails the query on it; told again as an event that nobody hears, it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const servicePool = claim && createServicePool(pool);
  const dialect = new PostgresDialect({ pool: servicePool ?? pool });
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => new TableCompiler(),
    assertUsable,
    breakConnections: () => servicePool?.breakAll(),
    async erase(db, work) {
      const result = await work();
      // The replaced version of the row goes from its page. The server's log and its backups keep it, sealed, for as long as they are kept.
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

/** Numbers, not strings, for 64-bit integers: all of ours are times, nonces and counts, below 2^53. Bytes as what SQLite gives. */
function createTypes(): CustomTypesConfig {
  const types = new TypeOverrides();
  types.setTypeParser(builtinTypes.builtins.INT8, Number);
  // They come as \x and hex digits.
  types.setTypeParser(
    builtinTypes.builtins.BYTEA,
    (text) => new Uint8Array(Buffer.from(text.slice(2), "hex")),
  );
  return types;
}

/** Writes the migrations' column types, which are SQLite's, as PostgreSQL's, and parameters as it takes them. */
class TableCompiler extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    // Text has no character 0 there: what a caller looks for under such a name isn't stored.
    super.addParameter(typeof parameter === "string" ? parameter.replaceAll("\0", "\ufffd") : parameter);
  }

  protected override visitDataType(node: DataTypeNode): void {
    const types: Partial<Record<string, string>> = {
      integer: "bigint",
      blob: "bytea",
      text: 'text collate "C"',
    };
    this.append(types[node.dataType] ?? node.dataType);
  }

  protected override visitColumnDefinition(node: ColumnDefinitionNode): void {
    const { dataType } = node;
    // SQLite numbers the rows of a table with an integer as primary key by itself.
    const isRowNumber =
      node.primaryKey === true && DataTypeNode.is(dataType) && dataType.dataType === "integer";
    if (!isRowNumber) return super.visitColumnDefinition(node);
    this.visitNode(node.column);
    this.append(" bigint generated by default as identity primary key");
  }
}
