import type { Queryable } from "./queryable.ts";

/** Why a callback of a caller's own contract failed. */
export interface StoredCallbackFailure {
  readonly network: string;
  /** VRF or Functions request, lower case. */
  readonly requestId: string;
  /** The transaction that made the callback. */
  readonly transactionHash: string;
  readonly reason: string;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
}

/** Stores why callbacks failed; replaces what is stored of the same requests. */
export async function saveCallbackFailures(
  db: Queryable,
  failures: readonly StoredCallbackFailure[],
): Promise<void> {
  if (failures.length === 0) return;
  await db
    .insertInto("failed_callbacks")
    .values(
      failures.map((one) => ({
        network: one.network,
        request_id: one.requestId,
        transaction_hash: one.transactionHash,
        reason: one.reason,
        created_at: one.createdAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(["network", "request_id"]).doUpdateSet((row) => ({
        transaction_hash: row.ref("excluded.transaction_hash"),
        reason: row.ref("excluded.reason"),
        created_at: row.ref("excluded.created_at"),
      })),
    )
    .execute();
}

/** Returns the stored failures of these requests on a network. */
export async function findCallbackFailures(
  db: Queryable,
  network: string,
  requestIds: readonly string[],
): Promise<Pick<StoredCallbackFailure, "requestId" | "transactionHash" | "reason">[]> {
  if (requestIds.length === 0) return [];
  const rows = await db
    .selectFrom("failed_callbacks")
    .select(["request_id", "transaction_hash", "reason"])
    .where("network", "=", network)
    .where("request_id", "in", [...requestIds])
    .execute();
  return rows.map(({ request_id, transaction_hash, reason }) => ({
    requestId: request_id,
    transactionHash: transaction_hash,
    reason,
  }));
}

/** Deletes a network's failures that were stored before a time. */
export async function deleteOldCallbackFailures(
  db: Queryable,
  { network, before }: { readonly network: string; readonly before: number },
): Promise<void> {
  await db
    .deleteFrom("failed_callbacks")
    .where("network", "=", network)
    .where("created_at", "<", before)
    .execute();
}
