import { messageOf } from "../lib/errors.ts";
import { RpcError, parseObject, parseQuantity } from "../lib/nodeAnswers.ts";
import type { Transport } from "./connection.ts";
import { createUrlHider } from "./hideUrl.ts";
import { retryAfterOf, troubleOf } from "./nodeTrouble.ts";
import { asRpcError, openTransport } from "./transport.ts";

/** First back-off of a failing node; doubled with each consecutive failure. */
const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 30_000;
/** Back-offs of a pool's only node: grow by the first with each failure, up to the longest; short, as there is no other node to ask. */
const ONLY_BACK_OFF_MS = 100;
const LONGEST_ONLY_BACK_OFF_MS = 1_000;
/** Interval at which a node of another chain is checked again: the node behind a URL may be corrected. */
const EXCLUDED_MS = 60_000;
/** Upper limit for `Retry-After`. */
const LONGEST_RETRY_AFTER_MS = 120_000;

/** The state of one of a network's nodes. It never contains the URL, which may include a key. */
export interface NodeStatus {
  /** Position in the configured list, from 1. */
  readonly node: number;
  /** `unchecked`: not asked for its chain yet. `lagging`: behind the others. `failing`: backing off. `excluded`: on another chain. */
  readonly state: "unchecked" | "healthy" | "lagging" | "failing" | "excluded";
  /** What is wrong; absent while nothing is. */
  readonly why?: string;
  /** Its chain id, once it has reported one. */
  readonly chainId?: number;
  /** Newest block that it is believed to have. */
  readonly headNumber?: bigint;
}

/** One node of a pool: asked only while it is on the right chain, and left alone for a while after a failure. */
export interface PoolNode {
  readonly node: number;
  readonly canPush: boolean;
  status(): NodeStatus;
  /** Sends a request. Throws an {@link RpcError} without the URL; {@link troubleOf} says whose fault its cause is. */
  ask(method: string, parameters: readonly unknown[]): Promise<unknown>;
  /** Asks the node for its chain again: what answers at a URL may change. Throws a {@link WrongChainError} and excludes the node. */
  confirmChain(): Promise<void>;
  /** Returns the milliseconds until it may be asked again; 0 while it is not failing. */
  pauseMs(): number;
  /** Whether it has asked to be left alone, by a rate limit. */
  readonly isLimited: boolean;
  /** Counts a failure that the node did not report itself. */
  fail(why: string): void;
  noteHead(number: bigint | undefined): void;
  setLagging(isLagging: boolean): void;
  /** Subscribes to heads; calls back until the returned function is called. Rejects when the node refuses. */
  subscribe(onHead: (head: unknown) => void): Promise<() => void>;
  /** Opens a new connection; requests in flight on the current one may still finish there. */
  reconnect(): void;
  close(): void;
}

export interface PoolNodeOptions {
  readonly node: number;
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly timeoutMs: number;
  /** Whether the pool has no other node. */
  readonly isOnly: boolean;
}

/** What is known of a node. */
interface Health {
  /** Failures in a row. */
  failures: number;
  /** Until when it is left alone, by `performance.now()`. */
  pausedUntil: number;
  isLimited: boolean;
  /** Whether its chain has been confirmed since it was last left alone. */
  isChecked: boolean;
  isLagging: boolean;
  why: string | undefined;
  chainId: number | undefined;
  headNumber: bigint | undefined;
}

const pauseOf = ({ pausedUntil }: Health): number => Math.max(0, pausedUntil - performance.now());

function stateOf(health: Health, wantedChainId: number): NodeStatus["state"] {
  if (health.chainId !== undefined && health.chainId !== wantedChainId) return "excluded";
  if (health.failures > 0) return "failing";
  if (!health.isChecked) return "unchecked";
  return health.isLagging ? "lagging" : "healthy";
}

function leaveAlone(health: Health, why: string, ms: number): void {
  health.why = why;
  health.isChecked = false;
  health.pausedUntil = Math.max(health.pausedUntil, performance.now() + ms);
}

function countFailure(
  health: Health,
  why: string,
  { retryAfterMs, isOnly }: { readonly retryAfterMs: number; readonly isOnly: boolean },
): void {
  // Requests that were in flight when the node failed, and fail too, don't count as further failures.
  const isNew = pauseOf(health) === 0;
  const backOffMs = isOnly
    ? Math.min(ONLY_BACK_OFF_MS * (health.failures + 1), LONGEST_ONLY_BACK_OFF_MS)
    : Math.min(FIRST_BACK_OFF_MS * 2 ** health.failures, LONGEST_BACK_OFF_MS);
  if (isNew) health.failures += 1;
  health.isLimited = retryAfterMs > 0 || /429|limit|too many/i.test(why);
  leaveAlone(health, why, Math.max(isNew ? backOffMs : 0, Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)));
}

function countAnswer(health: Health): void {
  if (health.failures === 0 || !health.isChecked) return;
  health.failures = 0;
  health.pausedUntil = 0;
  health.why = undefined;
}

/** Opens one node of a pool. */
export function openPoolNode(options: PoolNodeOptions): PoolNode {
  const { node, rpcUrl, chainId, timeoutMs, isOnly } = options;
  let transport = openTransport(rpcUrl, timeoutMs);
  let checking: Promise<void> | undefined;
  const hideUrl = createUrlHider(rpcUrl, { hidesHost: true });
  const health: Health = {
    failures: 0,
    pausedUntil: 0,
    isLimited: false,
    isChecked: false,
    isLagging: false,
    why: undefined,
    chainId: undefined,
    headNumber: undefined,
  };

  /** Replaced connections, kept until nothing can be in flight on them. */
  const retired = new Map<Transport, NodeJS.Timeout>();
  const retire = (old: Transport): void => {
    clearTimeout(retired.get(old));
    retired.delete(old);
    old.close();
  };

  const fail = (why: string, retryAfterMs = 0): void => countFailure(health, why, { retryAfterMs, isOnly });

  const request = async (method: string, parameters: readonly unknown[]): Promise<unknown> => {
    try {
      const answer = await transport.request(method, parameters);
      countAnswer(health);
      return answer;
    } catch (error) {
      const shown = asRpcError(method, error, hideUrl);
      if (troubleOf(method, error) === "failing") fail(shown.message, retryAfterOf(error));
      throw shown;
    }
  };

  const confirmChain = async (): Promise<void> => {
    checking ??= checkChain().finally(() => {
      checking = undefined;
    });
    await checking;
  };

  const readChainId = async (): Promise<number> => {
    try {
      return Number(parseQuantity(await request("eth_chainId", []), "chain id"));
    } catch (error) {
      const reason = messageOf(error);
      // Unless `request` has counted it already.
      if (pauseOf(health) === 0) fail(reason);
      // Without the cause, by which a refusal would count as the answer to the caller's own request.
      throw new RpcError("the node's chain is unknown", reason);
    }
  };

  const checkChain = async (): Promise<void> => {
    health.chainId = await readChainId();
    if (health.chainId !== chainId) {
      const why = `its chain id is ${health.chainId}, but ${chainId} is expected`;
      leaveAlone(health, why, EXCLUDED_MS);
      throw new WrongChainError(why);
    }
    health.isChecked = true;
  };

  return {
    node,
    canPush: transport.subscribe !== undefined,
    status: () => ({
      node,
      state: stateOf(health, chainId),
      ...(health.why === undefined ? {} : { why: health.why }),
      ...(health.chainId === undefined ? {} : { chainId: health.chainId }),
      ...(health.headNumber === undefined ? {} : { headNumber: health.headNumber }),
    }),
    async ask(method, parameters) {
      if (!health.isChecked) await confirmChain();
      return await request(method, parameters);
    },
    confirmChain,
    pauseMs: () => pauseOf(health),
    get isLimited() {
      return health.isLimited;
    },
    fail,
    noteHead: (number) => void (health.headNumber = number),
    setLagging(isLagging) {
      health.isLagging = isLagging;
      if (health.failures === 0) health.why = isLagging ? "it is behind the others" : undefined;
    },
    async subscribe(onHead) {
      const stop = await transport.subscribe?.(["newHeads"], onHead).catch((error: unknown) => {
        throw asRpcError("eth_subscribe", error, hideUrl);
      });
      return () => stop?.();
    },
    reconnect() {
      const old = transport;
      transport = openTransport(rpcUrl, timeoutMs);
      retired.set(
        old,
        setTimeout(() => retire(old), timeoutMs),
      );
    },
    close() {
      for (const old of retired.keys()) retire(old);
      transport.close();
    },
  };
}

/** Reads the part of a node's answer to `eth_getBlockByNumber`, or of a pushed head, that the pool needs. */
export function readHead(
  answer: unknown,
): { readonly number: bigint; readonly parentHash: unknown } | undefined {
  try {
    const block = parseObject(answer, "block");
    return { number: parseQuantity(block["number"], "number"), parentHash: block["parentHash"] };
  } catch {
    return undefined;
  }
}

/** A URL leads to a node on another chain. */
export class WrongChainError extends RpcError {
  constructor(reason: string) {
    super("eth_chainId", reason);
  }
}
