import { every, type Call, type Fault, type FaultRule, type FaultyNode } from "../../support/faultyNode.ts";

/** A fault in effect. */
export interface RunningFault {
  /** Returns how often it has struck. */
  count(): number;
  end(): void;
}

/** Faults of a chain's nodes. */
export const NODE_FAULTS: Readonly<Record<string, (nodes: FaultyPair) => RunningFault>> = {
  "rate limits of both nodes": ({ first, second }) => inject([first, second], everyNth(8, { status: 429 })),
  "gateways' pages instead of answers": ({ first, second }) =>
    inject([first, second], everyNth(9, { status: 502, page: "<html><h1>Bad gateway</h1></html>" })),
  "connections that are cut after the node has acted": ({ first, second }) =>
    inject([first, second], everyNth(7, { breakLine: true })),
  "a node that has stopped at a block": ({ first }) => {
    first.loseSubscriptions();
    return inject([first], stoppedAtHead());
  },
  "a node that tells of a head that isn't there": ({ first }) =>
    inject(
      [first],
      every("eth_getBlockByNumber", {
        result: (block) => block !== null && { ...(block as object), number: "0xfffff", hash: NO_HASH },
      }),
    ),
  "a WebSocket that drops every second": ({ first }) => {
    let count = 0;
    const drop = (): void => {
      first.breakLines();
      count += 1;
    };
    drop();
    const timer = setInterval(drop, 1_000);
    return { count: () => count, end: () => clearInterval(timer) };
  },
  "a first node that is gone": ({ first }) => {
    first.breakLines();
    return inject([first], () => ({ breakLine: true, reach: false }));
  },
};

/** A chain's two nodes, in the order of the configuration. */
export interface FaultyPair {
  readonly first: FaultyNode;
  readonly second: FaultyNode;
}

/** Longer than the pool waits before it also asks another node. */
const SLOW_MS = 2_500;
const NO_HASH = `0x${"9".repeat(64)}`;

function inject(nodes: readonly FaultyNode[], rule: FaultRule): RunningFault {
  let count = 0;
  const counted: FaultRule = (call) => {
    const fault = rule(call);
    if (fault !== undefined) count += 1;
    return fault;
  };
  const ends = nodes.map((node) => node.inject(counted));
  return { count: () => count, end: () => ends.forEach((end) => end()) };
}

function everyNth(n: number, fault: Fault): FaultRule {
  let count = 0;
  return () => (++count % n === 0 ? fault : undefined);
}

/**
 * Simulates a node that is stuck at the first head it is asked for, and gives no sign of it. Every other time it reports its head slowly,
 * so that another node's head is known while this one still counts as healthy.
 */
function stoppedAtHead(): FaultRule {
  let head: { readonly number: string } | undefined;
  let looks = 0;
  const isBeyond = (number: unknown): boolean =>
    head !== undefined && typeof number === "string" && BigInt(number) > BigInt(head.number);
  return ({ method, params }: Call) => {
    switch (method) {
      case "eth_blockNumber":
        return { result: (number) => head?.number ?? number };
      case "eth_call":
        if (isBeyond(params[1])) return { error: { code: -32_000, message: "header not found" } };
        return { params: [params[0], head?.number ?? params[1]] };
      case "eth_getBlockByNumber":
      case "eth_getBlockByHash":
        if (params[0] === "latest") {
          looks += 1;
          return {
            result: (block) => (head ??= block as typeof head),
            ...(looks % 2 === 0 ? { delayMs: SLOW_MS } : {}),
          };
        }
        return { result: (block) => (isBeyond((block as typeof head)?.number) ? null : block) };
      case "eth_getTransactionReceipt":
        return {
          result: (receipt) =>
            isBeyond((receipt as { blockNumber?: string } | null)?.blockNumber) ? null : receipt,
        };
      case "eth_getLogs":
        return {
          result: (logs) =>
            (logs as { blockNumber: string }[]).filter(({ blockNumber }) => !isBeyond(blockNumber)),
        };
      default:
        return undefined;
    }
  };
}
