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

/** Creates an empty store of early messages: of each node one commitment and one reveal for a request; the oldest requests go first. */
export function createEarlyMessages(): EarlyMessages {
  const requests = new Map<Hex, Map<string, Sealed>>();
  let count = 0;
  const forget = (requestId: Hex): readonly Sealed[] => {
    const found = requests.get(requestId);
    requests.delete(requestId);
    count -= found?.size ?? 0;
    return found === undefined ? [] : [...found.values()];
  };
  return {
    take: forget,
    add(requestId, sealed) {
      const { kind, sender } = sealed.message;
      if (kind !== "commit" && kind !== "reveal") return;
      const key = `${kind} ${sender}`;
      const known = requests.get(requestId) ?? new Map<string, Sealed>();
      requests.set(requestId, known);
      if (known.has(key)) return;
      known.set(key, sealed);
      count += 1;
      while (count > MAX_MESSAGES) forget(requests.keys().next().value!);
    },
  };
}
