import type { Selectable } from "kysely";
import type { Tables } from "./schema.ts";
import type { Queryable } from "./store.ts";

/** A transaction of ours, stored signed before it is broadcast. `cargo` is for whoever prepared it. */
export interface StoredTransaction extends NewTransaction {
  readonly state: Tables["transactions"]["state"];
}

/** A transaction before it is stored as `signed`. */
export interface NewTransaction {
  readonly hash: `0x${string}`;
  readonly network: string;
  readonly sender: `0x${string}`;
  readonly nonce: number;
  readonly raw: `0x${string}`;
  readonly cargo: unknown;
  readonly createdAt: number;
}

/** Stores a signed transaction. */
export async function insertTransaction(db: Queryable, transaction: NewTransaction): Promise<void> {
  await db
    .insertInto("transactions")
    .values({
      hash: transaction.hash,
      network: transaction.network,
      sender: transaction.sender,
      nonce: transaction.nonce,
      raw: transaction.raw,
      cargo: JSON.stringify(transaction.cargo),
      state: "signed",
      created_at: transaction.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Marks how a transaction ended. */
export async function endTransaction(
  db: Queryable,
  hash: string,
  state: "mined" | "replaced" | "failed",
): Promise<void> {
  await db.updateTable("transactions").set({ state }).where("hash", "=", hash).execute();
}

/** Returns the signed transactions of a network whose end is not known, by nonce. */
export async function listOpenTransactions(db: Queryable, network: string): Promise<StoredTransaction[]> {
  const rows = await db
    .selectFrom("transactions")
    .selectAll()
    .where("network", "=", network)
    .where("state", "=", "signed")
    .orderBy("nonce")
    .orderBy("created_at")
    .execute();
  return rows.map(fromRow);
}

/** Returns what an account of ours signed for a nonce and later ones, in the order of signing; `all`: refused ones too. */
export async function listTransactionsFrom(
  db: Queryable,
  { network, sender, nonce, all }: { network: string; sender: string; nonce: number; all?: boolean },
): Promise<StoredTransaction[]> {
  let query = db
    .selectFrom("transactions")
    .selectAll()
    .where("network", "=", network)
    .where("nonce", ">=", nonce)
    .where("sender", "=", sender);
  if (all !== true) query = query.where("state", "!=", "failed");
  return (await query.orderBy("nonce").orderBy("created_at").execute()).map(fromRow);
}

/** Returns the transactions with these hashes that are known. */
export async function findTransactions(
  db: Queryable,
  hashes: readonly string[],
): Promise<StoredTransaction[]> {
  if (hashes.length === 0) return [];
  const rows = await db
    .selectFrom("transactions")
    .selectAll()
    .where("hash", "in", [...hashes])
    .execute();
  return rows.map(fromRow);
}

function fromRow(row: Selectable<Tables["transactions"]>): StoredTransaction {
  return {
    hash: row.hash as `0x${string}`,
    network: row.network,
    sender: row.sender as `0x${string}`,
    nonce: row.nonce,
    raw: row.raw as `0x${string}`,
    cargo: JSON.parse(row.cargo),
    state: row.state,
    createdAt: row.created_at,
  };
}
