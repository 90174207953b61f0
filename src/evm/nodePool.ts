import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { messageOf } from "../lib/errors.ts";
import {
  RpcError,
  toQuantity,
  parseHex,
  parseLog,
  parseQuantity,
  parseReceipt,
  type RawLog,
} from "../lib/nodeAnswers.ts";
import { repeat } from "../lib/repeat.ts";
import { createChainClient, type ChainClient } from "./client.ts";
import { AnswerError, type Transport } from "./connection.ts";
import { openPoolNode, readHead, type NodeStatus, type PoolNode } from "./poolNode.ts";
import { troubleOf } from "./nodeTrouble.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_HEDGE_MS = 2_000;
/** How long a request is repeated where there is one node. */
const RETRY_ONLY_MS = 2_000;
const DEFAULT_PROBE_MS = 5_000;
/**
 * A node this many blocks behind the newest head is asked after the others; a head this many blocks ahead of it is verified; a node this
 * many blocks ahead of what it last pushed has stopped pushing.
 */
const LAG_BLOCKS = 5n;

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
  const { probeMs = DEFAULT_PROBE_MS } = options;
  const nodes = rpcUrls.map((rpcUrl, index) =>
    openPoolNode({
      node: index + 1,
      rpcUrl,
      chainId,
      timeoutMs,
      isOnly: rpcUrls.length === 1,
    }),
  );
  const { believe, compareHeads, askNode } = createAsking();
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
        method,
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

  /** Checks the chains of all nodes, and their heads at the same moment, so that they can be compared. */
  const probe = async (): Promise<void> => {
    const due = nodes.filter((node) => node.pauseMs() === 0);
    const heads = await Promise.all(
      due.map(async (node) => {
        try {
          await node.confirmChain();
          const answer = await node.ask("eth_getBlockByNumber", ["latest", false]);
          return (await believe(node, answer)) ? readHead(answer)?.number : undefined;
        } catch {
          return undefined;
        }
      }),
    );
    if (!compareHeads(due, heads)) return;
    pushed.renew();
  };

  const pushed = createPushedHeads({ nodes, believe });
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

/** Creates what asks single nodes, and takes of their answers those that can be true. */
function createAsking() {
  /** Newest block that any node is believed to have. */
  let best: bigint | undefined;

  /**
   * Whether a node has the head it reports. If the head is far from the newest one, the node must still be on the right chain, and if it is
   * far ahead, also have the block before it, as its parent.
   */
  const believe = async (node: PoolNode, told: unknown): Promise<boolean> => {
    const head = readHead(told);
    if (head === undefined) return false;
    const { number, parentHash } = head;
    const isAhead = best === undefined || number > best + LAG_BLOCKS;
    if (best !== undefined && (isAhead || number + LAG_BLOCKS < best)) await node.confirmChain();
    if (number > 0n && isAhead) {
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

  /** Takes the heads that nodes had at the same moment; returns whether there was one. */
  const compareHeads = (nodes: readonly PoolNode[], heads: readonly (bigint | undefined)[]): boolean => {
    const seen = heads.filter((number) => number !== undefined);
    if (seen.length === 0) return false;
    best = seen.reduce((most, number) => (number > most ? number : most));
    for (const [index, node] of nodes.entries()) {
      const number = heads[index];
      if (number !== undefined) node.setLagging(number + LAG_BLOCKS < best);
    }
    return true;
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

  return { believe, compareHeads, askNode };
}

/**
 * Checks that logs cover the whole request: for a block that it lacks, a node may return no logs, and for a range, only those up to its
 * own head. Only the node that answered can tell whether it has the block.
 */
async function assertComplete(
  node: PoolNode,
  { filter, logs }: { readonly filter: unknown; readonly logs: unknown },
): Promise<void> {
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
}

type OnData = (result: unknown) => void;

function isLagging(node: PoolNode): boolean {
  return node.status().state === "lagging";
}

interface AskInTurnOptions {
  readonly method: string;
  readonly ask: (node: PoolNode) => Promise<unknown>;
  /** Milliseconds without an answer after which the next node is asked as well. */
  readonly hedgeMs: number;
  /**
   * Whether `null` may mean that this node doesn't have the data yet. The other healthy nodes are then asked as well: if one node lacks
   * a receipt and another one reports the transaction's nonce as spent, the transaction looks lost.
   */
  readonly mayBeUnknown: boolean;
}

/**
 * Asks one node after the other until one answers: the next one at once when a node fails, and after `hedgeMs` when it is slow. If a
 * node doesn't know the data, it counts as unknown once the other healthy nodes don't know it either, or are silent for `hedgeMs`.
 *
 * @throws {NoNodeError} when none can be asked.
 */
function askInTurn(
  nodes: readonly PoolNode[],
  { method, ask, hedgeMs, mayBeUnknown }: AskInTurnOptions,
): Promise<{ readonly answer: unknown; readonly by: PoolNode }> {
  return new Promise((resolve, reject) => {
    /** Nodes that have not answered yet, with the time they were asked. */
    const open = new Map<PoolNode, number>();
    let lacking: unknown;
    let unknownTo: PoolNode | undefined;
    let next = 0;
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;

    const end = (settle: () => void): void => {
      isOver = true;
      clearTimeout(timer);
      settle();
    };
    const endUnknown = (by: PoolNode): void => end(() => resolve({ answer: null, by }));
    const askNext = (): void => {
      clearTimeout(timer);
      if (isOver) return;
      // Nodes that are backing off aren't asked again for what another one has already answered.
      while (unknownTo !== undefined && next < nodes.length && nodes[next]!.pauseMs() > 0) next += 1;
      const node = nodes[next];
      if (node === undefined) {
        if (open.size > 0) {
          if (unknownTo !== undefined) timer = setTimeout(endUnknown, hedgeMs, unknownTo);
          return;
        }
        if (unknownTo !== undefined) return endUnknown(unknownTo);
        return end(() => reject(lacking ?? new NoNodeError([])));
      }
      next += 1;
      open.set(node, performance.now());
      timer = setTimeout(askNext, hedgeMs);
      ask(node).then(
        (answer) => {
          open.delete(node);
          if (isOver) return;
          if (answer === null && mayBeUnknown) {
            unknownTo ??= node;
            return askNext();
          }
          for (const [slow, askedAt] of open)
            if (performance.now() - askedAt >= hedgeMs) slow.fail(`no answer within ${hedgeMs} ms`);
          end(() => resolve({ answer, by: node }));
        },
        (error: unknown) => {
          open.delete(node);
          if (isOver) return;
          const trouble = troubleOf(method, (error as RpcError).cause);
          if (trouble === "answer") return end(() => reject(error));
          if (trouble === "lacking") lacking ??= error;
          askNext();
        },
      );
    };
    askNext();
  });
}

/** None of a network's nodes can be asked at the moment. */
class NoNodeError extends RpcError {
  constructor(failures: readonly string[]) {
    super("no node answers", failures.join("; "));
  }
}

/**
 * Asserts that a node's answer has the shape its method returns and matches the request, so that another node can be asked
 * otherwise. Refuses a receipt of another transaction, a log of another contract or block, and a repeated log.
 *
 * @throws {RpcError} that says what is wrong.
 */
function assertSound(method: string, parameters: readonly unknown[], answer: unknown): void {
  if (QUANTITIES.has(method)) parseQuantity(answer, method);
  else if (method === "eth_call" || method === "eth_getCode") parseHex(answer, method);
  else if (method === "eth_getTransactionReceipt" && answer !== null) {
    const { transactionHash } = parseReceipt(answer);
    if (transactionHash.toLowerCase() !== String(parameters[0]).toLowerCase())
      throw new RpcError(method, "the receipt is another transaction's");
  } else if (method === "eth_getLogs") assertLogs(parameters[0] as Filter, answer);
}

const QUANTITIES: ReadonlySet<string> = new Set([
  "eth_chainId",
  "eth_blockNumber",
  "eth_gasPrice",
  "eth_getBalance",
  "eth_getTransactionCount",
]);

/** A filter in JSON-RPC form: one contract, several, or any. */
interface Filter {
  readonly address?: string | readonly string[];
  readonly blockHash?: string;
  readonly fromBlock?: string;
  readonly toBlock?: string;
}

function assertLogs(filter: Filter, answer: unknown): void {
  if (!Array.isArray(answer)) throw new RpcError("eth_getLogs", "the answer is not a list of logs");
  const addresses = new Set([filter.address ?? []].flat().map((address) => address.toLowerCase()));
  const seen = new Set<string>();
  for (const log of answer.map(parseLog)) {
    const id = `${log.blockHash} ${log.logIndex}`;
    if (seen.has(id))
      throw new RpcError("eth_getLogs", `log ${log.logIndex} of block ${log.blockNumber} comes twice`);
    seen.add(id);
    if (!isWanted(log, filter) || (addresses.size > 0 && !addresses.has(log.address)))
      throw new RpcError(
        "eth_getLogs",
        `a log of ${log.address} in block ${log.blockNumber} was not asked for`,
      );
  }
}

function isWanted(log: RawLog, { blockHash, fromBlock, toBlock }: Filter): boolean {
  if (blockHash !== undefined) return log.blockHash.toLowerCase() === blockHash.toLowerCase();
  if (!fromBlock?.startsWith("0x") || !toBlock?.startsWith("0x")) return true;
  return log.blockNumber >= BigInt(fromBlock) && log.blockNumber <= BigInt(toBlock);
}

/** The state of one node's subscription. */
interface Feed {
  readonly node: PoolNode;
  isStarting: boolean;
  stop: (() => void) | undefined;
  /** The last head pushed, or the node's head when the subscription started. */
  pushed: bigint | undefined;
}

/**
 * Creates the pushed heads of a pool: those of the first healthy node that pushes, so that nodes that disagree about the newest block
 * don't look like a reorg.
 */
function createPushedHeads(options: {
  readonly nodes: readonly PoolNode[];
  /** Whether the node has the head it reports. */
  readonly believe: (node: PoolNode, head: unknown) => Promise<boolean>;
}) {
  const { believe } = options;
  const feeds: Feed[] = options.nodes
    .filter(({ canPush }) => canPush)
    .map((node) => ({ node, isStarting: false, stop: undefined, pushed: undefined }));
  const listeners = new Set<(head: unknown) => void>();
  let isClosed = false;

  const chosen = (): Feed | undefined =>
    feeds.find(({ node, stop }) => stop !== undefined && node.status().state === "healthy");

  const take = async (feed: Feed, head: unknown): Promise<void> => {
    const told = readHead(head);
    if (told === undefined) return;
    feed.pushed = told.number;
    if (feed !== chosen() || !(await believe(feed.node, head))) return;
    for (const onHead of listeners) onHead(head);
  };

  const start = async (feed: Feed): Promise<void> => {
    feed.isStarting = true;
    feed.pushed = feed.node.status().headNumber;
    try {
      const stop = await feed.node.subscribe((head) => void take(feed, head).catch(() => {}));
      if (isClosed) stop();
      else feed.stop = stop;
    } catch {
      // The next check tries again.
    } finally {
      feed.isStarting = false;
    }
  };

  const isSilent = ({ node, pushed }: Feed): boolean => {
    const { headNumber } = node.status();
    return pushed !== undefined && headNumber !== undefined && headNumber > pushed + LAG_BLOCKS;
  };

  const renew = (): void => {
    if (listeners.size === 0 || isClosed) return;
    for (const feed of feeds) {
      if (feed.isStarting || feed.node.status().state !== "healthy") continue;
      if (feed.stop !== undefined && isSilent(feed)) {
        feed.stop();
        feed.stop = undefined;
        // The connection itself may be losing pushed messages.
        feed.node.reconnect();
      }
      if (feed.stop === undefined) void start(feed);
    }
  };

  return {
    /** Calls back with each head until the returned function is called. */
    listen(onHead: (head: unknown) => void): () => void {
      listeners.add(onHead);
      renew();
      return () => listeners.delete(onHead);
    },
    /** Subscribes where nothing is pushed although it should be; to be called regularly. */
    renew,
    close(): void {
      isClosed = true;
      for (const feed of feeds) feed.stop?.();
    },
  };
}
