import { REQUEST_KINDS, REQUEST_STATES } from "../lib/vocabulary.ts";
import { parseRows } from "./requestRows.ts";
import type { OnDamaged, StoredRequest } from "./requestRows.ts";
import type { RequestKind, RequestState } from "./schema.ts";
import type { Queryable } from "./store.ts";

/** Filter and place of a page of {@link listRequests}. */
export interface RequestPage {
  readonly dappId: string;
  /** Rows at most. */
  readonly limit: number;
  /** Id of the last row of the page before. */
  readonly before?: string | undefined;
  readonly state?: RequestState | undefined;
  readonly kind?: RequestKind | undefined;
  readonly network?: string | undefined;
}

/**
 * Returns a page of a dapp's requests, newest first. No filter looks at rows that don't match: what matches nothing is found out as
 * fast as what matches everything, at a million rows within milliseconds.
 *
 * @param onDamaged told of each row of the page that can't be read, which is left out then. Default: the first one throws.
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
 * Finds the ids of a page by the index over all that can be filtered by. What a filter leaves open has few values, so each combination is
 * a range of the index whose newest ids are read, and the newest of those are the page.
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

/** The networks that a dapp has requests on, by one look into the index for each. */
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

/** Returns id and version of the requests with these ids that are known. */
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

/** Returns id and version of every request of a network that has not ended. */
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
