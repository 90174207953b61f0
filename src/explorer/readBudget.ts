import { AsyncLocalStorage } from "node:async_hooks";
import { countWithin, createCallCounter } from "../lib/rateLimit.ts";
import type { ExploredNode } from "./sparedNode.ts";

/** Pages that are read for one caller at once from a chain; its others wait. Whoever asks for hundreds slows down itself alone. */
const READS_AT_ONCE = 4;
/** Calls to one of the service's own nodes in flight for one caller: everybody else's wait behind these few. */
const CALLS_AT_ONCE = 4;
/**
 * Calls to the service's own nodes for one caller in a window. A page takes 2 to 100 of them, of a fraction of a millisecond to some
 * milliseconds each; a tab that follows a request, 30 a second.
 */
const CALLS = 12_000;
const WINDOW_SECONDS = 60;

/** The caller whose page is being read, and what counts a call to a node against its budget. */
const current = new AsyncLocalStorage<{ readonly caller: string; readonly spend: () => Promise<void> }>();

/** Bounds what each caller's reading of the explorer costs: its pages need no key. */
export interface ReadBudget {
  /**
   * Reads a page for a caller, once few enough of its other pages of the same `place` are being read: pages of a chain whose node hangs
   * keep no others from being read.
   *
   * @param by `caller`: its address, or the group of addresses that limits treat as one. `place`: the network, or what else is read.
   * @throws {RateLimitedError} when the page takes more calls to a metered node than the caller has left.
   */
  read<T>(by: { readonly caller: string; readonly place: string }, read: () => Promise<T>): Promise<T>;
}

/** Creates the budgets of all callers. */
export function createReadBudget({ calls = CALLS }: { readonly calls?: number } = {}): ReadBudget {
  const counter = createCallCounter();
  const pages = createGate(READS_AT_ONCE);
  const spend = (caller: string): Promise<void> =>
    countWithin(
      counter,
      { policy: "explorer", who: caller, quota: calls, windowSeconds: WINDOW_SECONDS },
      `The explorer's pages for this address took more than ${calls} calls to the chains' nodes in ${WINDOW_SECONDS} seconds`,
    );
  return {
    read: ({ caller, place }, read) =>
      pages(`${caller} ${place}`, () => current.run({ caller, spend: () => spend(caller) }, read)),
  };
}

/** Creates a function that runs at most so many pieces of work of one caller at once; the others wait in their order. */
function createGate(atOnce: number): <T>(caller: string, work: () => Promise<T>) => Promise<T> {
  const callers = new Map<string, { running: number; readonly waiting: (() => void)[] }>();
  return async (caller, work) => {
    const place = callers.get(caller) ?? { running: 0, waiting: [] };
    callers.set(caller, place);
    // Whoever ends hands its place on.
    if (place.running === atOnce) await new Promise<void>((resolve) => place.waiting.push(resolve));
    else place.running += 1;
    try {
      return await work();
    } finally {
      const next = place.waiting.shift();
      if (next !== undefined) next();
      else if ((place.running -= 1) === 0) callers.delete(caller);
    }
  };
}

/** Meters a node: each call counts against the budget of the caller whose page is being read, if any, and waits for its turn. */
export function meterNode(node: ExploredNode): ExploredNode {
  const inTurn = createGate(CALLS_AT_ONCE);
  const metered = async <T>(call: () => Promise<T>): Promise<T> => {
    const reader = current.getStore();
    if (reader === undefined) return await call();
    await reader.spend();
    return await inTurn(reader.caller, call);
  };
  return {
    request: (method, parameters) => metered(() => node.request(method, parameters)),
    getBalanceWei: (account) => metered(() => node.getBalanceWei(account)),
    getNonce: (account, block) => metered(() => node.getNonce(account, block)),
    getCode: (address) => metered(() => node.getCode(address)),
  };
}
