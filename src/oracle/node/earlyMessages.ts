import type { Hex } from "viem";
import type { Sealed } from "../protocol/message.ts";

/** Maximum number of messages kept; they are short, and senders repeat them. */
const MAX_MESSAGES = 4_096;

/** Messages about requests that this node has not seen on chain yet. */
export interface EarlyMessages {
  add(requestId: Hex, sealed: Sealed): void;
  /** Returns and removes the messages about a request. */
  take(requestId: Hex): readonly Sealed[];
}

/** Maximum per kind and sender: an honest node sends one, and a second one shows that its sender is not honest. */
const MAX_OF_SENDER = 2;

/**
 * Creates an empty store of early messages. It keeps up to two commitments and two reveals per request and node, and evicts the oldest
 * requests first.
 */
export function createEarlyMessages(): EarlyMessages {
  const requests = new Map<Hex, Sealed[]>();
  let count = 0;
  const forget = (requestId: Hex): readonly Sealed[] => {
    const found = requests.get(requestId) ?? [];
    requests.delete(requestId);
    count -= found.length;
    return found;
  };
  return {
    take: forget,
    add(requestId, sealed) {
      const { kind, sender } = sealed.message;
      if (kind !== "commit" && kind !== "reveal") return;
      const known = requests.get(requestId) ?? [];
      const ofSender = known.filter(({ message }) => message.kind === kind && message.sender === sender);
      const isKnown = ofSender.some(({ bytes }) => Buffer.compare(bytes, sealed.bytes) === 0);
      if (isKnown || ofSender.length === MAX_OF_SENDER) return;
      requests.set(requestId, known);
      known.push(sealed);
      count += 1;
      while (count > MAX_MESSAGES) forget(requests.keys().next().value!);
    },
  };
}
