import { readHead } from "./poolNode.ts";
import type { PoolNode } from "./poolNode.ts";

/** The heads that a pool's nodes push, taken from one node at a time. */
export interface PushedHeads {
  /** Calls back with each head until the returned function is called. */
  listen(onHead: (head: unknown) => void): () => void;
  /** Subscribes where nothing is pushed although it should be; to be called regularly. */
  renew(): void;
  close(): void;
}

/** The state of one node's subscription. */
interface Feed {
  readonly node: PoolNode;
  isStarting: boolean;
  stop: (() => void) | undefined;
  /** The last head pushed, or the node's head when the subscription started. */
  pushed: bigint | undefined;
}

/**
 * Creates the pushed heads of a pool: those of the first healthy node that pushes, so that nodes that disagree about the newest block
 * don't look like a reorg.
 */
export function createPushedHeads(options: {
  readonly nodes: readonly PoolNode[];
  /** A node that is more than this many blocks ahead of what it last pushed has stopped pushing. */
  readonly lagBlocks: number;
  /** Whether the node has the head it reports. */
  readonly believe: (node: PoolNode, head: unknown) => Promise<boolean>;
}): PushedHeads {
  const { lagBlocks, believe } = options;
  const feeds: Feed[] = options.nodes
    .filter(({ canPush }) => canPush)
    .map((node) => ({ node, isStarting: false, stop: undefined, pushed: undefined }));
  const listeners = new Set<(head: unknown) => void>();
  let isClosed = false;

  const chosen = (): Feed | undefined =>
    feeds.find(({ node, stop }) => stop !== undefined && node.status().state === "healthy");

  const take = async (feed: Feed, head: unknown): Promise<void> => {
    const told = readHead(head);
    if (told === undefined) return;
    feed.pushed = told.number;
    if (feed !== chosen() || !(await believe(feed.node, head))) return;
    for (const onHead of listeners) onHead(head);
  };

  const start = async (feed: Feed): Promise<void> => {
    feed.isStarting = true;
    feed.pushed = feed.node.status().headNumber;
    try {
      const stop = await feed.node.subscribe((head) => void take(feed, head).catch(() => {}));
      if (isClosed) stop();
      else feed.stop = stop;
    } catch {
      // The next check tries again.
    } finally {
      feed.isStarting = false;
    }
  };

  const isSilent = ({ node, pushed }: Feed): boolean => {
    const { headNumber } = node.status();
    return pushed !== undefined && headNumber !== undefined && headNumber > pushed + BigInt(lagBlocks);
  };

  const renew = (): void => {
    if (listeners.size === 0 || isClosed) return;
    for (const feed of feeds) {
      if (feed.isStarting || feed.node.status().state !== "healthy") continue;
      if (feed.stop !== undefined && isSilent(feed)) {
        feed.stop();
        feed.stop = undefined;
        // The connection itself may be losing pushed messages.
        feed.node.reconnect();
      }
      if (feed.stop === undefined) void start(feed);
    }
  };

  return {
    listen(onHead) {
      listeners.add(onHead);
      renew();
      return () => listeners.delete(onHead);
    },
    renew,
    close() {
      isClosed = true;
      for (const feed of feeds) feed.stop?.();
    },
  };
}
