import type { Hex } from "viem";
import type { Sealed } from "../protocol/message.ts";

/** Messages that are kept; short ones, and all are said again. */
const MAX_MESSAGES = 4_096;

/** Messages about requests that this node has not seen on chain yet. */
export interface EarlyMessages {
  add(requestId: Hex, sealed: Sealed): void;
  /** Returns what came for a request, and forgets it. */
  take(requestId: Hex): readonly Sealed[];
}

/** Of one kind and sender: an honest node has one, and a second one shows that its sender isn't. */
const MAX_OF_SENDER = 2;

/** Creates an empty store of early messages: of each node two commitments and two reveals for a request; the oldest requests go first. */
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
