import { sql } from "kysely";
import type { Insertable, Selectable } from "kysely";
import { DamagedRecordError, checksumOf } from "./checksum.ts";
import type { Queryable } from "./store.ts";
import { StaleRequestError } from "./storeErrors.ts";
import type { RequestKind, RequestState, Tables } from "./schema.ts";

/** One change of a request's state. */
export interface TimelineEntry {
  /** 1-based, gapless within a request. */
  readonly seq: number;
  readonly state: RequestState;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly transactionHash?: `0x${string}`;
  readonly detail?: string;
}

/** A block of a chain. */
export interface BlockId {
  readonly number: number;
  readonly hash: `0x${string}`;
}

/** A request as the journal keeps it; what params, progress and outcome hold follows from its kind. */
export interface StoredRequest {
  readonly id: string;
  readonly dappId: string;
  readonly kind: RequestKind;
  readonly network: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | null;
  /** SHA-256 of the command, to tell a repeated call from another one under the same key. */
  readonly bodyHash: string | null;
  readonly createdAt: number;
  state: RequestState;
  /** Why it is not further yet; `null` when nothing holds it. */
  why: string | null;
  timeline: readonly TimelineEntry[];
  /** What the service needs to go on with it after a restart. */
  progress: Readonly<Record<string, unknown>>;
  outcome: Readonly<Record<string, unknown>> | null;
  error: { readonly code: string; readonly message: string } | null;
  /** Block that ended it; `null` while it is in work, and when something else than the chain ended it. */
  endedIn: BlockId | null;
  updatedAt: number;
  /** How often it was written: 1 when it is new. */
  version: number;
  /** When what its caller sent was deleted, Unix time in milliseconds; absent while it is there. */
  readonly payloadDeletedAt?: number;
}

/** Stores new requests; a repeated idempotency key of the same dapp violates a unique constraint. */
export async function insertRequests(db: Queryable, requests: readonly StoredRequest[]): Promise<void> {
  if (requests.length > 0) await db.insertInto("requests").values(requests.map(toRow)).execute();
}

/**
 * Stores the changeable part of known requests, each under the version after the stored one.
 *
 * @throws {StaleRequestError} when another version is stored than the one before; the transaction must not be committed then.
 */
export async function saveRequests(db: Queryable, requests: readonly StoredRequest[]): Promise<void> {
  for (const request of requests) {
    const { state, why, timeline, progress, outcome, error, ...rest } = toRow(request);
    const { updated_at, ended_block, ended_block_hash, version, checksum } = rest;
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

/** Returns the requests with these ids that are known. */
export async function findRequests(db: Queryable, ids: readonly string[]): Promise<StoredRequest[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom("requests")
    .selectAll()
    .where("id", "in", [...ids])
    .execute();
  return rows.map(parseRow);
}

/** Returns the dapp's request made under an idempotency key, or `undefined`. */
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

/** Returns every request of a network that has not ended, oldest first. */
export async function listOpenRequests(db: Queryable, network: string): Promise<StoredRequest[]> {
  const rows = await db
    .selectFrom("requests")
    .selectAll()
    .where("network", "=", network)
    // As the index requests_open has it: with parameters SQLite would look through every row.
    .where(sql<boolean>`state not in ('fulfilled', 'failed')`)
    .orderBy("id")
    .execute();
  return rows.map(parseRow);
}

/**
 * Returns the requests of a network that blocks have ended which aren't final yet, in the order of their ends: fewer than `depth` blocks
 * before the newest one known, which is `head` or, where the chain has been set back, the last that ended a request.
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
  return rows.map(parseRow);
}

/** Returns the blocks of a network that have ended requests, newest first, from before a block on. */
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
 * Forgets in which blocks requests of a network have ended, from a block on that the chain no longer has. Their ends stay, and so do
 * their versions: a change that takes an end back comes in the same transaction.
 */
export async function forgetEnds(db: Queryable, network: string, fromBlock: number): Promise<void> {
  await db
    .updateTable("requests")
    .set({ ended_block: null, ended_block_hash: null })
    .where("network", "=", network)
    .where("ended_block", ">=", fromBlock)
    .execute();
}

type Row = Selectable<Tables["requests"]>;

/** Writes a request as a row of the table. */
export function toRow(request: StoredRequest): Insertable<Tables["requests"]> {
  const row: Omit<Row, "checksum"> = {
    id: request.id,
    dapp_id: request.dappId,
    kind: request.kind,
    network: request.network,
    state: request.state,
    why: request.why && storable(request.why),
    params: JSON.stringify(request.params),
    timeline: JSON.stringify(request.timeline),
    progress: JSON.stringify(request.progress),
    outcome: request.outcome && JSON.stringify(request.outcome),
    error: request.error && JSON.stringify(request.error),
    idempotency_key: request.idempotencyKey,
    body_hash: request.bodyHash,
    ended_block: request.endedIn?.number ?? null,
    ended_block_hash: request.endedIn?.hash ?? null,
    created_at: request.createdAt,
    updated_at: request.updatedAt,
    version: request.version,
    payload_deleted_at: request.payloadDeletedAt ?? null,
  };
  return { ...row, checksum: checksumOfRow(row) };
}

/** A text without what not every database keeps: halves of characters, and the character 0. A node's own words may have either. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

function checksumOfRow(row: Omit<Row, "checksum">): number {
  return checksumOf([
    row.id,
    row.dapp_id,
    row.kind,
    row.network,
    row.state,
    row.why,
    row.params,
    row.timeline,
    row.progress,
    row.outcome,
    row.error,
    row.idempotency_key,
    row.body_hash,
    row.created_at,
    row.updated_at,
    // Rows from before there were versions have the first one, and checksums without it.
    ...(row.version === 1 ? [] : [row.version]),
    // As of those from before payloads were deleted.
    ...(row.payload_deleted_at === null ? [] : [row.payload_deleted_at]),
  ]);
}

/**
 * Reads a row of the table.
 *
 * @throws {DamagedRecordError}
 */
export function parseRow(row: Row): StoredRequest {
  if (row.checksum !== null && row.checksum !== checksumOfRow(row))
    throw new DamagedRecordError(`request ${row.id}`);
  return {
    id: row.id,
    dappId: row.dapp_id,
    kind: row.kind,
    network: row.network,
    params: JSON.parse(row.params),
    idempotencyKey: row.idempotency_key,
    bodyHash: row.body_hash,
    createdAt: row.created_at,
    state: row.state,
    why: row.why,
    timeline: JSON.parse(row.timeline),
    progress: JSON.parse(row.progress),
    outcome: row.outcome === null ? null : JSON.parse(row.outcome),
    error: row.error === null ? null : JSON.parse(row.error),
    endedIn:
      row.ended_block === null
        ? null
        : { number: row.ended_block, hash: row.ended_block_hash as `0x${string}` },
    updatedAt: row.updated_at,
    version: row.version,
    ...(row.payload_deleted_at === null ? {} : { payloadDeletedAt: row.payload_deleted_at }),
  };
}
