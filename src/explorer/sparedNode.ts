import type { ChainClient } from "../evm/client.ts";
import { TycheError } from "../lib/errors.ts";

/** What the explorer asks of a node. */
export type ExploredNode = Pick<ChainClient, "request" | "getBalanceWei" | "getNonce" | "getCode">;

/** How long an answer is given to everybody who asks the same: a page that is live asks every second. */
const FRESH_MS = 3_000;
/** Answers that are kept. A block with its transactions may have half a megabyte. */
const KEPT_ANSWERS = 100;
/** Calls that may come at once: ten pages of an address, with up to 100 blocks each. */
const BURST = 1_000;
/** Calls in a second beyond that: what free plans of providers take, with room for the dispatcher and the oracle. */
const CALLS_PER_SECOND = 10;
/** What there must be again before a caller that was refused comes back: one such page. */
const NEXT_CALLS = 100;

/**
 * Limits what the explorer asks of a node that somebody pays for. Its pages take no key, and one may take a hundred calls: without this,
 * strangers use up the node's quota, and the service can't send and answer requests any more.
 *
 * @param options.now milliseconds. Default `performance.now`.
 * @returns a node whose calls reject with {@link NodeSparedError} once too many were made.
 */
export function spareNode(
  node: ExploredNode,
  { now = () => performance.now() }: { readonly now?: () => number } = {},
): ExploredNode {
  const kept = new Map<string, { readonly answer: Promise<unknown>; readonly until: number }>();
  let calls = BURST;
  let countedAt = now();
  const take = (): void => {
    const at = now();
    calls = Math.min(BURST, calls + ((at - countedAt) / 1_000) * CALLS_PER_SECOND);
    countedAt = at;
    if (calls < 1) throw new NodeSparedError(((NEXT_CALLS - calls) / CALLS_PER_SECOND) * 1_000);
    calls -= 1;
  };
  const ask = async <T>(question: readonly unknown[], read: () => Promise<T>): Promise<T> => {
    const key = JSON.stringify(question);
    const known = kept.get(key);
    if (known !== undefined && now() < known.until) return (await known.answer) as T;
    take();
    const one = { answer: read(), until: now() + FRESH_MS };
    kept.delete(key);
    kept.set(key, one);
    if (kept.size > KEPT_ANSWERS) kept.delete(kept.keys().next().value!);
    try {
      return await one.answer;
    } catch (error) {
      if (kept.get(key) === one) kept.delete(key);
      throw error;
    }
  };
  return {
    request: (method, parameters) => ask([method, parameters], () => node.request(method, parameters)),
    getBalanceWei: (account) => ask(["balance", account], () => node.getBalanceWei(account)),
    getNonce: (account, block) => ask(["nonce", account, block], () => node.getNonce(account, block)),
    getCode: (address) => ask(["code", address], () => node.getCode(address)),
  };
}

/** The explorer has asked a node too often. `details.retryAfterMs` says when to come again. */
export class NodeSparedError extends TycheError {
  constructor(retryAfterMs: number) {
    super("The explorer has asked this network's node too often: try again later", {
      code: "overloaded",
      blame: "us",
      expose: true,
      retryable: true,
      details: { retryAfterMs },
    });
  }
}
