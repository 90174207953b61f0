import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue } from "node:sqlite";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Hex } from "viem";

/** A block with everything that a node can be asked about it, as the node itself answered. */
export interface HistoricBlock {
  readonly number: number;
  readonly hash: Hex;
  /** The answer to `eth_getBlockByNumber` with whole transactions. */
  readonly block: { readonly transactions: readonly { readonly hash: Hex }[] };
  /** The answer to `eth_getBlockReceipts`. */
  readonly receipts: readonly { readonly logs: readonly object[] }[];
}

/** The blocks of a chain that its node forgets, on disk. */
export interface History {
  /** Adds blocks in one transaction; what was known of these and later numbers is replaced. */
  append(blocks: readonly HistoricBlock[]): void;
  /** Forgets the blocks after this one, which the chain no longer has; gives back the newest that is left. */
  cutAfter(number: number): { readonly number: number; readonly hash: Hex } | undefined;
  /** Answers a JSON-RPC request about the past, or `undefined` when that isn't in here. */
  recall(method: string, parameters: readonly unknown[]): unknown;
  close(): void;
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

/**
 * Opens a chain's history, making it when absent. One SQLite file: a row a block, what it holds as compressed JSON, logs
 * apart from the rest because searches read only them; and where each transaction is. About 4 kB a preset.
 */
export function openHistory(file: string): History {
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file);
  // A lost row can be asked for again; the file stays whole.
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;
    CREATE TABLE IF NOT EXISTS blocks (number INTEGER PRIMARY KEY, hash BLOB NOT NULL, body BLOB NOT NULL, logs BLOB);
    CREATE INDEX IF NOT EXISTS blocks_by_hash ON blocks (hash);
    CREATE TABLE IF NOT EXISTS transactions (hash BLOB PRIMARY KEY, block INTEGER NOT NULL, place INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS transactions_by_block ON transactions (block)`);
  const newest = database.prepare("SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1");
  const forgetTransactions = database.prepare("DELETE FROM transactions WHERE block >= ?");
  const forgetBlocks = database.prepare("DELETE FROM blocks WHERE number >= ?");
  const addBlock = database.prepare("INSERT INTO blocks VALUES (?, ?, ?, ?)");
  const addTransaction = database.prepare("INSERT OR REPLACE INTO transactions VALUES (?, ?, ?)");
  const byNumber = database.prepare("SELECT body FROM blocks WHERE number = ?");
  const byHash = database.prepare("SELECT number, body FROM blocks WHERE hash = ?");
  const place = database.prepare("SELECT block, place FROM transactions WHERE hash = ?");
  const logsBetween = database.prepare(
    "SELECT logs FROM blocks WHERE number BETWEEN ? AND ? AND logs IS NOT NULL ORDER BY number",
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
      database.exec("BEGIN");
      try {
        const last = newest.get()?.["number"] as number | undefined;
        if (last !== undefined && first <= last) {
          forgetTransactions.run(first);
          forgetBlocks.run(first);
        }
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
        }
        database.exec("COMMIT");
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
    },
    cutAfter(number) {
      forgetTransactions.run(number + 1);
      forgetBlocks.run(number + 1);
      const row = newest.get();
      return (
        row && { number: row["number"] as number, hash: `0x${(row["hash"] as Uint8Array).toHex()}` as const }
      );
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
              : Array.from({ length: 2 }, () => byHash.get(bytesOf(filter.blockHash!))?.["number"] ?? -1);
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

/** Looks for the bytes first: most blocks of a search hold nothing that is asked for, and need no parsing. */
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

/** With zstd's own checksum: a damaged record fails to unpack, and is never taken for an answer. */
function pack(value: unknown): Uint8Array {
  return zstdCompressSync(JSON.stringify(value), { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
}

function unpack(bytes: Uint8Array): unknown {
  return JSON.parse(zstdDecompressSync(bytes).toString());
}

function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), "hex");
}
