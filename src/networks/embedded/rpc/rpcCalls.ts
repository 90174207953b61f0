import { AnswerError } from "../../../evm/connection.ts";
import { messageOf } from "../../../lib/errors.ts";
import { blobFaultOf, bounded, codeFaultOf, excessOf, tracesByScript } from "./rpcLimits.ts";
import { refusalOf } from "../gate.ts";
import { RPC_CODES, failure, RpcLimitError, type RpcRequest } from "../rpcErrors.ts";

/** Largest message: fits any transaction, and a batch of calls. */
export const MAX_MESSAGE_BYTES = 16 * 2 ** 20;
/** Calls per batch: viem's own maximum. */
const MAX_BATCH = 1_000;
/** Deepest nesting of parameters. Anvil reads 127 levels in a whole message; no method has more than some ten. */
const MAX_DEPTH = 100;
/** Longest answer to a call or a batch, in characters: parsing it blocks everybody. */
export const MAX_ANSWER_CHARS = 32 * 2 ** 20;
const SCRIPT_REFUSAL =
  "JavaScript tracers are refused here: the chain can't limit them; use one of Anvil's own, such as callTracer";

/**
 * Answers the text of a JSON-RPC message, a call or a batch, with text: the part that HTTP and WebSockets share. Refuses methods that endanger
 * the chain and calls that cost too much.
 *
 * @param request asks the chain; on a WebSocket it also takes `eth_subscribe`.
 */
export async function answerMessage(text: string, request: RpcRequest): Promise<string> {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return JSON.stringify(failure(null, RPC_CODES.parseError, "Parse error"));
  }
  if (!Array.isArray(message)) return JSON.stringify(await answerCall(message, request));
  if (message.length === 0) return JSON.stringify(failure(null, RPC_CODES.invalidRequest, "Invalid Request"));
  if (message.length > MAX_BATCH) {
    const tooMany = `a batch has at most ${MAX_BATCH} calls, not ${message.length}`;
    return JSON.stringify(failure(null, RPC_CODES.limitExceeded, tooMany));
  }
  let left = MAX_ANSWER_CHARS;
  const answers = message.map(async (call: unknown) => {
    const answer = JSON.stringify(await answerCall(call, request));
    if (answer.length <= left) {
      left -= answer.length;
      return answer;
    }
    return JSON.stringify(
      failure(idOf(call) ?? null, RPC_CODES.limitExceeded, "the answers of the batch are too long in total"),
    );
  });
  return `[${(await Promise.all(answers)).join()}]`;
}

async function answerCall(call: unknown, request: RpcRequest): Promise<object> {
  const { method, params } = (call ?? {}) as { method?: unknown; params?: unknown };
  const id = idOf(call);
  if (typeof method !== "string" || id === undefined)
    return failure(id ?? null, RPC_CODES.invalidRequest, "Invalid Request");
  const refusal = refusalOf(method);
  if (refusal !== undefined) return failure(id, RPC_CODES.notSupported, refusal);
  // No method of a node takes named parameters.
  const given: unknown = params ?? [];
  if (!Array.isArray(given))
    return failure(id, RPC_CODES.invalidParams, `${method} takes its parameters as a list`);
  if (!isReadable([method, given], MAX_DEPTH)) {
    const message = `the call is nested more than ${MAX_DEPTH} levels deep, or has text that is no valid Unicode`;
    return failure(id, RPC_CODES.invalidParams, message);
  }
  if (tracesByScript(method, given)) return failure(id, RPC_CODES.notSupported, SCRIPT_REFUSAL);
  const fault = codeFaultOf(method, given) ?? blobFaultOf(method, given);
  if (fault !== undefined) return failure(id, RPC_CODES.invalidParams, fault);
  try {
    const excess = excessOf(method, given);
    if (excess !== undefined) return failure(id, RPC_CODES.limitExceeded, excess);
    const parameters = bounded(method, given) as readonly unknown[];
    const result =
      method === "eth_getLogs" ? await searchLogs(request, parameters) : await request(method, parameters);
    return { jsonrpc: "2.0", id, result };
  } catch (error) {
    if (error instanceof AnswerError) return failure(id, error.code, error.message, error.data);
    return failure(id, RPC_CODES.internal, messageOf(error));
  }
}

/**
 * Returns a call's id; `undefined` for one that is no text, number or `null` (JSON-RPC 2.0, section 4): a deeply nested list can't be written
 * into the answer.
 */
function idOf(call: unknown): string | number | null | undefined {
  const { id = null } = (call ?? {}) as { readonly id?: unknown };
  return id === null || typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** Blocks per search. Past blocks are unpacked one by one, at about 20 µs each. */
const MAX_BLOCKS = 100_000;
/** Logs per answer: about 14 MB. */
const MAX_LOGS = 20_000;
/** Blocks searched in one go; other requests get their turn in between. */
const SLICE_BLOCKS = 1_000;

/**
 * Answers `eth_getLogs` within limits: slice by slice, so that a long search blocks nobody, stopping when there are too many logs.
 *
 * @throws {RpcLimitError} for too many blocks or logs.
 */
async function searchLogs(request: RpcRequest, parameters: readonly unknown[]): Promise<unknown> {
  const filter = parameters[0];
  if (typeof filter !== "object" || filter === null || "blockHash" in filter)
    return request("eth_getLogs", parameters);
  const { fromBlock, toBlock } = filter as { readonly fromBlock?: unknown; readonly toBlock?: unknown };
  const head = Number(await request("eth_blockNumber", []));
  const from = numberOf(fromBlock, head);
  const to = Math.min(head, numberOf(toBlock, head));
  // Values that aren't blocks are left for the node to refuse.
  if (Number.isNaN(from) || Number.isNaN(to) || to - from < SLICE_BLOCKS)
    return request("eth_getLogs", parameters);
  if (to - from >= MAX_BLOCKS)
    throw new RpcLimitError(
      `eth_getLogs searches at most ${MAX_BLOCKS} blocks at once, not ${to - from + 1}; search in parts`,
    );
  const logs: unknown[] = [];
  for (let first = from; first <= to; first += SLICE_BLOCKS) {
    const last = Math.min(to, first + SLICE_BLOCKS - 1);
    const slice = { ...filter, fromBlock: quantity(first), toBlock: quantity(last) };
    logs.push(...((await request("eth_getLogs", [slice])) as unknown[]));
    if (logs.length > MAX_LOGS)
      throw new RpcLimitError(
        `eth_getLogs answers with at most ${MAX_LOGS} logs, and reached that number at block ${last}; search blocks ${from} to ${Math.max(from, first - 1)} first, then the rest`,
      );
  }
  return logs;
}

/** Returns NaN for a value that names no block. */
function numberOf(block: unknown, head: number): number {
  if (block === "earliest") return 0;
  if (block === undefined || block === null) return head;
  if (typeof block !== "string") return Number.NaN;
  return block.startsWith("0x") ? Number(block) : head;
}

function quantity(block: number): string {
  return `0x${block.toString(16)}`;
}

/**
 * Whether Anvil can parse a value as JSON. It answers a message that it can't parse without an id, so the caller would wait for its timeout,
 * and all transactions with it when the call must run alone.
 */
function isReadable(value: unknown, levels: number): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.every((member) => isReadable(member, levels - 1));
  return Object.entries(value).every(
    ([name, member]) => name.isWellFormed() && isReadable(member, levels - 1),
  );
}
