import type { ChainClient } from "../evm/client.ts";
import { TycheError } from "../lib/errors.ts";
import { createTokenBuckets } from "../lib/tokenBucket.ts";

/** The node methods that the explorer uses. */
export type ExploredNode = Pick<ChainClient, "request" | "getBalanceWei" | "getNonce" | "getCode">;

/** How long an answer is shared with everyone who asks the same: a live page asks every second. */
const FRESH_MS = 3_000;
/** Number of answers to cache. A block with its transactions may take half a megabyte. */
const KEPT_ANSWERS = 100;
/** Burst of calls allowed: eight pages of an address, with up to 100 blocks and 25 contracts that it created each. */
const BURST = 1_000;
/** Sustained calls per second: within the free plans of providers, with room for the dispatcher and the oracle. */
const CALLS_PER_SECOND = 10;
/** When a refused caller may return, in milliseconds: once there are calls again for one such page. */
const RETRY_AFTER_MS = 10_000;

/** Who the calls are counted for. */
const EVERYBODY = "everybody";

/**
 * Limits the explorer's calls to a node that someone pays for. Its pages need no key, and one may take a hundred calls: without a limit,
 * strangers could use up the node's quota, and the service could no longer send and answer requests.
 *
 * @returns a node whose calls reject with {@link NodeSparedError} after too many calls.
 */
export function spareNode(node: ExploredNode): ExploredNode {
  const kept = new Map<string, { readonly answer: Promise<unknown>; readonly until: number }>();
  const calls = createTokenBuckets({ burst: BURST, perSecond: CALLS_PER_SECOND });
  const ask = async <T>(question: readonly unknown[], read: () => Promise<T>): Promise<T> => {
    const key = JSON.stringify(question);
    const known = kept.get(key);
    if (known !== undefined && performance.now() < known.until) return (await known.answer) as T;
    if (!calls.take(EVERYBODY)) throw new NodeSparedError();
    const one = { answer: read(), until: performance.now() + FRESH_MS };
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

/** The explorer has called a node too often. `details.retryAfterMs` says when to retry. */
export class NodeSparedError extends TycheError {
  constructor() {
    super("The explorer has made too many calls to this network's node: try again later", {
      code: "overloaded",
      blame: "us",
      expose: true,
      retryable: true,
      details: { retryAfterMs: RETRY_AFTER_MS },
    });
  }
}
