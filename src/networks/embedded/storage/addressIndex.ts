import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Hex } from "viem";
import type { Appearance, AppearanceQuery, Appearances } from "../../network.ts";
import { toHexText } from "../../../lib/hex.ts";

/** The members of a transaction that the index reads; a transaction has more. */
export interface IndexableTransaction {
  readonly hash: Hex;
  readonly from: Hex;
  /** Absent or `null` when the transaction creates a contract. */
  readonly to?: Hex | null;
}

/** The members of a receipt that the index reads; a receipt has more. */
export interface IndexableReceipt {
  readonly contractAddress?: Hex | null;
  readonly logs: readonly { readonly address: Hex }[];
}

interface IndexableBlock {
  readonly number: number;
  readonly block: { readonly transactions: readonly IndexableTransaction[] };
  readonly receipts: readonly IndexableReceipt[];
}

/** Which transactions each address appears in, over the blocks of one history. Runs inside the caller's database transactions. */
export interface AddressIndex {
  /** Indexes a block that is already stored. */
  add(block: IndexableBlock): void;
  /** Returns the numbers of the newest blocks that are stored but not indexed. */
  missing(limit: number): number[];
  /** Gives up on a block that can't be read. */
  pass(number: number): void;
  find(query: AppearanceQuery): Omit<Appearances, "hasRemoved">;
}

/**
 * Opens the index of a history, creating it when absent. Triggers keep it in step with the stored blocks, even while an earlier version
 * that doesn't know the index has the file open: removing a block removes its entries, and an added block counts as missing until it is
 * indexed. Takes about 0.3 kB per block of presets.
 */
export function openAddressIndex(database: DatabaseSync): AddressIndex {
  database.exec(`BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS appearances (address BLOB NOT NULL, block INTEGER NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (address, block, place)) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS appearances_by_block ON appearances (block)`);
  const isNew =
    database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'unindexed_blocks'").get() === undefined;
  if (isNew)
    database.exec(`CREATE TABLE unindexed_blocks (number INTEGER PRIMARY KEY);
      INSERT INTO unindexed_blocks SELECT number FROM blocks;
      CREATE TRIGGER block_added AFTER INSERT ON blocks BEGIN
        INSERT OR IGNORE INTO unindexed_blocks VALUES (NEW.number);
      END;
      CREATE TRIGGER block_removed AFTER DELETE ON blocks BEGIN
        DELETE FROM unindexed_blocks WHERE number = OLD.number;
        DELETE FROM appearances WHERE block = OLD.number;
      END`);
  database.exec("COMMIT");
  const addAppearance = database.prepare("INSERT OR IGNORE INTO appearances VALUES (?, ?, ?)");
  const isDone = database.prepare("DELETE FROM unindexed_blocks WHERE number = ?");
  const newestMissing = database.prepare("SELECT number FROM unindexed_blocks ORDER BY number DESC LIMIT ?");
  const newest = database.prepare("SELECT max(number) AS number FROM blocks");
  const before = database.prepare(`SELECT block, place, blocks.hash AS hash
    FROM appearances JOIN blocks ON blocks.number = block
    WHERE address = ? AND (block, place) < (?, ?) AND block >= ? ORDER BY block DESC, place DESC LIMIT ?`);

  const oldest = database.prepare(`SELECT block, place, blocks.hash AS hash
    FROM appearances JOIN blocks ON blocks.number = block
    WHERE address = ? AND block >= ? ORDER BY block, place LIMIT ?`);

  return {
    add({ number, block, receipts }) {
      for (const [place, { from, to }] of block.transactions.entries()) {
        const { contractAddress, logs } = receipts[place]!;
        const addresses = new Set([from, to, contractAddress, ...logs.map((log) => log.address)]);
        for (const address of addresses)
          if (typeof address === "string") addAppearance.run(bytesOf(address), number, place);
      }
      isDone.run(number);
    },
    missing: (limit) => newestMissing.all(limit).map((row) => row["number"] as number),
    pass: (number) => void isDone.run(number),
    find({ address, below, limit, first = "newest" }) {
      const through = (newest.get()?.["number"] as number | null) ?? -1;
      const from = ((newestMissing.get(1)?.["number"] as number | undefined) ?? -1) + 1;
      const end: readonly SQLInputValue[] = [below?.block ?? through + 1, below?.index ?? 0];
      const rows =
        first === "oldest"
          ? oldest.all(bytesOf(address), from, limit)
          : before.all(bytesOf(address), ...end, from, limit);
      const found = rows.map((row): Appearance => ({
        block: row["block"] as number,
        blockHash: toHexText(row["hash"] as Uint8Array),
        index: row["place"] as number,
      }));
      return { found, from, through };
    },
  };
}

/** Returns the bytes that a hash or address is stored as. */
export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), "hex");
}
