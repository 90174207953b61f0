import { performance } from "node:perf_hooks";

/** The class of a JSON-RPC method with regard to a chain whose state is about to be swapped. */
export type RequestClass = "send" | "mine" | "read";

/** Holds requests back while a chain's state is swapped or its process restarts. */
export interface Gate {
  /** Waits until requests of the class may proceed, and counts one; call the returned function when the request has ended. */
  enter(requestClass: RequestClass): Promise<() => void>;
  /** Holds back requests of these classes until the returned function is called; several holds may overlap. */
  hold(classes: readonly RequestClass[]): () => void;
  /** Resolves when no request of these classes is in flight. */
  drained(classes: readonly RequestClass[]): Promise<void>;
  /** Returns how many requests of the class have been let in so far. */
  entered(requestClass: RequestClass): number;
  /** Returns when the last request of the class ended, by `performance.now()`; 0 before the first. */
  leftAt(requestClass: RequestClass): number;
}

/**
 * Returns the class of a method: `send` ends with the transaction mined; `mine` makes blocks itself or controls when they are made;
 * everything else is `read`.
 */
export function classOf(method: string): RequestClass {
  if (method.startsWith("eth_send")) return "send";
  return /^(?:anvil|evm|hardhat)_(?:mine|setAutomine|setIntervalMining)/i.test(method) ? "mine" : "read";
}

/** Creates an open gate. */
export function createGate(): Gate {
  const underWay: Record<RequestClass, number> = { send: 0, mine: 0, read: 0 };
  const entered: Record<RequestClass, number> = { send: 0, mine: 0, read: 0 };
  const leftAt: Record<RequestClass, number> = { send: 0, mine: 0, read: 0 };
  const holds = new Set<readonly RequestClass[]>();
  let wakeHeld: (() => void)[] = [];
  let wakeDraining: (() => void)[] = [];
  const isHeld = (one: RequestClass): boolean => {
    for (const classes of holds) if (classes.includes(one)) return true;
    return false;
  };

  return {
    async enter(requestClass) {
      while (isHeld(requestClass)) await new Promise<void>((resolve) => wakeHeld.push(resolve));
      underWay[requestClass] += 1;
      entered[requestClass] += 1;
      return () => {
        underWay[requestClass] -= 1;
        leftAt[requestClass] = performance.now();
        for (const wake of wakeDraining.splice(0)) wake();
      };
    },
    entered: (requestClass) => entered[requestClass],
    leftAt: (requestClass) => leftAt[requestClass],
    hold(classes) {
      const hold = [...classes];
      holds.add(hold);
      return () => {
        holds.delete(hold);
        for (const wake of wakeHeld.splice(0)) wake();
      };
    },
    async drained(classes) {
      while (classes.some((one) => underWay[one] > 0))
        await new Promise<void>((resolve) => wakeDraining.push(resolve));
    },
  };
}
