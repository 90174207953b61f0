import type { BlockHead, ChainClient } from "./client.ts";
import { RpcError } from "../lib/nodeAnswers.ts";
import { remember } from "../lib/memo.ts";

/** How long a reading answers further questions. */
const FRESH_MS = 1_000;

/** Up to which block a network takes nothing back. */
export interface Finality {
  /** Number of the newest final block; 0 while there is none. Throws RpcError when the node can't be asked. */
  finalNumber(this: void): Promise<bigint>;
}

/**
 * Creates the finality of one network: its node's `finalized` block where the network has a useful one, else, or where the node
 * doesn't know the tag, so many blocks before the head. What a node has called final once stays so.
 */
export function createFinality(options: {
  readonly client: Pick<ChainClient, "getHead">;
  /** Blocks after which the network replaces none any more. */
  readonly depth: number;
  /** Whether the `finalized` tag says more than the depth. */
  readonly hasFinalizedTag: boolean;
  /** Newest head, where somebody follows the chain anyway. Default: the node is asked. */
  readonly head?: () => Pick<BlockHead, "number"> | undefined;
}): Finality {
  const { client, depth, hasFinalizedTag, head = () => undefined } = options;
  let newest = 0n;

  const readTag = async (): Promise<bigint | undefined> => {
    try {
      return (await client.getHead("finalized"))?.number;
    } catch (error) {
      // A node from before the tag refuses it.
      if (error instanceof RpcError && error.answered) return undefined;
      throw error;
    }
  };

  const readFinalTag = remember(FRESH_MS, readTag);
  const finalNumber = async (): Promise<bigint> => {
    const tagged = hasFinalizedTag ? await readFinalTag() : undefined;
    const { number } = head() ?? (await client.getHead("latest")) ?? { number: 0n };
    if (tagged === undefined || tagged > number) return number > BigInt(depth) ? number - BigInt(depth) : 0n;
    if (tagged > newest) newest = tagged;
    return newest;
  };
  return { finalNumber };
}
