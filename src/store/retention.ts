import { removeGivenUpLabels } from "./labels.ts";
import { toRow, type StoredRequest, findRequests } from "./requests.ts";
import type { RequestKind, RequestState } from "../domain/vocabulary.ts";
import type { Queryable } from "./queryable.ts";

/** Retention periods of a network in days, for requests counted from their acceptance. Absent: kept forever. */
export interface Keep {
  readonly requestDays?: number | undefined;
  /** What callers sent: parameters of presets, source and arguments of functions. */
  readonly payloadDays?: number | undefined;
  /** Transactions of the service that were mined, replaced or refused. */
  readonly transactionDays?: number | undefined;
  /** Blocks of an embedded chain, by their timestamps. */
  readonly blockDays?: number | undefined;
}

/** The facts that decide whether a request may be deleted. */
export interface OldRequest {
  readonly id: string;
  readonly kind: RequestKind;
  readonly state: RequestState;
  /** Number of the block that ended it; `null` if something else did, or it has not ended. */
  readonly endedBlock: number | null;
  readonly hasPayload: boolean;
}

/** Returns a dapp's requests on a network in the order of their ids, between two ids, both exclusive. */
export async function listOldRequests(
  db: Queryable,
  page: {
    readonly dappId: string;
    readonly network: string;
    readonly after: string;
    readonly before: string;
    readonly limit: number;
  },
): Promise<OldRequest[]> {
  const rows = await db
    .selectFrom("requests")
    .select(["id", "kind", "state", "ended_block", "payload_deleted_at"])
    .where("dapp_id", "=", page.dappId)
    .where("network", "=", page.network)
    .where("id", ">", page.after)
    .where("id", "<", page.before)
    .orderBy("id")
    .limit(page.limit)
    .execute();
  return rows.map(({ id, kind, state, ended_block, payload_deleted_at }) => ({
    id,
    kind,
    state,
    endedBlock: ended_block,
    hasPayload: payload_deleted_at === null && (kind === "preset" || kind === "function"),
  }));
}

/** Deletes the rows of ended requests. */
export async function deleteRequests(db: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await removeGivenUpLabels(db, await findRequests(db, ids, () => {}));
  await db
    .deleteFrom("requests")
    .where("id", "in", [...ids])
    .execute();
}

/**
 * Deletes the payloads that callers sent with ended requests: the parameters of a preset, or the source and arguments of a function, the
 * label, and what the dry run's console said. The requests lose their ending block too, so that no reorg reopens them: they could not be sent again.
 *
 * @param at Unix time in milliseconds.
 */
export async function deletePayloads(db: Queryable, ids: readonly string[], at: number): Promise<void> {
  // Leaves damaged requests as they are.
  const requests = await findRequests(db, ids, () => {});
  await removeGivenUpLabels(db, requests);
  for (const request of requests) {
    const { id, ...row } = toRow({
      ...withoutPayload(request),
      endedIn: null,
      payloadDeletedAt: at,
      version: request.version + 1,
    });
    await db
      .updateTable("requests")
      .set(row)
      .where("id", "=", id)
      .where("version", "=", request.version)
      .execute();
  }
}

function withoutPayload(request: StoredRequest): StoredRequest {
  const { kind, params } = request;
  const progress = { ...request.progress, givenLabel: undefined, dryRun: undefined };
  if (kind === "preset")
    return { ...request, params: { preset: params["preset"] }, progress: { ...progress, args: [] } };
  return { ...request, params: { source: "", args: [], returnType: params["returnType"] }, progress };
}

/** The facts that decide whether a transaction may be deleted. */
export interface OldTransaction {
  readonly hash: string;
  readonly nonce: number;
  readonly hasEnded: boolean;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
}

/** Returns an account's transactions in nonce order, from one nonce up to another (exclusive). */
export async function listOldTransactions(
  db: Queryable,
  page: {
    readonly network: string;
    readonly sender: string;
    readonly from: number;
    readonly before: number;
    readonly limit: number;
  },
): Promise<OldTransaction[]> {
  const rows = await db
    .selectFrom("transactions")
    .select(["hash", "nonce", "state", "created_at"])
    .where("network", "=", page.network)
    .where("nonce", ">=", page.from)
    .where("nonce", "<", page.before)
    .where("sender", "=", page.sender)
    .orderBy("nonce")
    .limit(page.limit)
    .execute();
  return rows.map(({ hash, nonce, state, created_at }) => ({
    hash,
    nonce,
    hasEnded: state !== "signed",
    createdAt: created_at,
  }));
}

/** Deletes the rows of transactions. */
export async function deleteTransactions(db: Queryable, hashes: readonly string[]): Promise<void> {
  if (hashes.length === 0) return;
  await db
    .deleteFrom("transactions")
    .where("hash", "in", [...hashes])
    .execute();
}
