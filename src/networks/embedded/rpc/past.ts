import { AnswerError, type Connection } from "../../../evm/connection.ts";
import { KEPT_STATES, KEPT_TRANSACTION_BLOCKS } from "../process/anvil.ts";
import { RPC_CODES, type RpcRequest } from "../rpcErrors.ts";
import { EVENT_TOPICS } from "../../../chainlink/events.ts";
import { CONFIG_SET_TOPIC } from "../../../chainlink/nodeConfig.ts";
import type { RemovedBlocks } from "../storage/history.ts";

/** For a transaction that Anvil has forgotten, these methods return what looks like an answer: no gas, no calls, `null`. */
const OF_TRANSACTION =
  /^(?:debug_(?:traceTransaction|getRawTransaction)|trace_(?:transaction|get|replayTransaction|transactionOpcodeGas)|ots_(?:traceTransaction|getInternalOperations|getTransactionError)|eth_getRawTransactionByHash)$/;
/** For a block whose transactions Anvil has forgotten, these methods return an empty list. */
const OF_BLOCK =
  /^(?:debug_(?:traceBlockByNumber|traceBlockByHash|getRawTransactions|getRawReceipts)|trace_(?:block|replayBlockTransactions|blockOpcodeGas))$/;

interface Block {
  readonly number: string;
  readonly transactions: readonly unknown[];
}

export interface PastOptions {
  /** The chain as clients see it, with its history. */
  readonly request: RpcRequest;
  /** Anvil itself. */
  readonly direct: Pick<Connection, "request">;
  /** First block whose transactions Anvil certainly still has. */
  readonly oldestWhole: () => number;
}

/**
 * Wraps chain requests to distinguish data that is gone from data that is empty. Receipts, logs and transactions of old blocks are kept
 * longer; traces cover the last {@link KEPT_TRANSACTION_BLOCKS} blocks since the start, states the last {@link KEPT_STATES}.
 */
export function createPast({ request, direct, oldestWhole }: PastOptions): RpcRequest {
  const blockOf = async (which: unknown): Promise<Block | null> => {
    const byHash = typeof which === "string" && which.length === 66;
    return (await request(byHash ? "eth_getBlockByHash" : "eth_getBlockByNumber", [
      which,
      true,
    ])) as Block | null;
  };

  /** Runs after the answer: a transaction that Anvil still has then, it had before. */
  const assertTransactionIsThere = async (method: string, hash: unknown): Promise<void> => {
    if ((await direct.request("eth_getTransactionByHash", [hash])) !== null) return;
    const kept = (await request("eth_getTransactionByHash", [hash])) as { blockNumber: string } | null;
    if (kept === null) throw new GoneError(`transaction ${String(hash)} is not known on this chain`);
    throw traceGone(method, Number(kept.blockNumber));
  };

  return async (method, parameters) => {
    const [first] = parameters;
    switch (method) {
      case "eth_getBlockTransactionCountByNumber":
      case "eth_getBlockTransactionCountByHash": {
        const block = await blockOf(first);
        return block && `0x${block.transactions.length.toString(16)}`;
      }
      case "eth_getTransactionByBlockNumberAndIndex":
      case "eth_getTransactionByBlockHashAndIndex":
        return (await blockOf(first))?.transactions[Number(parameters[1])] ?? null;
      case "trace_filter": {
        const { fromBlock } = (first ?? {}) as { readonly fromBlock?: unknown };
        const from = Number(fromBlock === "earliest" ? 0 : (fromBlock ?? 0));
        if (from < oldestWhole()) throw traceGone(method, from);
        return request(method, parameters);
      }
      default: {
        const answer = await request(method, parameters).catch((error: unknown) => {
          throw explainGone(method, error);
        });
        if (OF_TRANSACTION.test(method)) await assertTransactionIsThere(method, first);
        if (OF_BLOCK.test(method) && Array.isArray(answer) && answer.length === 0) {
          const block = await blockOf(first);
          if (block !== null && block.transactions.length > 0) throw traceGone(method, Number(block.number));
        }
        return answer;
      }
    }
  };
}

function traceGone(method: string, block: number): GoneError {
  return new GoneError(
    `${method} can't answer for block ${block}: this chain keeps traces and raw transactions of its last ${KEPT_TRANSACTION_BLOCKS} blocks, and none from before its last start; receipts, logs and transactions are kept longer`,
  );
}

/** Rewrites Anvil's errors about forgotten states, which name neither what is kept nor what was requested. */
function explainGone(method: string, error: unknown): unknown {
  if (!(error instanceof AnswerError)) return error;
  const [, newest, asked] = /block height is (\d+) but requested was (\d+)/.exec(error.message) ?? [];
  if (asked !== undefined && Number(asked) < Number(newest))
    return new GoneError(
      `the state of block ${asked} is gone: this chain keeps the states of its last ${KEPT_STATES} blocks, and its newest is ${newest}; receipts, logs and transactions are kept longer`,
    );
  if (/^(?:debug|trace)_/.test(method) && error.message === "Resource not found")
    return new GoneError(
      `${method} runs the transaction again, and the state it ran on is gone: this chain keeps the states of its last ${KEPT_STATES} blocks`,
    );
  return error;
}

/** The requested data existed but has not been kept. */
class GoneError extends AnswerError {
  constructor(message: string) {
    super(message, RPC_CODES.serverError, undefined);
  }
}

/**
 * Blocks with logs of these topics are never removed: the sources of presets, and who signed reports. Results in later blocks are
 * verified against them, however old they are.
 */
export const KEPT_TOPICS: readonly string[] = [EVENT_TOPICS.SourceStored, CONFIG_SET_TOPIC];

interface LeftBlock {
  readonly number: string;
  readonly gasUsed: string;
  readonly transactions: readonly unknown[];
}

interface LogFilter {
  readonly blockHash?: unknown;
  readonly fromBlock?: unknown;
  readonly toBlock?: unknown;
  readonly topics?: readonly unknown[];
}

interface TellRemovedOptions {
  /** The chain with what is left of its history. */
  readonly request: RpcRequest;
  readonly removed: () => Promise<RemovedBlocks>;
  /** First block whose transactions the node itself has: no block from there on was removed. */
  readonly oldestWhole: () => number;
}

/**
 * Wraps chain requests so that removed blocks never pass for empty or unknown ones: asking for them fails with an error of its own. A
 * hash doesn't reveal its block's number, so the hash of a removed block is as unknown as one that never existed. Checks run after the
 * answer: what is present then was present before.
 */
export function tellRemoved({ request, removed, oldestWhole }: TellRemovedOptions): RpcRequest {
  const assertLeft = async (from: number, to = from): Promise<void> => {
    if (from >= oldestWhole()) return;
    const blocks = await removed();
    if (from < blocks.before && to >= blocks.from) throw new RemovedError(blocks);
  };
  const assertBlockIsLeft = async (which: unknown, answer?: LeftBlock | null): Promise<void> => {
    const isHash = typeof which === "string" && which.length === 66;
    const block =
      answer ??
      ((await request(isHash ? "eth_getBlockByHash" : "eth_getBlockByNumber", [
        which,
        false,
      ])) as LeftBlock | null);
    if (block === null && !isHash) await assertLeft(numberOf(which));
    // Only the block's header is left.
    if (block !== null && block.transactions.length === 0 && block.gasUsed !== "0x0")
      await assertLeft(Number(block.number));
  };

  return async (method, parameters) => {
    const answer = await request(method, parameters);
    const [first] = parameters;
    if (method === "eth_getBlockByNumber" || method === "eth_getBlockByHash")
      await assertBlockIsLeft(first, answer as LeftBlock | null);
    else if (method === "eth_getBlockReceipts" && isEmpty(answer)) await assertBlockIsLeft(first);
    else if (method === "eth_getLogs") {
      const { blockHash, fromBlock, toBlock, topics } = (first ?? {}) as LogFilter;
      if (blockHash === undefined) {
        if (!areKept(topics?.[0])) await assertLeft(numberOf(fromBlock), numberOf(toBlock));
      } else if (isEmpty(answer)) await assertBlockIsLeft(blockHash);
    }
    return answer;
  };
}

/** Whether all blocks with such a log are kept. */
function areKept(topic: unknown): boolean {
  const choice = [topic].flat();
  return choice.length > 0 && choice.every((one) => KEPT_TOPICS.includes(String(one).toLowerCase()));
}

function isEmpty(answer: unknown): boolean {
  return answer === null || (Array.isArray(answer) && answer.length === 0);
}

/** Every tag except `earliest` names a block newer than any that is removed. */
function numberOf(block: unknown): number {
  if (block === "earliest") return 0;
  return typeof block === "string" && block.startsWith("0x") ? Number(block) : Infinity;
}

/** The requested blocks were removed after their retention time; the code is EIP-4444's. */
class RemovedError extends AnswerError {
  constructor({ from, before }: RemovedBlocks) {
    super(
      `pruned history unavailable: blocks ${from} to ${before - 1} were kept as long as the service's configuration says (keep.embedded.blockDays); ask for block ${before} and later ones`,
      RPC_CODES.prunedHistory,
      undefined,
    );
  }
}
