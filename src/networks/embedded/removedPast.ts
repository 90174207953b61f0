import { AnswerError } from "../../evm/connection.ts";
import { EVENT_TOPICS } from "../../chainlink/events.ts";
import { CONFIG_SET_TOPIC } from "../../chainlink/nodeConfig.ts";
import type { RemovedBlocks } from "./history.ts";
import { RPC_CODES, type RpcRequest } from "./rpcErrors.ts";

/**
 * Blocks with these stay for good: sources of presets, and who signed reports. Results of later blocks are checked against them, however
 * old they are.
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

/** Options of {@link tellRemoved}. */
export interface TellRemovedOptions {
  /** The chain with what is left of its past. */
  readonly request: RpcRequest;
  readonly removed: () => Promise<RemovedBlocks>;
  /** First block whose transactions the node itself has: none was removed from there on. */
  readonly oldestWhole: () => number;
}

/**
 * Creates what asks the chain and never passes off as empty, or as unknown, what was removed: such a question has an error of its own.
 * A hash tells nothing of its block's number; one that isn't here any more is as unknown as one that never was. It is asked after the
 * answer: what is there then, was there before.
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
    // Its header is left, and nothing else.
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

/** Whether all blocks with such a log are left. */
function areKept(topic: unknown): boolean {
  const choice = [topic].flat();
  return choice.length > 0 && choice.every((one) => KEPT_TOPICS.includes(String(one).toLowerCase()));
}

function isEmpty(answer: unknown): boolean {
  return answer === null || (Array.isArray(answer) && answer.length === 0);
}

/** All tags but one are newer than what is ever removed. */
function numberOf(block: unknown): number {
  if (block === "earliest") return 0;
  return typeof block === "string" && block.startsWith("0x") ? Number(block) : Infinity;
}

/** What is asked for was removed, because it was kept long enough; EIP-4444's code. */
class RemovedError extends AnswerError {
  constructor({ from, before }: RemovedBlocks) {
    super(
      `pruned history unavailable: blocks ${from} to ${before - 1} were kept as long as the service's configuration says (keep.embedded.blockDays); ask for block ${before} and later ones`,
      RPC_CODES.prunedHistory,
      undefined,
    );
  }
}
