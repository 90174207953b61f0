import { RpcLimitError } from "./rpcErrors.ts";
import type { RpcRequest } from "./rpcErrors.ts";

/** Blocks of one search. Past ones are unpacked one by one, some 20 µs each. */
const MAX_BLOCKS = 100_000;
/** Logs of one answer: some 14 MB. */
const MAX_LOGS = 20_000;
/** Blocks searched at once; in between, others get their turn. */
const SLICE_BLOCKS = 1_000;

/**
 * Answers `eth_getLogs` within limits: slice by slice, so that a long search holds nobody up, and ends when it has found too much.
 *
 * @throws {RpcLimitError} for too many blocks or logs.
 */
export async function searchLogs(request: RpcRequest, parameters: readonly unknown[]): Promise<unknown> {
  const filter = parameters[0];
  if (typeof filter !== "object" || filter === null || "blockHash" in filter)
    return request("eth_getLogs", parameters);
  const { fromBlock, toBlock } = filter as { readonly fromBlock?: unknown; readonly toBlock?: unknown };
  const head = Number(await request("eth_blockNumber", []));
  const from = numberOf(fromBlock, head);
  const to = Math.min(head, numberOf(toBlock, head));
  // What isn't a block at all is the node's to refuse.
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
        `eth_getLogs answers with at most ${MAX_LOGS} logs, and there are as many up to block ${last}; search from block ${from} to ${Math.max(from, first - 1)}, then on`,
      );
  }
  return logs;
}

/** NaN for what names no block. */
function numberOf(block: unknown, head: number): number {
  if (block === "earliest") return 0;
  if (block === undefined || block === null) return head;
  if (typeof block !== "string") return Number.NaN;
  return block.startsWith("0x") ? Number(block) : head;
}

function quantity(block: number): string {
  return `0x${block.toString(16)}`;
}
