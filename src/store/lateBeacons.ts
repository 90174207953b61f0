import type { Hex } from "viem";
import type { DrandRound } from "../beacon/drand.ts";
import type { Queryable } from "./queryable.ts";

/** Stores that a round is late, unless that is known. @param createdAt Unix time in milliseconds */
export async function saveLateBeacon(
  db: Queryable,
  { round, chainHash }: DrandRound,
  createdAt: number,
): Promise<void> {
  await db
    .insertInto("late_rounds")
    .values({ chain_hash: chainHash, round: String(round), signature: null, created_at: createdAt })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns a late round's signature, `null` as long as nobody has it; `undefined` for a round that isn't late. */
export async function findLateBeacon(
  db: Queryable,
  { round, chainHash }: DrandRound,
): Promise<Hex | null | undefined> {
  const row = await db
    .selectFrom("late_rounds")
    .select("signature")
    .where("chain_hash", "=", chainHash)
    .where("round", "=", String(round))
    .executeTakeFirst();
  return row?.signature;
}

/** Stores a late round's signature. */
export async function saveLateSignature(
  db: Queryable,
  { round, chainHash }: DrandRound,
  signature: Hex,
): Promise<void> {
  await db
    .updateTable("late_rounds")
    .set({ signature })
    .where("chain_hash", "=", chainHash)
    .where("round", "=", String(round))
    .execute();
}

/** Deletes the rounds that were stored before a time. What still waits for one stores it again. */
export async function deleteOldLateBeacons(db: Queryable, before: number): Promise<void> {
  await db.deleteFrom("late_rounds").where("created_at", "<", before).execute();
}
