import { sql, type Insertable, type Selectable } from "kysely";
import type { Queryable } from "./queryable.ts";
import { StaleRequestError } from "./storeErrors.ts";
import { checksumOf, DamagedRecordError } from "./checksum.ts";
import type { Tables } from "./schema.ts";
import type { RequestKind, RequestState } from "../domain/vocabulary.ts";

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

/** A request as the journal stores it; its kind determines what params, progress and outcome contain. */
export interface StoredRequest {
  readonly id: string;
  readonly dappId: string;
  readonly kind: RequestKind;
  readonly network: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | null;
  /** SHA-256 of the command; distinguishes a repeated call from a different one under the same key. */
  readonly bodyHash: string | null;
  readonly createdAt: number;
  state: RequestState;
  /** What it is waiting for; `null` when nothing holds it up. */
  why: string | null;
  timeline: readonly TimelineEntry[];
  /** What the service needs to continue with it after a restart. */
  progress: Readonly<Record<string, unknown>>;
  outcome: Readonly<Record<string, unknown>> | null;
  error: { readonly code: string; readonly message: string } | null;
  /** Block that ended it; `null` while it is in progress, and if something other than the chain ended it. */
  endedIn: BlockId | null;
  updatedAt: number;
  /** How often it was written: 1 for a new request. */
  version: number;
  /** When the caller's payload was deleted, Unix time in milliseconds; absent while it is stored. */
  readonly payloadDeletedAt?: number;
}

/** Identifies a row that can't be read. */
export type DamagedRow = Pick<StoredRequest, "id" | "network">;

/** Called for a request whose row differs from what was written. */
export type OnDamaged = (row: DamagedRow) => void;

type Row = Selectable<Tables["requests"]>;

/** Converts a request into a table row. */
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
    oracle_id: oracleIdOf(request),
  };
  return { ...row, checksum: checksumOfRow(row) };
}

/** Returns the id that the oracle network assigned, once it is known. */
export function oracleIdOf({
  outcome,
  progress,
}: Pick<StoredRequest, "outcome" | "progress">): string | null {
  const id = outcome?.["requestId"] ?? progress["presetRequestId"] ?? progress["functionsRequestId"];
  return (id as string | undefined) ?? null;
}

/** Replaces what not every database can store: lone surrogates and NUL. A node's error messages may contain either. */
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
    // Rows that predate versions have version 1, and checksums without it.
    ...(row.version === 1 ? [] : [row.version]),
    // The same holds for rows that predate payload deletion.
    ...(row.payload_deleted_at === null ? [] : [row.payload_deleted_at]),
  ]);
}

/**
 * Parses a table row.
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

/**
 * Parses table rows.
 *
 * @param onDamaged called for each unreadable row, which is then left out. Default: the first one throws.
 * @throws {DamagedRecordError}
 */
export function parseRows(rows: readonly Row[], onDamaged?: OnDamaged): StoredRequest[] {
  if (onDamaged === undefined) return rows.map(parseRow);
  return rows.flatMap((row) => {
    try {
      return [parseRow(row)];
    } catch {
      onDamaged({ id: row.id, network: row.network });
      return [];
    }
  });
}

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
export async function listNotFinalRequests(
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
