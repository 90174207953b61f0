import { AnswerError } from "../../evm/connection.ts";
import type { Connection } from "../../evm/connection.ts";
import { KEPT_STATES, KEPT_TRANSACTION_BLOCKS } from "./anvil.ts";
import { RPC_CODES } from "./rpcErrors.ts";
import type { RpcRequest } from "./rpcErrors.ts";

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
