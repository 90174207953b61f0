import { performance } from "node:perf_hooks";

/** What a JSON-RPC method is to a chain whose state is about to be exchanged. */
export type RequestClass = "send" | "mine" | "read";

/** Holds requests back while a chain's state is exchanged or its process is started again. */
export interface Gate {
  /** Waits until requests of the class may go, and counts one; call what it gives back when the request has ended. */
  enter(requestClass: RequestClass): Promise<() => void>;
  /** Holds back requests of these classes until what it gives back is called; several may hold at once. */
  hold(classes: readonly RequestClass[]): () => void;
  /** Resolves when no request of these classes is under way. */
  drained(classes: readonly RequestClass[]): Promise<void>;
  /** How many requests of the class have been let in so far. */
  entered(requestClass: RequestClass): number;
  /** When the last request of the class ended, by `performance.now()`; 0 before the first. */
  leftAt(requestClass: RequestClass): number;
}

/** Returns the class of a method: `send` ends with the transaction mined, `mine` makes blocks itself, or says when they are made. */
export function classOf(method: string): RequestClass {
  if (method.startsWith("eth_send")) return "send";
  return /^(?:anvil|evm|hardhat)_(?:mine|setAutomine|setIntervalMining)/i.test(method) ? "mine" : "read";
}

/** Makes an open gate. */
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
