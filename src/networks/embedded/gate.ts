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

/**
 * Methods that replace the chain with another one, which would lose the oracle's contracts and every dapp's subscriptions, or that make the node
 * query a server of the caller's choice. Matched by the last part of the name, because Anvil has most of them under several prefixes.
 */
const CHAIN_REPLACING = /_(?:reset|loadState|setRpcUrl|setChainId)$/i;
/** Dumps the whole state: many megabytes that only the chain's own storage needs, and mining pauses meanwhile. */
const STATE_DUMPING = /_dumpState$/i;
/** Changes the state without a block, which the log can't record. */
const STATE_CHANGING =
  /^(?:anvil|hardhat|evm|tenderly)_(?!mine|get|node|metadata|dump|snapshot|increaseTime|set(?:Time|NextBlock|BlockTime|Automine|Interval))/;

/**
 * Methods that remove blocks, and those that mark a point to return to. Anvil 1.7.1 notes the newest block first and copies the state only once
 * it is free, so a snapshot taken while blocks are mined has the state of a later block, in which requests of the block it names are already
 * answered.
 */
const SETTING_BACK = /^(?:(?:evm|anvil)_revert|(?:evm|anvil)_snapshot|anvil_(?:reorg|rollback))$/;

/** Whether a method removes blocks or marks a point to return to: nothing may be mined meanwhile. */
export function setsBack(method: string): boolean {
  return SETTING_BACK.test(method);
}

/** Whether a method may change the state without a block: the state must be stored again afterwards. */
export function changesState(method: string): boolean {
  return STATE_CHANGING.test(method);
}

/** Says why a method is refused on an embedded chain, over HTTP and WebSockets alike; `undefined` for methods that are allowed. */
export function refusalOf(method: string): string | undefined {
  if (CHAIN_REPLACING.test(method))
    return `${method} is refused here: it would remove the oracle's contracts and subscriptions. To start a new chain, stop the service, remove this network's folder under "chains" in its data directory, and start it; to undo your own changes, use evm_snapshot and evm_revert`;
  if (STATE_DUMPING.test(method))
    return `${method} is refused here: the chain's state is stored in the service's data directory; copy that while the service is stopped`;
  return undefined;
}
