import type { Selectable } from "kysely";
import type { Tables } from "./schema.ts";
import { DamagedRecordError, checksumOf } from "./checksum.ts";
import type { Queryable } from "./queryable.ts";

/** One of our transactions, stored signed before it is broadcast. `payload` is for the code that prepared it. */
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
  readonly payload: unknown;
  readonly createdAt: number;
}

/** Stores a signed transaction. */
export async function insertTransaction(db: Queryable, transaction: NewTransaction): Promise<void> {
  const row = {
    hash: transaction.hash,
    network: transaction.network,
    sender: transaction.sender,
    nonce: transaction.nonce,
    raw: transaction.raw,
    payload: JSON.stringify(transaction.payload),
    created_at: transaction.createdAt,
  };
  await db
    .insertInto("transactions")
    .values({ ...row, state: "signed", checksum: checksumOfRow(row) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Records how a transaction ended. */
export async function endTransaction(
  db: Queryable,
  hash: string,
  state: "mined" | "replaced" | "failed",
): Promise<void> {
  await db.updateTable("transactions").set({ state }).where("hash", "=", hash).execute();
}

/** Returns a network's signed transactions whose outcome is unknown, by nonce. */
export async function listOpenTransactions(db: Queryable, network: string): Promise<StoredTransaction[]> {
  const rows = await db
    .selectFrom("transactions")
    .selectAll()
    .where("network", "=", network)
    .where("state", "=", "signed")
    .orderBy("nonce")
    .orderBy("created_at")
    .execute();
  return rows.map(parseTransactionRow);
}

/** Returns what our account signed for a nonce and later ones, in signing order, except what nodes refused. */
export async function listTransactionsFrom(
  db: Queryable,
  { network, sender, nonce }: { readonly network: string; readonly sender: string; readonly nonce: number },
): Promise<StoredTransaction[]> {
  const rows = await db
    .selectFrom("transactions")
    .selectAll()
    .where("network", "=", network)
    .where("nonce", ">=", nonce)
    .where("sender", "=", sender)
    .where("state", "!=", "failed")
    .orderBy("nonce")
    .orderBy("created_at")
    .execute();
  return rows.map(parseTransactionRow);
}

/**
 * Returns what our account signed for one nonce and a node refused, in signing order, limited to payloads that name a request. An account
 * without coin may have hundreds for one nonce, so the database filters them.
 */
export async function listRefusedTransactions(
  db: Queryable,
  options: {
    readonly network: string;
    readonly sender: string;
    readonly nonce: number;
    /** A request's id. Ids that differ only in case, or where it has an underscore, may match too. */
    readonly naming: string;
  },
): Promise<StoredTransaction[]> {
  const rows = await db
    .selectFrom("transactions")
    .selectAll()
    .where("network", "=", options.network)
    .where("nonce", "=", options.nonce)
    .where("sender", "=", options.sender)
    .where("state", "=", "failed")
    .where("payload", "like", `%${options.naming}%`)
    .orderBy("created_at")
    .execute();
  return rows.map(parseTransactionRow);
}

/** Returns the highest nonce that our account signed for, or `undefined`. */
export async function findLastNonce(
  db: Queryable,
  network: string,
  sender: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom("transactions")
    .select("nonce")
    .where("network", "=", network)
    .where("sender", "=", sender)
    .orderBy("nonce", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.nonce;
}

/** Returns the known transactions among these hashes. */
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
  return rows.map(parseTransactionRow);
}

/** Transactions that a search by the beginning of a hash finds at most. */
const MAX_PREFIXED = 20;

/** Returns the hashes of some mined transactions that begin with `prefix`, `0x` and lower-case digits. */
export async function listTransactionsByPrefix(
  db: Queryable,
  prefix: string,
): Promise<{ readonly network: string; readonly hash: `0x${string}` }[]> {
  const rows = await db
    .selectFrom("transactions")
    .select(["network", "hash"])
    .where("hash", ">=", prefix)
    // "g" follows the digits.
    .where("hash", "<", `${prefix}g`)
    .where("state", "=", "mined")
    .limit(MAX_PREFIXED)
    .execute();
  return rows.map(({ network, hash }) => ({ network, hash: hash as `0x${string}` }));
}

type Row = Selectable<Tables["transactions"]>;

function checksumOfRow(row: Omit<Row, "checksum" | "state">): number {
  const { hash, network, sender, nonce, raw, payload, created_at } = row;
  return checksumOf([hash, network, sender, nonce, raw, payload, created_at]);
}

/**
 * Parses a table row.
 *
 * @throws {DamagedRecordError}
 */
export function parseTransactionRow(row: Row): StoredTransaction {
  if (row.checksum !== null && row.checksum !== checksumOfRow(row))
    throw new DamagedRecordError(`transaction ${row.hash}`);
  return {
    hash: row.hash as `0x${string}`,
    network: row.network,
    sender: row.sender as `0x${string}`,
    nonce: row.nonce,
    raw: row.raw as `0x${string}`,
    payload: JSON.parse(row.payload),
    state: row.state,
    createdAt: row.created_at,
  };
}
