import { RpcError, parseObject, parseQuantity } from "../lib/nodeAnswers.ts";
import type { Transport } from "./connection.ts";
import { createUrlHider } from "./hideUrl.ts";
import { retryAfterOf, troubleOf } from "./nodeTrouble.ts";
import { asRpcError, openTransport } from "./transport.ts";

/** First pause before a failing node is asked again; twice as long with each failure in a row. */
const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 30_000;
/** A node of another chain is looked at again so often: what stands behind a URL may be put right. */
const EXCLUDED_MS = 60_000;
/** No `Retry-After` keeps a node away for longer. */
const LONGEST_RETRY_AFTER_MS = 120_000;

/** How one node of a network stands. Its URL, which may hold a key, is never part of it. */
export interface NodeStatus {
  /** Its place in the configured list, from 1. */
  readonly node: number;
  /** `unchecked`: not asked for its chain yet. `lagging`: behind the others. `failing`: left alone for a while. `excluded`: of another chain. */
  readonly state: "unchecked" | "healthy" | "lagging" | "failing" | "excluded";
  /** What is wrong; absent while nothing is. */
  readonly why?: string;
  /** Its chain id, once it has said one. */
  readonly chainId?: number;
  /** Newest block that it is believed to have. */
  readonly headNumber?: bigint;
  /** Whether it pushes heads now. */
  readonly pushesHeads: boolean;
}

/** One node of a pool: asked only while it is of the right chain, and left alone for a while after it failed. */
export interface PoolNode {
  readonly node: number;
  readonly canPush: boolean;
  status(): NodeStatus;
  /** Throws an {@link RpcError} without the URL; whose fault it is, {@link troubleOf} says of its cause. */
  ask(method: string, parameters: readonly unknown[]): Promise<unknown>;
  /** Milliseconds until it may be asked again; 0 while it is not failing. */
  pauseMs(): number;
  /** Whether it has asked to be left alone, by a rate limit. */
  readonly isLimited: boolean;
  /** Counts a failure that it did not report itself. */
  fail(why: string): void;
  noteHead(number: bigint | undefined): void;
  setLagging(isLagging: boolean): void;
  /** Has heads pushed; calls back until the stop that it gives. Rejects where the node refuses. */
  subscribe(onHead: (head: unknown) => void): Promise<() => void>;
  /** Takes a new connection; what is under way on the present one may end there. */
  reconnect(): void;
  close(): void;
}

/** Options of {@link openPoolNode}. */
export interface PoolNodeOptions {
  readonly node: number;
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly timeoutMs: number;
  readonly onChange: (status: NodeStatus) => void;
}

/** Opens one node of a pool. */
export function openPoolNode({ node, rpcUrl, chainId, timeoutMs, onChange }: PoolNodeOptions): PoolNode {
  let transport = openTransport(rpcUrl, timeoutMs);
  const hideUrl = createUrlHider(rpcUrl, { hidesHost: true });
  let checking: Promise<void> | undefined;
  let answeredChainId: number | undefined;
  let isChecked = false;
  let isLagging = false;
  let isPushing = false;
  let isLimited = false;
  let failures = 0;
  let failingUntil = 0;
  let why: string | undefined;
  let headNumber: bigint | undefined;
  let told = "unchecked";

  /** Connections that were replaced, until nothing can be under way on them. */
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
    pushesHeads: isPushing,
  });
  const tell = (): void => {
    const state = stateOf();
    if (state === told) return;
    told = state;
    onChange(status());
  };

  const leaveAlone = (reason: string, ms: number): void => {
    why = reason;
    isChecked = false;
    failingUntil = Math.max(failingUntil, performance.now() + ms);
    tell();
  };
  const fail = (reason: string, retryAfterMs = 0): void => {
    // What was under way when it failed, and fails too, is no failure of its own.
    const isNew = pauseMs() === 0;
    const backOffMs = isNew ? Math.min(FIRST_BACK_OFF_MS * 2 ** failures, LONGEST_BACK_OFF_MS) : 0;
    if (isNew) failures += 1;
    isLimited = retryAfterMs > 0 || /429|limit|too many/i.test(reason);
    leaveAlone(reason, Math.max(backOffMs, Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)));
  };

  const request = async (method: string, parameters: readonly unknown[]): Promise<unknown> => {
    try {
      const answer = await transport.request(method, parameters);
      if (failures > 0 && isChecked) {
        [failures, failingUntil, why] = [0, 0, undefined];
        tell();
      }
      return answer;
    } catch (error) {
      const shown = asRpcError(method, error, hideUrl);
      if (troubleOf(error) === "failing") fail(shown.message, retryAfterOf(error));
      throw shown;
    }
  };

  const checkChain = async (): Promise<void> => {
    const answer = Number(parseQuantity(await request("eth_chainId", []), "chain id"));
    answeredChainId = answer;
    if (answer !== chainId) {
      leaveAlone(`its chain id is ${answer}, and ${chainId} is expected`, EXCLUDED_MS);
      throw new WrongChainError(why!);
    }
    isChecked = true;
  };

  return {
    node,
    canPush: transport.subscribe !== undefined,
    status,
    async ask(method, parameters) {
      if (!isChecked) {
        checking ??= checkChain().finally(() => {
          checking = undefined;
        });
        await checking;
        tell();
      }
      return await request(method, parameters);
    },
    pauseMs,
    get isLimited() {
      return isLimited;
    },
    fail,
    noteHead: (number) => void (headNumber = number),
    setLagging(value) {
      isLagging = value;
      if (failures === 0) why = value ? "it is behind the others" : undefined;
      tell();
    },
    async subscribe(onHead) {
      const stop = await transport.subscribe?.(["newHeads"], onHead).catch((error: unknown) => {
        throw asRpcError("eth_subscribe", error, hideUrl);
      });
      isPushing = stop !== undefined;
      return () => {
        isPushing = false;
        stop?.();
      };
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

/** A node's answer to `eth_getBlockByNumber`, or a pushed head, as far as the pool looks at it. */
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

/** A URL leads to a node of another chain. */
export class WrongChainError extends RpcError {
  constructor(reason: string) {
    super("eth_chainId", reason);
  }
}
