import { closeSync, existsSync, fdatasyncSync, openSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Hex } from "viem";
import type { AppearanceQuery, Appearances, RemovableBlocks } from "../../network.ts";
import {
  bytesOf,
  openAddressIndex,
  type IndexableReceipt,
  type IndexableTransaction,
} from "./addressIndex.ts";
import { toHexText } from "../../../lib/hex.ts";

/** A block with everything that a node can be asked about it, in the node's own answers. */
export interface HistoricBlock {
  readonly number: number;
  readonly hash: Hex;
  /** The answer to `eth_getBlockByNumber` with full transactions. */
  readonly block: { readonly timestamp: Hex; readonly transactions: readonly IndexableTransaction[] };
  /** The answer to `eth_getBlockReceipts`. */
  readonly receipts: readonly IndexableReceipt[];
}

/** A block by number and hash. */
export type BlockId = Pick<HistoricBlock, "number" | "hash">;

/** The blocks of a chain that its node forgets, on disk. */
export interface History {
  /** Adds blocks in one transaction, replacing whatever is stored under these and later numbers. */
  append(blocks: readonly HistoricBlock[]): void;
  /** Whether this very block is stored. */
  has(block: BlockId): boolean;
  /** Makes everything appended so far survive a power cut; takes 4–6 ms on an ordinary disk. */
  flush(): void;
  /** Deletes the blocks after this one, which the chain no longer has; returns the newest one left. */
  cutAfter(number: number): BlockId | undefined;
  /** Answers a JSON-RPC request about the past, or returns `undefined` when the history doesn't have the answer. */
  recall(method: string, parameters: readonly unknown[]): unknown;
  /**
   * Removes some blocks at or after `from`, oldest first; returns whether more can be removed. Blocks with logs of a topic in `keptTopics`
   * stay.
   */
  removeSome(range: RemovableBlocks & { readonly from: number }): boolean;
  /** Finds an address's transactions. */
  findAppearances(query: AppearanceQuery): Appearances;
  /** Returns the range (`before` excluded) in which some blocks were removed; all blocks outside it are stored. */
  removed(): RemovedBlocks;
  close(): void;
}

/** A range of block numbers, empty (`from` equals `before`) when no block was removed. */
export interface RemovedBlocks {
  readonly from: number;
  readonly before: number;
}

/** The node has only the header of a block left, which passes for a block without transactions. */
export class ForgottenError extends Error {
  constructor(which: number | string) {
    super(typeof which === "string" ? which : `the node has forgotten the transactions of block ${which}`);
  }
}

interface LogFilter {
  readonly address?: Hex | readonly Hex[];
  readonly topics?: readonly (Hex | readonly Hex[] | null)[];
  readonly fromBlock?: Hex;
  readonly toBlock?: Hex;
  readonly blockHash?: Hex;
}

interface Log {
  readonly address: Hex;
  readonly topics: readonly Hex[];
}

/** How long a statement waits for another process's lock. */
const BUSY_MS = 500;

/**
 * Opens a chain's history, creating it when absent. It is one SQLite file with a row per block: the body as compressed JSON, the logs
 * separately because searches read only them; and the position of each transaction. Takes about 4 kB per preset.
 */
export function openHistory(file: string, keptTopics: readonly string[] = []): History {
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file);
  // A power cut may lose the last rows, which can be fetched again, but leaves the file intact. The thread's other calls wait as long as a
  // write waits for somebody else's lock, so it gives up soon and is tried again.
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = ${BUSY_MS};
    CREATE TABLE IF NOT EXISTS blocks (number INTEGER PRIMARY KEY, hash BLOB NOT NULL, body BLOB NOT NULL, logs BLOB);
    CREATE INDEX IF NOT EXISTS blocks_by_hash ON blocks (hash);
    CREATE TABLE IF NOT EXISTS transactions (hash BLOB PRIMARY KEY, block INTEGER NOT NULL, place INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS transactions_by_block ON transactions (block);
    CREATE TABLE IF NOT EXISTS removed ("from" INTEGER NOT NULL, before INTEGER NOT NULL)`);
  const index = openAddressIndex(database);
  const newest = database.prepare("SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1");
  const forgetTransactions = database.prepare("DELETE FROM transactions WHERE block >= ?");
  const forgetBlocks = database.prepare("DELETE FROM blocks WHERE number >= ?");
  const addBlock = database.prepare("INSERT INTO blocks VALUES (?, ?, ?, ?)");
  const addTransaction = database.prepare("INSERT OR REPLACE INTO transactions VALUES (?, ?, ?)");
  const byNumber = database.prepare("SELECT body FROM blocks WHERE number = ?");
  const byHash = database.prepare("SELECT number, body FROM blocks WHERE hash = ?");
  const numberOf = database.prepare("SELECT number FROM blocks WHERE hash = ?");
  const place = database.prepare("SELECT block, place FROM transactions WHERE hash = ?");
  const logsBetween = database.prepare(
    "SELECT logs FROM blocks WHERE number BETWEEN ? AND ? AND logs IS NOT NULL ORDER BY number",
  );

  const removed = database.prepare('SELECT "from", before FROM removed');
  const noneRemoved = database.prepare("DELETE FROM removed");
  const setRemoved = database.prepare("INSERT INTO removed VALUES (?, ?)");
  const someFrom = database.prepare(
    "SELECT number, body, logs FROM blocks WHERE number >= ? AND number < ? ORDER BY number LIMIT ?",
  );
  const removeBlock = database.prepare("DELETE FROM blocks WHERE number = ?");
  const removeTransactions = database.prepare("DELETE FROM transactions WHERE block = ?");

  const atOnce = <Result>(work: () => Result): Result => {
    database.exec("BEGIN");
    try {
      const result = work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      // After some errors, such as a full disk, SQLite has already rolled back: a second rollback would fail and hide the error.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  };
  const readRemoved = (): RemovedBlocks =>
    (removed.get() as RemovedBlocks | undefined) ?? { from: 0, before: 0 };
  const writeRemoved = ({ from, before }: RemovedBlocks): void => {
    noneRemoved.run();
    if (from < before) setRemoved.run(from, before);
  };
  const forgetFrom = (number: number): void => {
    forgetTransactions.run(number);
    forgetBlocks.run(number);
    const { from, before } = readRemoved();
    if (number < before) writeRemoved({ from, before: number });
  };
  const mustStay = (logs: unknown): boolean =>
    logs !== null &&
    (unpack(logs as Uint8Array) as readonly Log[]).some(
      ({ topics: [topic] }) => topic !== undefined && keptTopics.includes(topic),
    );

  const bodyOf = (row: Record<string, unknown> | undefined): Body | undefined =>
    row && (unpack(row["body"] as Uint8Array) as Body);
  const findBlock = (which: unknown): Body | undefined => {
    if (typeof which !== "string" || !/^0x[0-9a-f]+$/i.test(which)) return undefined;
    return bodyOf(which.length === 66 ? byHash.get(bytesOf(which)) : byNumber.get(Number(which)));
  };
  const findPlace = (hash: unknown): { body: Body; place: number } | undefined => {
    if (typeof hash !== "string" || !/^0x[0-9a-f]{64}$/i.test(hash)) return undefined;
    const row = place.get(bytesOf(hash));
    const body = row && bodyOf(byNumber.get(row["block"] as SQLInputValue));
    return body && { body, place: row["place"] as number };
  };

  return {
    append(blocks) {
      const first = blocks[0]?.number;
      if (first === undefined) return;
      atOnce(() => {
        const last = newest.get()?.["number"] as number | undefined;
        if (last !== undefined && first <= last) forgetFrom(first);
        for (const { number, hash, block, receipts } of blocks) {
          const logs = receipts.flatMap((receipt) => receipt.logs);
          addBlock.run(
            number,
            bytesOf(hash),
            pack({ block, receipts }),
            logs.length === 0 ? null : pack(logs),
          );
          for (const [i, transaction] of block.transactions.entries())
            addTransaction.run(bytesOf(transaction.hash), number, i);
          index.add({ number, block, receipts });
        }
      });
    },
    has: ({ number, hash }) => numberOf.get(bytesOf(hash))?.["number"] === number,
    flush() {
      // Checkpoints flush the database file itself; since then, commits are only in the log, which the first one creates.
      if (!existsSync(`${file}-wal`)) return;
      const log = openSync(`${file}-wal`, "r+");
      try {
        fdatasyncSync(log);
      } finally {
        closeSync(log);
      }
    },
    cutAfter(number) {
      atOnce(() => forgetFrom(number + 1));
      const row = newest.get();
      return row && { number: row["number"] as number, hash: toHexText(row["hash"] as Uint8Array) };
    },
    findAppearances(query) {
      const { from, before } = readRemoved();
      return { ...index.find(query), hasRemoved: from < before };
    },
    removed: readRemoved,
    removeSome({ from, before, olderThan, limit }) {
      return atOnce(() => {
        const known = readRemoved();
        const first = known.from < known.before ? known : { from, before: from };
        let next = first.before;
        const rows = someFrom.all(next, before, limit);
        for (const row of rows) {
          if (Number(bodyOf(row)!.block.timestamp) >= olderThan) break;
          const number = row["number"] as number;
          next = number + 1;
          if (mustStay(row["logs"])) continue;
          removeTransactions.run(number);
          removeBlock.run(number);
        }
        writeRemoved({ from: first.from, before: next });
        return rows.length === limit && next > (rows.at(-1)!["number"] as number);
      });
    },
    recall(method, [first, second]) {
      switch (method) {
        case "eth_getBlockByNumber":
        case "eth_getBlockByHash": {
          const block = findBlock(first)?.block;
          if (block === undefined || second === true) return block;
          return { ...block, transactions: block.transactions.map(({ hash }) => hash) };
        }
        case "eth_getBlockReceipts":
          return findBlock(first)?.receipts;
        case "eth_getTransactionByHash": {
          const found = findPlace(first);
          return found && found.body.block.transactions[found.place];
        }
        case "eth_getTransactionReceipt": {
          const found = findPlace(first);
          return found && found.body.receipts[found.place];
        }
        case "eth_getLogs": {
          const filter = first as LogFilter;
          const [from, to] =
            filter.blockHash === undefined
              ? [Number(filter.fromBlock), Number(filter.toBlock)]
              : Array.from({ length: 2 }, () => numberOf.get(bytesOf(filter.blockHash!))?.["number"] ?? -1);
          const matching: Log[] = [];
          for (const row of logsBetween.iterate(from as number, to as number)) {
            matching.push(...searchLogs(zstdDecompressSync(row["logs"] as Uint8Array), filter));
          }
          return matching;
        }
        default:
          return undefined;
      }
    },
    close: () => database.close(),
  };
}

interface Body {
  readonly block: HistoricBlock["block"];
  readonly receipts: HistoricBlock["receipts"];
}

/** Searches the raw bytes first: most blocks of a search contain no match and need no parsing. */
function searchLogs(json: Buffer, { address, topics = [] }: LogFilter): Log[] {
  const addresses = address === undefined ? [] : [address].flat().map((one) => one.toLowerCase());
  const wanted = topics.map((topic) =>
    topic === null ? undefined : [topic].flat().map((one) => one.toLowerCase()),
  );
  for (const choice of [addresses, ...wanted]) {
    if (choice !== undefined && choice.length > 0 && !choice.some((text) => json.includes(text))) return [];
  }
  return (JSON.parse(json.toString()) as Log[]).filter(
    (log) =>
      (addresses.length === 0 || addresses.includes(log.address)) &&
      wanted.every((choice, i) => choice === undefined || choice.includes(log.topics[i] ?? "")),
  );
}

/** Compresses with zstd's own checksum: a damaged record fails to unpack instead of passing for an answer. */
function pack(value: unknown): Uint8Array {
  return zstdCompressSync(JSON.stringify(value), { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
}

function unpack(bytes: Uint8Array): unknown {
  return JSON.parse(zstdDecompressSync(bytes).toString());
}
