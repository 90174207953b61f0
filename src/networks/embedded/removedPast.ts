import { AnswerError } from "../../evm/connection.ts";
import { EVENT_TOPICS } from "../../chainlink/events.ts";
import { CONFIG_SET_TOPIC } from "../../chainlink/nodeConfig.ts";
import type { RemovedBlocks } from "./history.ts";
import { RPC_CODES, type RpcRequest } from "./rpcErrors.ts";

/**
 * Blocks with logs of these topics are never removed: the sources of presets, and who signed reports. Results in later blocks are
 * verified against them, however old they are.
 */
export const KEPT_TOPICS: readonly string[] = [EVENT_TOPICS.SourceStored, CONFIG_SET_TOPIC];

interface Block {
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

export interface TellRemovedOptions {
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
  const assertBlockIsLeft = async (which: unknown, answer?: Block | null): Promise<void> => {
    const isHash = typeof which === "string" && which.length === 66;
    const block =
      answer ??
      ((await request(isHash ? "eth_getBlockByHash" : "eth_getBlockByNumber", [
        which,
        false,
      ])) as Block | null);
    if (block === null && !isHash) await assertLeft(numberOf(which));
    // Only the block's header is left.
    if (block !== null && block.transactions.length === 0 && block.gasUsed !== "0x0")
      await assertLeft(Number(block.number));
  };

  return async (method, parameters) => {
    const answer = await request(method, parameters);
    const [first] = parameters;
    if (method === "eth_getBlockByNumber" || method === "eth_getBlockByHash")
      await assertBlockIsLeft(first, answer as Block | null);
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
