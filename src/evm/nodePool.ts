import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { messageOf } from "../lib/errors.ts";
import { RpcError, toQuantity } from "../lib/nodeAnswers.ts";
import { repeat } from "../lib/repeat.ts";
import { assertSound } from "./assertSound.ts";
import { askInTurn, NoNodeError } from "./askInTurn.ts";
import { createChainClient } from "./client.ts";
import type { ChainClient } from "./client.ts";
import { AnswerError, type Transport } from "./connection.ts";
import { openPoolNode, readHead } from "./poolNode.ts";
import type { NodeStatus, PoolNode } from "./poolNode.ts";
import { createPushedHeads } from "./pushedHeads.ts";

export type { NodeStatus } from "./poolNode.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_HEDGE_MS = 2_000;
/** How long a request is repeated where there is one node. */
const RETRY_ONLY_MS = 2_000;
const DEFAULT_PROBE_MS = 5_000;
const DEFAULT_LAG_BLOCKS = 5;

/** Methods for which a lagging node answers `null`, just like a node that knows the data doesn't exist. */
const UNKNOWN_TO_SOME: ReadonlySet<string> = new Set([
  "eth_getBlockByHash",
  "eth_getBlockByNumber",
  "eth_getTransactionByHash",
  "eth_getTransactionReceipt",
]);

/** A network accessed through nodes at several URLs: callers don't notice a node that fails, lags or lies. */
export interface PoolClient extends ChainClient {
  /** Returns the state of each node when it was last asked, in the configured order. */
  nodes(): readonly NodeStatus[];
  /** Asks every node for its chain and head now. Never rejects. */
  checkNodes(): Promise<readonly NodeStatus[]>;
}

export interface NodePoolOptions {
  /** At least one; the first healthy one is asked. */
  readonly rpcUrls: readonly string[];
  /** Nodes of other chains are excluded. */
  readonly chainId: number;
  /** How long a single node's answer may take. Default 10,000. */
  readonly timeoutMs?: number;
  /** Time without an answer after which another node is asked as well. Default 2,000. */
  readonly hedgeMs?: number;
  /** Interval between checks of all nodes' heads. Default 5,000. */
  readonly probeMs?: number;
  /**
   * A node this many blocks behind the newest head is asked after the others; a head this many blocks ahead of it is verified. Default 5.
   */
  readonly lagBlocks?: number;
  /** Called when a node's state changes. */
  readonly onNodeChange?: (status: NodeStatus) => void;
}

/**
 * Connects to one network through several nodes. A request goes to the first healthy node and, if that one fails or is slow, to the next
 * within {@link NodePoolOptions.hedgeMs}; a refusal that every node would give (a revert, a spent nonce) is the answer. Signed transactions
 * that one node accepted are passed on to the others. Errors never contain a URL or a host; nodes are identified by number.
 */
export function createPoolClient(options: NodePoolOptions): PoolClient {
  const pool = openNodePool(options);
  const isOneNode = options.rpcUrls.length === 1 && pool.subscribe !== undefined;
  return {
    ...createChainClient("", { connection: pool, isOneNode, isSureOfLogs: true }),
    nodes: () => pool.statuses(),
    checkNodes: () => pool.check(),
  };
}

interface NodePool extends Transport {
  statuses(): readonly NodeStatus[];
  check(): Promise<readonly NodeStatus[]>;
}

function openNodePool(options: NodePoolOptions): NodePool {
  const { rpcUrls, chainId, timeoutMs = DEFAULT_TIMEOUT_MS, hedgeMs = DEFAULT_HEDGE_MS } = options;
  const { probeMs = DEFAULT_PROBE_MS, lagBlocks = DEFAULT_LAG_BLOCKS, onNodeChange = () => {} } = options;
  const nodes = rpcUrls.map((rpcUrl, index) =>
    openPoolNode({
      node: index + 1,
      rpcUrl,
      chainId,
      timeoutMs,
      isOnly: rpcUrls.length === 1,
      onChange: onNodeChange,
    }),
  );
  /** Newest block that any node is believed to have. */
  let best: bigint | undefined;

  /** Whether a node has the head it reports: if the head is far ahead, the node must also have the block before it, as its parent. */
  const believe = async (node: PoolNode, told: unknown): Promise<boolean> => {
    const head = readHead(told);
    if (head === undefined) return false;
    const { number, parentHash } = head;
    if (number > 0n && (best === undefined || number > best + BigInt(lagBlocks))) {
      const parent = await node.ask("eth_getBlockByNumber", [toQuantity(number - 1n), false]);
      if ((parent as { hash?: unknown } | null)?.hash !== parentHash) {
        node.noteHead(undefined);
        node.fail(`it announced block ${number} but does not have the one before`);
        return false;
      }
    }
    node.noteHead(number);
    if (best === undefined || number > best) best = number;
    return true;
  };

  /**
   * Checks that logs cover the whole request: for a block that it lacks, a node may return no logs, and for a range, only those up to its
   * own head. Only the node that answered can tell whether it has the block.
   */
  const assertComplete = async (
    node: PoolNode,
    { filter, logs }: { readonly filter: unknown; readonly logs: unknown },
  ): Promise<void> => {
    const { blockHash, toBlock } = filter as { readonly blockHash?: Hex; readonly toBlock?: Hex };
    if (blockHash !== undefined) {
      if (!Array.isArray(logs) || logs.length > 0) return;
      if ((await node.ask("eth_getBlockByHash", [blockHash, false])) !== null) return;
    } else {
      const { headNumber = -1n } = node.status();
      if (!toBlock?.startsWith("0x") || headNumber >= BigInt(toBlock)) return;
      if ((await node.ask("eth_getBlockByNumber", [toBlock, false])) !== null) return;
    }
    const reason = `unknown block ${blockHash ?? BigInt(toBlock!)}`;
    throw new RpcError("eth_getLogs", reason, {
      answered: true,
      cause: new AnswerError(reason, -32_000, undefined),
    });
  };

  const askNode = async (
    node: PoolNode,
    method: string,
    parameters: readonly unknown[],
  ): Promise<unknown> => {
    const answer = await node.ask(method, parameters);
    try {
      assertSound(method, parameters, answer);
    } catch (error) {
      node.fail(messageOf(error));
      throw error;
    }
    if (method === "eth_getLogs") await assertComplete(node, { filter: parameters[0], logs: answer });
    if (method !== "eth_getBlockByNumber" || answer === null) return answer;
    const wanted = String(parameters[0]);
    if (wanted === "latest" && !(await believe(node, answer)))
      throw new RpcError(method, node.status().why ?? "the answer is not a block");
    if (wanted.startsWith("0x") && readHead(answer)?.number !== BigInt(wanted)) {
      node.fail(`asked for block ${BigInt(wanted)}, it returned a different one`);
      throw new RpcError(method, node.status().why!);
    }
    return answer;
  };

  const ending = new AbortController();

  /** Returns the nodes in the order to ask them; when all are backing off, waits for the first pause to end. */
  const pick = async (): Promise<readonly PoolNode[]> => {
    const inOrder = (): PoolNode[] =>
      nodes
        .filter((node) => node.pauseMs() === 0)
        .toSorted((a, b) => Number(isLagging(a)) - Number(isLagging(b)));
    let ready = inOrder();
    const present = nodes.filter((node) => node.status().state !== "excluded");
    if (ready.length === 0 && present.length > 0) {
      const pauseMs = Math.min(...present.map((node) => node.pauseMs()));
      // A caller waits for the answer, so this timer keeps the process alive.
      const { signal } = ending;
      await sleep(Math.min(Math.ceil(pauseMs), timeoutMs), undefined, { signal }).catch(() => {});
      ready = inOrder();
    }
    // Recently failed nodes may work again; rate-limited ones are left alone.
    const rest = present.filter((node) => !ready.includes(node) && !node.isLimited);
    return [...ready, ...rest];
  };

  const request = async (method: string, parameters: readonly unknown[]): Promise<unknown> => {
    const ask = async () =>
      await askInTurn(await pick(), {
        ask: (node) => askNode(node, method, parameters),
        hedgeMs,
        mayBeUnknown: UNKNOWN_TO_SOME.has(method),
      });
    const retryUntil = performance.now() + Math.min(hedgeMs, RETRY_ONLY_MS);
    const { answer, by } = await ask().catch(async (first: unknown) => {
      let error = first;
      // Where there is no other node, the only one is asked again.
      while (error instanceof NoNodeError && isOnly() && performance.now() < retryUntil) {
        try {
          return await ask();
        } catch (next) {
          error = next;
        }
      }
      if (!(error instanceof NoNodeError)) throw error;
      throw new NoNodeError(nodes.map((node) => `node ${node.node}: ${node.status().why ?? "unknown"}`));
    });
    if (method === "eth_sendRawTransaction") passOn(by, parameters);
    return answer;
  };

  const isOnly = (): boolean =>
    nodes.length === 1 &&
    !ending.signal.aborted &&
    !nodes[0]!.isLimited &&
    nodes[0]!.status().state === "failing";

  const requestEach = async (method: string, parameters: readonly unknown[]): Promise<readonly unknown[]> => {
    const ready = nodes.filter((node) => node.pauseMs() === 0);
    if (ready.length < 2) return [await request(method, parameters)];
    const answers = await Promise.allSettled(ready.map((node) => askNode(node, method, parameters)));
    const given = answers.filter((one) => one.status === "fulfilled").map(({ value }) => value);
    return given.length > 0 ? given : [await request(method, parameters)];
  };

  /** Passes a transaction on to the other nodes, because a single node may keep it to itself. */
  const passOn = (by: PoolNode, parameters: readonly unknown[]): void => {
    for (const node of nodes)
      if (node !== by && node.pauseMs() === 0) node.ask("eth_sendRawTransaction", parameters).catch(() => {});
  };

  /** Checks the heads of all nodes at the same moment, so that they can be compared. */
  const probe = async (): Promise<void> => {
    const due = nodes.filter((node) => node.pauseMs() === 0);
    const heads = await Promise.all(
      due.map(async (node) => {
        try {
          const answer = await node.ask("eth_getBlockByNumber", ["latest", false]);
          return (await believe(node, answer)) ? readHead(answer)?.number : undefined;
        } catch {
          return undefined;
        }
      }),
    );
    const seen = heads.filter((number) => number !== undefined);
    if (seen.length === 0) return;
    best = seen.reduce((most, number) => (number > most ? number : most));
    for (const [index, node] of due.entries()) {
      const number = heads[index];
      if (number !== undefined) node.setLagging(number + BigInt(lagBlocks) < best);
    }
    pushed.renew();
  };

  const pushed = createPushedHeads({ nodes, lagBlocks, believe });
  const first = probe();
  const stop = repeat(probe, probeMs, () => {});

  return {
    request,
    requestEach,
    ...(nodes.some(({ canPush }) => canPush)
      ? { subscribe: async (_parameters: readonly unknown[], onData: OnData) => pushed.listen(onData) }
      : {}),
    statuses: () => nodes.map((node) => node.status()),
    async check() {
      await first;
      await probe();
      return nodes.map((node) => node.status());
    },
    close() {
      ending.abort();
      stop();
      pushed.close();
      for (const node of nodes) node.close();
    },
  };
}

type OnData = (result: unknown) => void;

function isLagging(node: PoolNode): boolean {
  return node.status().state === "lagging";
}
