import { AnswerError } from "../../evm/connection.ts";

/** Sends a request to the chain. */
export type RpcRequest = (method: string, parameters: readonly unknown[]) => Promise<unknown>;

/** Error codes of JSON-RPC 2.0 (section 5.1), EIP-1474 and EIP-4444. */
export const RPC_CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  serverError: -32_000,
  notSupported: -32_004,
  limitExceeded: -32_005,
  prunedHistory: 4_444,
} as const;

/** Returns an error response. */
export function failure(id: unknown, code: number, message: string, data?: unknown): object {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** A call asks for more than the chain returns at once. */
export class RpcLimitError extends AnswerError {
  constructor(message: string) {
    super(message, RPC_CODES.limitExceeded, undefined);
  }
}
