import type { Hex } from "viem";
import type { Sealed } from "../protocol/message.ts";
import { createBoundedMap } from "../../lib/boundedMap.ts";

/** Bytes kept in all, the same part of each sender; senders repeat what was dropped. */
const MAX_BYTES = 16 * 2 ** 20;
/** Counted for each message beside its own bytes: the objects around them. */
const OBJECT_BYTES = 512;

/** Messages about requests that this node has not seen on chain yet. */
export interface EarlyMessages {
  add(requestId: Hex, sealed: Sealed): void;
  /** Returns and removes the messages about a request. */
  take(requestId: Hex): readonly Sealed[];
}

/** Maximum per kind and sender: an honest node sends one, and a second one shows that its sender is not honest. */
const MAX_OF_SENDER = 2;

/**
 * Creates an empty store of the early messages of a number of nodes. It keeps up to two commitments, reveals and endorsements per request
 * and node. Of a node that sends too much, it drops what is about the oldest requests; the messages of the others stay.
 */
export function createEarlyMessages(nodes: number): EarlyMessages {
  const senders = Array.from({ length: nodes }, () =>
    createBoundedMap<Hex, readonly Sealed[]>(MAX_BYTES / nodes),
  );
  return {
    take(requestId) {
      const found = senders.flatMap((requests) => requests.get(requestId) ?? []);
      for (const requests of senders) requests.delete(requestId);
      return found;
    },
    add(requestId, sealed) {
      const { kind, sender } = sealed.message;
      if (kind === "proposal" || kind === "evidence") return;
      const requests = senders[sender]!;
      const known = requests.get(requestId) ?? [];
      const isKnown = known.some(({ bytes }) => Buffer.compare(bytes, sealed.bytes) === 0);
      if (isKnown || known.filter(({ message }) => message.kind === kind).length === MAX_OF_SENDER) return;
      const all = [...known, sealed];
      const bytes = all.reduce((sum, one) => sum + one.bytes.length + OBJECT_BYTES, 0);
      requests.set(requestId, all, bytes);
    },
  };
}
