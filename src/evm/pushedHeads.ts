import { readHead } from "./poolNode.ts";
import type { PoolNode } from "./poolNode.ts";

/** The heads that the nodes of a pool push, from one node at a time. */
export interface PushedHeads {
  /** Calls back with each head until the stop that it gives. */
  listen(onHead: (head: unknown) => void): () => void;
  /** Subscribes where nothing is pushed though it should be: call it again and again. */
  renew(): void;
  close(): void;
}

/** Where one node's subscription stands. */
interface Feed {
  readonly node: PoolNode;
  isStarting: boolean;
  stop: (() => void) | undefined;
  /** Last head that came, or the node's when the subscription began. */
  pushed: bigint | undefined;
}

/** Creates the pushed heads of a pool: those of the first node in order that pushes, so that nodes that differ on the newest block don't look like a reorganisation. */
export function createPushedHeads(options: {
  readonly nodes: readonly PoolNode[];
  /** A node that is this many blocks further than what it pushed pushes no more. */
  readonly lagBlocks: number;
  /** Whether the node has the head that it tells of. */
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
      // The next look tries again.
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
        // The connection itself may have lost what is pushed.
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
