import type { Insertable, Selectable } from "kysely";
import { DamagedRecordError, checksumOf } from "./checksum.ts";
import type { Tables } from "./schema.ts";
import type { RequestKind, RequestState } from "../lib/vocabulary.ts";

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
