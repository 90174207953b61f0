import type { BlockHead, ChainClient } from "./client.ts";
import { RpcError } from "../lib/nodeAnswers.ts";
import { remember } from "../lib/memo.ts";

/** How long a reading is reused. */
const FRESH_MS = 1_000;

/** The block up to which a network is final. */
export interface Finality {
  /** Returns the number of the newest final block; 0 while there is none. Throws RpcError when the node can't be asked. */
  finalNumber(this: void): Promise<bigint>;
}

/**
 * Creates the finality of one network: its node's `finalized` block if the network has a useful one; otherwise, or when the node
 * doesn't know the tag, a fixed number of blocks below the head. A block that a node has once called final stays final.
 */
export function createFinality(options: {
  readonly client: Pick<ChainClient, "getHead">;
  /** Blocks after which the network no longer replaces a block. */
  readonly depth: number;
  /** Whether the tag is better information than the depth. */
  readonly hasFinalizedTag: boolean;
  /** Default: `finalized`. */
  readonly tag?: "safe" | "finalized";
  /** Returns the newest head, when the chain is being followed anyway. Default: the node is asked. */
  readonly head?: () => Pick<BlockHead, "number"> | undefined;
}): Finality {
  const { client, depth, hasFinalizedTag, tag = "finalized", head = () => undefined } = options;
  let newest = 0n;

  const readTag = async (): Promise<bigint | undefined> => {
    try {
      return (await client.getHead(tag))?.number;
    } catch (error) {
      // A node older than the tag refuses it.
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
