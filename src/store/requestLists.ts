import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { REQUEST_KINDS, REQUEST_STATES, type RequestKind, type RequestState } from "../domain/vocabulary.ts";
import { parseRows, type OnDamaged, type StoredRequest } from "./requests.ts";
import type { Queryable } from "./queryable.ts";
import { firstId } from "../domain/id.ts";

/** Filters and position of a page of {@link listRequests}. */
export interface RequestPage {
  readonly dappId: string;
  /** Maximum number of rows. */
  readonly limit: number;
  /** Id of the last row of the previous page. */
  readonly before?: string | undefined;
  readonly state?: RequestState | undefined;
  readonly kind?: RequestKind | undefined;
  readonly network?: string | undefined;
}

/**
 * Returns a page of a dapp's requests, newest first. No filter scans rows that don't match: a filter that matches nothing is as fast as
 * one that matches everything, milliseconds at a million rows.
 *
 * @param onDamaged called for each unreadable row of the page, which is then left out. Default: the first one throws.
 */
export async function listRequests(
  db: Queryable,
  page: RequestPage,
  onDamaged?: OnDamaged,
): Promise<StoredRequest[]> {
  const { dappId, limit, before, state, kind, network } = page;
  let query = db.selectFrom("requests").selectAll().where("dapp_id", "=", dappId);
  const isIndexed = state === undefined && (kind === undefined || network === undefined);
  if (!isIndexed) {
    const ids = await findIds(db, page);
    if (ids.length === 0) return [];
    query = query.where("id", "in", ids);
  } else {
    if (kind !== undefined) query = query.where("kind", "=", kind);
    if (network !== undefined) query = query.where("network", "=", network);
    if (before !== undefined) query = query.where("id", "<", before);
  }
  return parseRows(await query.orderBy("id", "desc").limit(limit).execute(), onDamaged);
}

/**
 * Finds a page's ids in the index that covers all filters. The columns that a filter leaves open have few values, so each combination is
 * a range of the index: the newest ids of each range are read, and the newest of those form the page.
 */
async function findIds(db: Queryable, page: RequestPage): Promise<string[]> {
  const { dappId, limit, before, state, kind, network } = page;
  const networks = network === undefined ? await listNetworks(db, dappId) : [network];
  const states = state === undefined ? REQUEST_STATES : [state];
  const kinds = kind === undefined ? REQUEST_KINDS : [kind];
  const ids: string[] = [];
  for (const eachNetwork of networks)
    for (const eachState of states)
      for (const eachKind of kinds) {
        let query = db
          .selectFrom("requests")
          .select("id")
          .where("dapp_id", "=", dappId)
          .where("network", "=", eachNetwork)
          .where("state", "=", eachState)
          .where("kind", "=", eachKind);
        if (before !== undefined) query = query.where("id", "<", before);
        ids.push(...(await query.orderBy("id", "desc").limit(limit).execute()).map(({ id }) => id));
      }
  return ids.toSorted((a, b) => (a < b ? 1 : -1)).slice(0, limit);
}

/** Requests that a page looks through for those of a preset, kind or state, or with a text, which no index has. */
const SCANNED = 1_000;
/** How many of them are read at once where each must be looked at here: some milliseconds, between which others get their turn. */
const SCANNED_AT_ONCE = 50;

/**
 * Returns a page of all dapps' requests that the oracle network has on chain, newest first. An index has just these.
 *
 * @param page `before`: id of the last row of the previous page; `preset`, `kind`, `states`, `dappId` and `accepts`: only such requests, among the
 *   next {@link SCANNED}
 * @param onDamaged see {@link parseRows}
 * @returns `end`: the id after which older ones have not been looked through; `null` if all have. `matches`, on the first page: how many
 *   there are among the newest {@link SCANNED}, and whether there are no older ones
 */
export async function listRequestsOnChain(
  db: Queryable,
  page: {
    readonly networks: readonly string[];
    readonly limit: number;
    readonly before?: string | undefined;
    readonly preset?: string | undefined;
    readonly kind?: RequestKind | undefined;
    readonly states?: readonly RequestState[] | undefined;
    readonly dappId?: string | undefined;
    readonly accepts?: ((request: StoredRequest) => boolean) | undefined;
  },
  onDamaged?: OnDamaged,
): Promise<{
  readonly rows: StoredRequest[];
  readonly end: string | null;
  readonly matches?: { readonly count: number; readonly isAll: boolean };
}> {
  const { networks, limit, before, preset, kind, states, dappId, accepts } = page;
  const isScan = [preset, kind, states, dappId, accepts].some((filter) => filter !== undefined);
  const read = async (network: string) => {
    let query = db
      .selectFrom("requests")
      .select("id")
      .where("network", "=", network)
      .where("oracle_id", "is not", null);
    if (before !== undefined) query = query.where("id", "<", before);
    const most = isScan || before === undefined ? SCANNED + 1 : limit;
    return (await query.orderBy("id", "desc").limit(most).execute()).map(({ id }) => id);
  };
  const ids = (await Promise.all(networks.map(read))).flat().toSorted((a, b) => (a < b ? 1 : -1));
  const scanned = ids.slice(0, isScan ? SCANNED : limit);
  const end = ids.length > scanned.length ? scanned.at(-1)! : null;
  const isFirst = before === undefined;
  const atOnce = accepts === undefined ? SCANNED : SCANNED_AT_ONCE;
  const rows: StoredRequest[] = [];
  let found = 0;
  for (let from = 0; from < scanned.length && (isFirst || found < limit); from += atOnce) {
    if (from > 0) await nextTurn();
    const query = selectScanned(db, { ...page, ids: scanned.slice(from, from + atOnce) });
    const newest = query.selectAll().orderBy("id", "desc");
    const read = await (accepts === undefined ? newest.limit(limit) : newest).execute();
    const wanted = parseRows(read, onDamaged).filter((row) => accepts?.(row) ?? true);
    rows.push(...wanted.slice(0, limit - rows.length));
    found += wanted.length;
  }
  if (!isFirst) return { rows, end };
  const isAll = ids.length <= SCANNED;
  if (!isScan) return { rows, end, matches: { count: Math.min(ids.length, SCANNED), isAll } };
  if (accepts !== undefined || found < limit) return { rows, end, matches: { count: found, isAll } };
  const counted = await selectScanned(db, { ...page, ids: scanned })
    .select(({ fn }) => fn.countAll<number | string>().as("count"))
    .executeTakeFirstOrThrow();
  return { rows, end, matches: { count: Number(counted.count), isAll } };
}

/** Selects those of these requests that are for a preset, of a kind or in a state. */
function selectScanned(
  db: Queryable,
  {
    ids,
    preset,
    kind,
    states,
    dappId,
  }: Omit<Parameters<typeof listRequestsOnChain>[1], "networks" | "limit"> & {
    readonly ids: readonly string[];
  },
) {
  let query = db.selectFrom("requests").where("id", "in", [...ids]);
  if (preset !== undefined) {
    // Quotes within the JSON of other values are escaped. LIKE would ignore case in SQLite.
    const member = `"preset":${JSON.stringify(preset)}`;
    query = query.where(sql<boolean>`replace(params, ${member}, '') <> params`);
  }
  if (kind !== undefined) query = query.where("kind", "=", kind);
  if (dappId !== undefined) query = query.where("dapp_id", "=", dappId);
  if (states !== undefined) query = query.where("state", "in", [...states]);
  return query;
}

/** Rows that a search by the beginning of a hash finds at most. */
const MAX_PREFIXED = 20;

/** Returns some requests whose id begins with `prefix`: that of the oracle network's, `0x` and lower-case digits, or their own. @param onDamaged see {@link parseRows}. */
export async function listRequestsByPrefix(
  db: Queryable,
  prefix: string,
  onDamaged?: OnDamaged,
): Promise<StoredRequest[]> {
  const column = prefix.startsWith("0x") ? "oracle_id" : "id";
  const query = db
    .selectFrom("requests")
    .selectAll()
    .where(column, ">=", prefix)
    // It follows all digits and letters of either.
    .where(column, "<", `${prefix}~`);
  return parseRows(await query.limit(MAX_PREFIXED).execute(), onDamaged);
}

/** Returns the requests on a network with these ids of the oracle network's. @param onDamaged see {@link parseRows}. */
export async function listRequestsByOracleIds(
  db: Queryable,
  { network, oracleIds }: { readonly network: string; readonly oracleIds: readonly string[] },
  onDamaged?: OnDamaged,
): Promise<StoredRequest[]> {
  if (oracleIds.length === 0) return [];
  const rows = await db
    .selectFrom("requests")
    .selectAll()
    .where("oracle_id", "in", [...oracleIds])
    .execute();
  // Not in the query: SQLite would read all of a network's requests, where there are many ids.
  const found = rows.filter((row) => row.network === network);
  return parseRows(found, onDamaged);
}

/** Returns the networks that a dapp has requests on, with one index lookup for each. */
async function listNetworks(db: Queryable, dappId: string): Promise<string[]> {
  const networks: string[] = [];
  for (let last = ""; ;) {
    const row = await db
      .selectFrom("requests")
      .select("network")
      .where("dapp_id", "=", dappId)
      .where("network", ">", last)
      .orderBy("network")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return networks;
    networks.push((last = row.network));
  }
}

/** Returns the id and version of each known request among these ids. */
export async function listVersions(
  db: Queryable,
  ids: readonly string[],
): Promise<(readonly [id: string, version: number])[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom("requests")
    .select(["id", "version"])
    .where("id", "in", [...ids])
    .execute();
  return rows.map(({ id, version }) => [id, version]);
}

/** Returns the id and version of every request on a network that has not ended. */
export async function listOpenVersions(
  db: Queryable,
  network: string,
): Promise<(readonly [id: string, version: number])[]> {
  const rows = await db
    .selectFrom("requests")
    .select(["id", "version"])
    .where("network", "=", network)
    .where("state", "not in", ["fulfilled", "failed"])
    .execute();
  return rows.map(({ id, version }) => [id, version]);
}

/** Counts the requests that have not ended, by network and dapp. */
export async function countOpenRequests(
  db: Queryable,
): Promise<{ readonly network: string; readonly dappId: string; readonly count: number }[]> {
  const rows = await db
    .selectFrom("requests")
    .select(["network", "dapp_id", ({ fn }) => fn.countAll<number>().as("count")])
    .where("state", "not in", ["fulfilled", "failed"])
    .groupBy(["network", "dapp_id"])
    .execute();
  return rows.map(({ network, dapp_id, count }) => ({ network, dappId: dapp_id, count }));
}

/** Counts of the requests accepted within a time range. */
export interface RequestCounts {
  readonly requests: number;
  /** How many of them failed. */
  readonly failed: number;
}

/** Counts all dapps' requests accepted from `from` (inclusive) to `to` (exclusive), in Unix milliseconds. Counts `limit` requests at most. */
export async function countRequests(
  db: Queryable,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<RequestCounts> {
  const rows = await db
    .selectFrom((within) =>
      within
        .selectFrom("requests")
        .select("state")
        .where("id", ">=", firstId("req", from))
        .where("id", "<", firstId("req", to))
        .limit(limit)
        .as("counted"),
    )
    .select(({ fn }) => ["state", fn.countAll<number | string>().as("count")])
    .groupBy("state")
    .execute();
  const sum = (counted: typeof rows): number =>
    counted.reduce((total, { count }) => total + Number(count), 0);
  return { requests: sum(rows), failed: sum(rows.filter(({ state }) => state === "failed")) };
}
