import { RpcLimitError } from "./rpcErrors.ts";
import type { RpcRequest } from "./rpcErrors.ts";

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
export async function searchLogs(request: RpcRequest, parameters: readonly unknown[]): Promise<unknown> {
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
