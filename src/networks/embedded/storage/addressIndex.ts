import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Hex } from "viem";
import type { Appearance, AppearanceQuery, Appearances } from "../../network.ts";
import { toHexText } from "../../../lib/hex.ts";
import { namedAddresses } from "../../../evm/namedAddresses.ts";

/** The members of a transaction that the index reads; a transaction has more. */
export interface IndexableTransaction {
  readonly hash: Hex;
  readonly from: Hex;
  /** Absent or `null` when the transaction creates a contract. */
  readonly to?: Hex | null;
  readonly input?: Hex;
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
  find(query: AppearanceQuery): Omit<Appearances, "hasRemoved">;
}

/**
 * Opens the index of a history, creating it when absent. A trigger removes a block's entries with the block. Takes about 0.3 kB per block of
 * presets.
 */
export function openAddressIndex(database: DatabaseSync): AddressIndex {
  database.exec(`BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS appearances (address BLOB NOT NULL, block INTEGER NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (address, block, place)) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS appearances_by_block ON appearances (block);
    CREATE TRIGGER IF NOT EXISTS appearances_removed AFTER DELETE ON blocks BEGIN
      DELETE FROM appearances WHERE block = OLD.number;
    END;
    -- Earlier versions noted here which blocks they had yet to index.
    DROP TRIGGER IF EXISTS block_added;
    DROP TRIGGER IF EXISTS block_removed;
    DROP TABLE IF EXISTS unindexed_blocks;
    COMMIT`);
  const addAppearance = database.prepare("INSERT OR IGNORE INTO appearances VALUES (?, ?, ?)");
  const newest = database.prepare("SELECT max(number) AS number FROM blocks");
  const before = database.prepare(`SELECT block, place, blocks.hash AS hash
    FROM appearances JOIN blocks ON blocks.number = block
    WHERE address = ? AND (block, place) < (?, ?) ORDER BY block DESC, place DESC LIMIT ?`);

  const oldest = database.prepare(`SELECT block, place, blocks.hash AS hash
    FROM appearances JOIN blocks ON blocks.number = block
    WHERE address = ? ORDER BY block, place LIMIT ?`);

  return {
    add({ number, block, receipts }) {
      for (const [place, { from, to, input = "0x" }] of block.transactions.entries()) {
        const { contractAddress, logs } = receipts[place]!;
        // Creation code may be anything.
        const named = typeof to === "string" ? namedAddresses(input) : [];
        const addresses = new Set([from, to, contractAddress, ...logs.map((log) => log.address), ...named]);
        for (const address of addresses)
          if (typeof address === "string") addAppearance.run(bytesOf(address), number, place);
      }
    },
    find({ address, below, limit, first = "newest" }) {
      const through = (newest.get()?.["number"] as number | null) ?? -1;
      const end: readonly SQLInputValue[] = [below?.block ?? through + 1, below?.index ?? 0];
      const rows =
        first === "oldest"
          ? oldest.all(bytesOf(address), limit)
          : before.all(bytesOf(address), ...end, limit);
      const found = rows.map((row): Appearance => ({
        block: row["block"] as number,
        blockHash: toHexText(row["hash"] as Uint8Array),
        index: row["place"] as number,
      }));
      return { found, through };
    },
  };
}

/** Returns the bytes that a hash or address is stored as. */
export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), "hex");
}
