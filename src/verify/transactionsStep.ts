import type { Hex } from "viem";
import { messageOf, TycheError } from "../lib/errors.ts";
import { toHexText } from "../lib/hex.ts";
import type { ChainFacts } from "./chainFacts.ts";
import { encodeReceipt, encodeTransaction, hashHeader, hashOf, type RpcObject } from "./encodeBlock.ts";
import { trieRoot } from "./trieRoot.ts";
import {
  compareStep,
  failedStep,
  notApplicableStep,
  type Comparison,
  type VerificationStep,
} from "./verification.ts";

export interface TransactionCheckOptions {
  /** Whether blocks are hashed as on Ethereum; some networks have headers of their own. */
  readonly hasEthereumBlocks: boolean;
}

/**
 * Checks that the transactions match their hashes, and that they and their logs are in blocks that match *their* hashes.
 * For the request this is more than the node's word: the VRF proof is for the exact hash of its block.
 */
export async function checkTransactions(
  hashes: readonly Hex[],
  facts: ChainFacts,
  options: TransactionCheckOptions,
): Promise<VerificationStep> {
  const compared: Comparison[] = [];
  const gaps: string[] = [];
  try {
    for (const hash of new Set(hashes)) {
      // Requests share transactions.
      const found = await facts.once(`checked ${hash}`, () => checkTransaction(hash, facts, options));
      if (found.isReverted)
        return failedStep("transactions", `the transaction ${hash} was reverted`, compared);
      compared.push(...found.compared);
      if (found.gap !== undefined) gaps.push(found.gap);
    }
  } catch (error) {
    if (error instanceof TycheError) throw error;
    return failedStep("transactions", `the node's answers are malformed: ${messageOf(error)}`, compared);
  }
  const holds = options.hasEthereumBlocks
    ? "each transaction matches its hash, and its block contains it and its logs"
    : "each transaction matches its hash";
  const step = compareStep("transactions", holds, compared);
  if (step.outcome === "failed" || gaps.length === 0) return step;
  return notApplicableStep("transactions", [...new Set(gaps)].join("; "), compared);
}

interface CheckedTransaction {
  readonly compared: readonly Comparison[];
  readonly isReverted: boolean;
  /** Why the block can't be checked. */
  readonly gap?: string;
}

async function checkTransaction(
  hash: Hex,
  facts: ChainFacts,
  { hasEthereumBlocks }: TransactionCheckOptions,
): Promise<CheckedTransaction> {
  const { answer } = await facts.getTransaction(hash);
  const { blockHash, blockNumber, succeeded } = await facts.getReceipt(hash);
  const compared = [{ what: "transaction hash", expected: hash, found: hashOf(encodeTransaction(answer)) }];
  const isReverted = !succeeded;
  if (!hasEthereumBlocks) return { compared, isReverted };
  const block = await compareBlock(hash, { blockHash, blockNumber }, facts);
  if (typeof block === "string") return { compared, isReverted, gap: block };
  return { compared: [...compared, ...block], isReverted };
}

/** Returns what was compared, or why the block can't be checked. */
async function compareBlock(
  hash: Hex,
  { blockHash, blockNumber }: { readonly blockHash: Hex; readonly blockNumber: bigint },
  facts: ChainFacts,
): Promise<Comparison[] | string> {
  const block = await facts.findBlock(blockHash);
  if (block === undefined) return `the node no longer has the block ${blockHash}`;
  const transactions = block["transactions"];
  const receipts = await facts.findBlockReceipts(blockHash);
  if (
    !Array.isArray(transactions) ||
    receipts === undefined ||
    (transactions.length === 0 && receipts.length === 0)
  )
    return `the node does not give all transactions and receipts of the block ${blockHash}`;
  const receipt = receipts.find(({ transactionHash }) => transactionHash === hash);
  const { logs } = await facts.getReceipt(hash);
  const rootOf = (items: readonly Uint8Array[]): Hex => toHexText(trieRoot(items));
  return [
    { what: "block hash", expected: blockHash, found: hashHeader(block) },
    { what: "block number", expected: String(BigInt(block["number"] as Hex)), found: String(blockNumber) },
    {
      what: "transactions root",
      expected: String(block["transactionsRoot"]),
      found: rootOf((transactions as RpcObject[]).map(encodeTransaction)),
    },
    {
      what: "receipts root",
      expected: String(block["receiptsRoot"]),
      found: rootOf(receipts.map(encodeReceipt)),
    },
    {
      what: "place in the block",
      expected: String((transactions as RpcObject[]).findIndex((one) => one["hash"] === hash)),
      found: String(receipts.findIndex((one) => one === receipt)),
    },
    {
      what: "logs",
      expected: hashLogs((receipt?.["logs"] ?? []) as readonly RpcObject[]),
      found: hashLogs(logs),
    },
  ];
}

function hashLogs(logs: readonly { readonly [K in "address" | "topics" | "data"]?: unknown }[]): Hex {
  const text = logs.map(({ address, topics, data }) => JSON.stringify([address, topics, data])).join();
  return hashOf(new TextEncoder().encode(text.toLowerCase()));
}
