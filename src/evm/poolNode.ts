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

/** Opens one node of a pool. */
export function openPoolNode(options: PoolNodeOptions): PoolNode {
  const { node, rpcUrl, chainId, timeoutMs, isOnly } = options;
  let transport = openTransport(rpcUrl, timeoutMs);
  const hideUrl = createUrlHider(rpcUrl, { hidesHost: true });
  let checking: Promise<void> | undefined;
  let answeredChainId: number | undefined;
  let isChecked = false;
  let isLagging = false;
  let isLimited = false;
  let failures = 0;
  let failingUntil = 0;
  let why: string | undefined;
  let headNumber: bigint | undefined;

  /** Replaced connections, kept until nothing can be in flight on them. */
  const retired = new Map<Transport, NodeJS.Timeout>();
  const retire = (old: Transport): void => {
    clearTimeout(retired.get(old));
    retired.delete(old);
    old.close();
  };

  const pauseMs = (): number => Math.max(0, failingUntil - performance.now());
  const stateOf = (): NodeStatus["state"] => {
    if (answeredChainId !== undefined && answeredChainId !== chainId) return "excluded";
    if (failures > 0) return "failing";
    if (!isChecked) return "unchecked";
    return isLagging ? "lagging" : "healthy";
  };
  const status = (): NodeStatus => ({
    node,
    state: stateOf(),
    ...(why === undefined ? {} : { why }),
    ...(answeredChainId === undefined ? {} : { chainId: answeredChainId }),
    ...(headNumber === undefined ? {} : { headNumber }),
  });

  const leaveAlone = (reason: string, ms: number): void => {
    why = reason;
    isChecked = false;
    failingUntil = Math.max(failingUntil, performance.now() + ms);
  };
  const fail = (reason: string, retryAfterMs = 0): void => {
    // Requests that were in flight when the node failed, and fail too, don't count as further failures.
    const isNew = pauseMs() === 0;
    const backOffMs = isOnly
      ? Math.min(ONLY_BACK_OFF_MS * (failures + 1), LONGEST_ONLY_BACK_OFF_MS)
      : Math.min(FIRST_BACK_OFF_MS * 2 ** failures, LONGEST_BACK_OFF_MS);
    if (isNew) failures += 1;
    isLimited = retryAfterMs > 0 || /429|limit|too many/i.test(reason);
    leaveAlone(reason, Math.max(isNew ? backOffMs : 0, Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)));
  };

  const request = async (method: string, parameters: readonly unknown[]): Promise<unknown> => {
    try {
      const answer = await transport.request(method, parameters);
      if (failures > 0 && isChecked) {
        [failures, failingUntil, why] = [0, 0, undefined];
      }
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
      if (pauseMs() === 0) fail(reason);
      // Without the cause, by which a refusal would count as the answer to the caller's own request.
      throw new RpcError("the node's chain is unknown", reason);
    }
  };

  const checkChain = async (): Promise<void> => {
    answeredChainId = await readChainId();
    if (answeredChainId !== chainId) {
      leaveAlone(`its chain id is ${answeredChainId}, but ${chainId} is expected`, EXCLUDED_MS);
      throw new WrongChainError(why!);
    }
    isChecked = true;
  };

  return {
    node,
    canPush: transport.subscribe !== undefined,
    status,
    async ask(method, parameters) {
      if (!isChecked) await confirmChain();
      return await request(method, parameters);
    },
    confirmChain,
    pauseMs,
    get isLimited() {
      return isLimited;
    },
    fail,
    noteHead: (number) => void (headNumber = number),
    setLagging(value) {
      isLagging = value;
      if (failures === 0) why = value ? "it is behind the others" : undefined;
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
