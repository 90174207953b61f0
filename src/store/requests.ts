import { sql } from "kysely";
import { parseRow, parseRows, toRow } from "./requestRows.ts";
import type { BlockId, OnDamaged, StoredRequest } from "./requestRows.ts";
import type { Queryable } from "./queryable.ts";
import { StaleRequestError } from "./storeErrors.ts";

/** Stores new requests; reusing an idempotency key of the same dapp violates a unique constraint. */
export async function insertRequests(db: Queryable, requests: readonly StoredRequest[]): Promise<void> {
  if (requests.length > 0) await db.insertInto("requests").values(requests.map(toRow)).execute();
}

/**
 * Stores the mutable part of known requests, each under the version that follows the stored one.
 *
 * @throws {StaleRequestError} when the stored version is not the preceding one; the transaction must not be committed then.
 */
export async function saveRequests(db: Queryable, requests: readonly StoredRequest[]): Promise<void> {
  for (const request of requests) {
    const { state, why, timeline, progress, outcome, error, ...rest } = toRow(request);
    const { updated_at, ended_block, ended_block_hash, version, checksum, oracle_id } = rest;
    const { numUpdatedRows } = await db
      .updateTable("requests")
      .set({
        state,
        why,
        timeline,
        progress,
        outcome,
        error,
        updated_at,
        ended_block,
        ended_block_hash,
        version,
        checksum,
        oracle_id,
      })
      .where("id", "=", request.id)
      .where("version", "=", request.version - 1)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) throw new StaleRequestError(request.id);
  }
}

/** Returns the request with this id, or `undefined`. */
export async function findRequest(db: Queryable, id: string): Promise<StoredRequest | undefined> {
  const row = await db.selectFrom("requests").selectAll().where("id", "=", id).executeTakeFirst();
  return row && parseRow(row);
}

/** Returns a dapp's newest request with this id of the oracle network's, `0x` and 64 lower-case digits, or `undefined`. */
export async function findRequestByOracleId(
  db: Queryable,
  dappId: string,
  oracleId: string,
): Promise<StoredRequest | undefined> {
  const row = await db
    .selectFrom("requests")
    .selectAll()
    .where("oracle_id", "=", oracleId)
    .where("dapp_id", "=", dappId)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && parseRow(row);
}

/** Returns the known requests among these ids. @param onDamaged see {@link parseRows}. */
export async function findRequests(
  db: Queryable,
  ids: readonly string[],
  onDamaged?: OnDamaged,
): Promise<StoredRequest[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom("requests")
    .selectAll()
    .where("id", "in", [...ids])
    .execute();
  return parseRows(rows, onDamaged);
}

/** Returns a dapp's request made under an idempotency key, or `undefined`. */
export async function findRequestByKey(
  db: Queryable,
  dappId: string,
  idempotencyKey: string,
): Promise<StoredRequest | undefined> {
  const row = await db
    .selectFrom("requests")
    .selectAll()
    .where("dapp_id", "=", dappId)
    .where("idempotency_key", "=", idempotencyKey)
    .executeTakeFirst();
  return row && parseRow(row);
}

/** Returns every request on a network that has not ended, oldest first. @param onDamaged see {@link parseRows}. */
export async function listOpenRequests(
  db: Queryable,
  network: string,
  onDamaged?: OnDamaged,
): Promise<StoredRequest[]> {
  const rows = await db
    .selectFrom("requests")
    .selectAll()
    .where("network", "=", network)
    // Written exactly as in the index requests_open: with parameters SQLite would scan every row.
    .where(sql<boolean>`state not in ('fulfilled', 'failed')`)
    .orderBy("id")
    .execute();
  return parseRows(rows, onDamaged);
}

/**
 * Returns a network's requests that were ended by a block that isn't final yet, in the order they ended. Those blocks are fewer than
 * `depth` blocks behind the newest known one, which is `head` or, if the chain was set back, the last block that ended a request.
 *
 * @param onDamaged see {@link parseRows}.
 */
export async function listUnsettledRequests(
  db: Queryable,
  network: string,
  {
    head,
    depth,
    firstLost = Infinity,
  }: {
    readonly head: number;
    readonly depth: number;
    /** First block that the chain has lost, however deep it was. */
    readonly firstLost?: number | undefined;
  },
  onDamaged?: OnDamaged,
): Promise<StoredRequest[]> {
  const newest = await db
    .selectFrom("requests")
    .select("ended_block")
    .where("network", "=", network)
    .where("ended_block", "is not", null)
    .orderBy("ended_block", "desc")
    .limit(1)
    .executeTakeFirst();
  const rows = await db
    .selectFrom("requests")
    .selectAll()
    .where("network", "=", network)
    .where("ended_block", ">", Math.min(firstLost - 1, Math.max(head, newest?.ended_block ?? 0) - depth))
    .orderBy("ended_block")
    .execute();
  return parseRows(rows, onDamaged);
}

/** Returns the blocks of a network that ended requests, newest first, starting below a given block. */
export async function listEndedBlocks(
  db: Queryable,
  network: string,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<BlockId[]> {
  const rows = await db
    .selectFrom("requests")
    .select(["ended_block", "ended_block_hash"])
    .distinct()
    .where("network", "=", network)
    .where("ended_block", "is not", null)
    .where("ended_block", "<", Math.min(before, Number.MAX_SAFE_INTEGER))
    .orderBy("ended_block", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ number: row.ended_block!, hash: row.ended_block_hash as `0x${string}` }));
}

/**
 * Clears the ending blocks of a network's requests, from a block on that the chain no longer has. The requests stay ended and keep their
 * versions: a change that reopens one comes in the same transaction.
 */
export async function forgetEnds(db: Queryable, network: string, fromBlock: number): Promise<void> {
  await db
    .updateTable("requests")
    .set({ ended_block: null, ended_block_hash: null })
    .where("network", "=", network)
    .where("ended_block", ">=", fromBlock)
    .execute();
}
