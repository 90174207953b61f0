/**
 * Reads a transaction with its place in the chain. A node may answer anything, so everything here is decoded from the bytes that were
 * hashed, never from a member beside them: the calldata from the transaction's bytes, the logs from the receipts that hash to the
 * header's `receiptsRoot`. A log's place follows from the place of its receipt; the node's own copies are not read.
 */
import type { Comparison } from "../api/types.ts";
import type { Hex } from "viem";
import { messageOf, TycheError } from "../lib/errors.ts";
import { toHexText } from "../lib/hex.ts";
import { parseHex, parseObject, parseReceipt, RpcError, type RawLog } from "../lib/nodeAnswers.ts";
import {
  decodeReceipt,
  decodeTransaction,
  encodeReceipt,
  encodeTransaction,
  hashHeader,
  hashOf,
  type HashedReceipt,
  type RpcObject,
  type TransactionCall,
} from "./encodeBlock.ts";
import { trieRoot } from "./trieRoot.ts";

/** A mined transaction. */
export interface MinedTransaction extends TransactionCall {
  readonly hash: Hex;
  readonly blockHash: Hex;
  readonly blockNumber: bigint;
  /**
   * Time of its block in Unix seconds, from the header that was hashed, or by the node's word where headers are not Ethereum's; `undefined`
   * if the node doesn't show it.
   */
  readonly blockTime: number | undefined;
  /** Its bytes, as they were signed. */
  readonly signed: Uint8Array;
  /** `false`: it reverted as a whole. */
  readonly succeeded: boolean;
  /** In order, with their places. */
  readonly logs: readonly RawLog[];
  /** What was hashed. */
  readonly compared: readonly Comparison[];
  /** Why its block can't be hashed; status and logs are then the node's word, as on a chain whose blocks are not Ethereum's. */
  readonly gap?: string;
}

export interface MinedTransactionOptions {
  readonly request: (method: string, parameters: readonly unknown[]) => Promise<unknown>;
  /** Name of the network, for messages. */
  readonly network: string;
  /** The network's chain. */
  readonly chainId: number;
  /** Whether blocks are hashed as on Ethereum; some networks have headers of their own. */
  readonly hasEthereumBlocks: boolean;
  /** Reads and hashes a block once for all its transactions. */
  readonly once: <T>(key: string, read: () => Promise<T>) => Promise<T>;
}

/** Reads and hashes a transaction and its block. Throws {@link UnknownTransactionError}, {@link RpcError}. */
export async function readMinedTransaction(
  hash: Hex,
  options: MinedTransactionOptions,
): Promise<MinedTransaction> {
  const { request, network, hasEthereumBlocks } = options;
  const receipt = await request("eth_getTransactionReceipt", [hash]);
  if (receipt === null) throw new UnknownTransactionError(hash, network);
  const blockHash = parseHex(parseObject(receipt, "receipt")["blockHash"], "blockHash");
  const { found, ...call } = await readCall(hash, options);
  const { chainId } = call;
  const compared: Comparison[] = [{ what: "transaction hash", expected: hash, found }];
  if (chainId !== undefined)
    compared.push({
      what: "chain id in the transaction",
      expected: `${options.chainId}`,
      found: `${chainId}`,
    });
  const said = (): Pick<MinedTransaction, "blockNumber" | "blockTime" | "succeeded" | "logs"> => {
    const { blockNumber, succeeded, logs } = parseReceipt(receipt);
    const place = { blockHash, blockNumber, transactionHash: hash };
    return {
      blockNumber,
      blockTime: undefined,
      succeeded,
      logs: logs.map((log) => ({ ...log, ...place })),
    };
  };
  if (!hasEthereumBlocks) {
    const blockTime = await options.once(`time ${blockHash}`, () => readBlockTime(blockHash, options));
    return { hash, ...call, blockHash, ...said(), blockTime, compared };
  }
  const block = await readBlock(blockHash, options);
  if (typeof block === "string") return { hash, ...call, blockHash, ...said(), compared, gap: block };
  const index = block.transactions.indexOf(hash);
  compared.push(...block.compared, {
    what: "transaction in the block",
    expected: hash,
    found: block.transactions[index] ?? "none",
  });
  const hashed = block.receipts[index];
  // The comparison has failed.
  if (hashed === undefined) return { hash, ...call, blockHash, ...said(), compared };
  const { number: blockNumber, time: blockTime } = block;
  const { succeeded } = hashed;
  const logs = logsOf(block, index);
  return { hash, ...call, blockHash, blockNumber, blockTime, succeeded, logs, compared };
}

/** Returns the logs of a transaction in a block, with their places. */
function logsOf(
  { hash: blockHash, number: blockNumber, transactions, receipts }: HashedBlock,
  index: number,
) {
  const first = receipts.slice(0, index).reduce((sum, { logs }) => sum + logs.length, 0);
  const place = { blockHash, blockNumber, transactionHash: transactions[index]! };
  return receipts[index]!.logs.map((log, i): RawLog => ({ ...log, ...place, logIndex: first + i }));
}

/** Reads the logs of each transaction in a block; `undefined` unless the node shows all that the block's hash stands for. */
export async function readBlockLogs(
  blockHash: Hex,
  options: MinedTransactionOptions,
): Promise<readonly (readonly RawLog[])[] | undefined> {
  const block = await readBlock(blockHash, options);
  if (typeof block === "string" || block.compared.some(({ expected, found }) => expected !== found))
    return undefined;
  return block.receipts.map((_, index) => logsOf(block, index));
}

async function readBlockTime(
  blockHash: Hex,
  { request }: MinedTransactionOptions,
): Promise<number | undefined> {
  const block = (await request("eth_getBlockByHash", [blockHash, false]).catch(
    () => null,
  )) as RpcObject | null;
  const time = Number(block?.["timestamp"]);
  return Number.isSafeInteger(time) ? time : undefined;
}

/** Decodes a transaction from its bytes. @returns also the hash of these bytes, as `found` */
async function readCall(
  hash: Hex,
  { request, network }: MinedTransactionOptions,
): Promise<TransactionCall & { readonly found: Hex; readonly signed: Uint8Array }> {
  const method = "eth_getTransactionByHash";
  const answer = await request(method, [hash]);
  if (answer === null) throw new UnknownTransactionError(hash, network);
  try {
    const bytes = encodeTransaction(parseObject(answer, "transaction"));
    return { ...decodeTransaction(bytes), found: hashOf(bytes), signed: bytes };
  } catch (cause) {
    throw new RpcError(method, messageOf(cause), { cause });
  }
}

/** A block's parts, decoded from the bytes that were hashed. */
interface HashedBlock {
  readonly hash: Hex;
  readonly number: bigint;
  /** Unix seconds. */
  readonly time: number;
  readonly compared: readonly Comparison[];
  /** Hashes of the transactions' bytes, in order. */
  readonly transactions: readonly Hex[];
  readonly receipts: readonly HashedReceipt[];
}

/**
 * Transactions of a block that are hashed, at some 50 µs each, while no other work runs: as many as fit 420 million gas. A node can make up any
 * number.
 */
const MAX_TRANSACTIONS = 20_000;

/** Reads and hashes a block, once; returns the reason if it can't be hashed. */
function readBlock(
  blockHash: Hex,
  { request, once }: MinedTransactionOptions,
): Promise<HashedBlock | string> {
  return once(`block ${blockHash}`, () => readUnknownBlock(blockHash, request));
}

async function readUnknownBlock(
  blockHash: Hex,
  request: MinedTransactionOptions["request"],
): Promise<HashedBlock | string> {
  const block = (await request("eth_getBlockByHash", [blockHash, true])) as RpcObject | null;
  if (block === null || block === undefined) return `the node no longer has the block ${blockHash}`;
  const transactions = block["transactions"];
  if (Array.isArray(transactions) && transactions.length > MAX_TRANSACTIONS)
    return `the block ${blockHash} has ${transactions.length} transactions, and at most ${MAX_TRANSACTIONS} are hashed`;
  const receipts = Array.isArray(transactions) ? await readReceipts(blockHash, transactions, request) : [];
  if (!Array.isArray(transactions) || receipts.length === 0)
    return `the node does not give all transactions and receipts of the block ${blockHash}`;
  try {
    return hashBlock(block, { blockHash, transactions, receipts });
  } catch (error) {
    return `the block ${blockHash} can't be hashed as a block of Ethereum: ${messageOf(error)}`;
  }
}

/** Reads the receipts of a block, one by one from a node without `eth_getBlockReceipts`; none if it doesn't give them all. */
async function readReceipts(
  blockHash: Hex,
  transactions: readonly unknown[],
  request: MinedTransactionOptions["request"],
): Promise<RpcObject[]> {
  const receipts = await request("eth_getBlockReceipts", [blockHash]).catch(() => null);
  if (Array.isArray(receipts)) return receipts;
  const single: RpcObject[] = [];
  try {
    for (const transaction of transactions) {
      const { hash } = parseObject(transaction, "transaction");
      single.push(parseObject(await request("eth_getTransactionReceipt", [hash]), "receipt"));
    }
  } catch {
    return [];
  }
  return single;
}

function hashBlock(
  block: RpcObject,
  {
    blockHash,
    ...parts
  }: {
    readonly blockHash: Hex;
    readonly transactions: readonly RpcObject[];
    readonly receipts: readonly RpcObject[];
  },
): HashedBlock {
  const transactions = parts.transactions.map(encodeTransaction);
  const receipts = parts.receipts.map(encodeReceipt);
  const rootOf = (items: readonly Uint8Array[]): Hex => toHexText(trieRoot(items));
  return {
    hash: blockHash,
    number: BigInt(block["number"] as Hex),
    time: Number(block["timestamp"]),
    transactions: transactions.map(hashOf),
    receipts: receipts.map(decodeReceipt),
    compared: [
      { what: "block hash", expected: blockHash, found: hashHeader(block) },
      { what: "transactions root", expected: String(block["transactionsRoot"]), found: rootOf(transactions) },
      { what: "receipts root", expected: String(block["receiptsRoot"]), found: rootOf(receipts) },
      {
        what: "receipts in the block",
        expected: String(transactions.length),
        found: String(receipts.length),
      },
    ],
  };
}

/** The node has no such transaction. */
export class UnknownTransactionError extends TycheError {
  constructor(hash: Hex, network: string) {
    super(
      `There is no transaction ${hash} on ${network} that the node still has; check hash and network, or ask an archive node.`,
      { code: "not_found", blame: "caller" },
    );
  }
}
