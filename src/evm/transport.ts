import type { Hex } from "viem";
import { messageOf } from "../lib/errors.ts";
import { RpcError } from "../lib/nodeAnswers.ts";
import { AnswerError, openUnixSocket, openWebSocket, type Transport } from "./connection.ts";
import { openHttp } from "./httpTransport.ts";

/** Connects to a node by `ws:`, `wss:`, `http:` or `https:` URL, or by the path of its Unix socket. */
export function openTransport(rpcUrl: string, timeoutMs: number): Transport {
  if (/^wss?:\/\//.test(rpcUrl)) return openWebSocket(rpcUrl, timeoutMs);
  if (/^https?:\/\//.test(rpcUrl)) return openHttp(rpcUrl, timeoutMs);
  return openUnixSocket(rpcUrl, timeoutMs);
}

/**
 * Converts whatever a transport threw into the error that callers see: without the URL, and with the node's own code and revert
 * data.
 */
export function asRpcError(method: string, cause: unknown, hideUrl: (text: string) => string): RpcError {
  if (cause instanceof RpcError) return cause;
  const message = hideUrl(messageOf(cause));
  if (!(cause instanceof AnswerError)) return new RpcError(method, message);
  const { code, data } = cause;
  return new RpcError(method, message, {
    data: findRevertData(data),
    answered: true,
    // Rebuilt without the URL, because loggers also write causes.
    cause: new AnswerError(message, code, data),
  });
}

/** Some nodes nest the revert data: `{ data: { data: "0x…" } }`. */
function findRevertData(data: unknown): Hex | undefined {
  if (typeof data === "string") return data.startsWith("0x") ? (data as Hex) : undefined;
  if (typeof data !== "object" || data === null) return undefined;
  const inner = (data as { data?: unknown }).data;
  return typeof inner === "string" && inner.startsWith("0x") ? (inner as Hex) : undefined;
}
