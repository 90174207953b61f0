import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { AnswerError, BrokenConnectionError, type Connection } from "../../evm/connection.ts";
import type { DeadlyCalls } from "./process/deadlyCalls.ts";
import { classOf, type Gate, changesState, setsBack } from "./gate.ts";
import { ChainDownError, type Recorder } from "./recorder.ts";
import type { SetBack } from "./setBack.ts";

const MINED_AT_ONCE = 32;
/**
 * Pause before a retry. A connection breaks a few milliseconds before the process is known to have died; from then on the gate
 * holds requests.
 */
const ASK_AGAIN_MS = 50;
const MAX_ASKED = 20;
/** Processes in a row that may die during one read: the read itself may be the cause. */
const MAX_DEATHS = 4;
/** The answers of these methods name the block they belong to; `null` and an empty list of logs name none. */
const NAMING_THEIR_BLOCK =
  /^eth_(?:sendRawTransactionSync|getTransactionReceipt|getTransactionBy\w+|getBlockBy\w+|getBlockReceipts|getLogs)$/;
/** The answers of these methods reveal nothing about any block. */
const TELLING_NO_BLOCK =
  /^(?:eth_(?:sendRawTransaction|sendTransaction|chainId|gasPrice|maxPriorityFeePerGas|accounts|syncing|sign\w*)|net_\w+|web3_\w+|txpool_\w+)$/;

export interface GuardOptions {
  readonly connection: Connection;
  readonly gate: Gate;
  readonly deadlyCalls: DeadlyCalls;
  readonly recorder: Recorder;
  /** Resolves when a block may be announced: once it is in the log, or also once it survives a power cut. */
  readonly settle: (block: number) => Promise<void>;
  /** Answers from the history, or returns `undefined`. */
  readonly recall: (method: string, parameters: readonly unknown[]) => Promise<unknown>;
  /** Writes all blocks so far to the history. */
  readonly keepUp: () => Promise<void>;
  /** Runs a request that removes blocks; `undefined` before the chain is set up. */
  readonly setBack: () => SetBack | undefined;
  /** Called with the header of each head once its block may be announced. */
  readonly headListeners: Set<(header: unknown) => void>;
  /** First block whose transactions the node has, and will have for some more blocks. */
  readonly oldestWhole: () => number;
  /** First block whose transactions the node has at this moment. */
  readonly oldestHeld: () => number;
}

/**
 * Wraps the connection to an embedded chain into the one that clients use: it waits while the state is swapped or the process
 * restarts, reveals no block that isn't settled, and has no gaps in its past.
 */
export function guardConnection(options: GuardOptions): Connection {
  const { connection, headListeners } = options;
  return {
    request: (method, parameters) => request(options, method, parameters),
    async subscribe([kind], onData) {
      if (kind !== "newHeads") throw new Error(`${String(kind)} can't be subscribed to here`);
      headListeners.add(onData);
      return () => headListeners.delete(onData);
    },
    close: () => connection.close(),
  };
}

async function request(
  guarded: GuardOptions,
  method: string,
  parameters: readonly unknown[],
): Promise<unknown> {
  const { connection, deadlyCalls, recorder, recall, setBack } = guarded;
  switch (method) {
    case "eth_sendRawTransaction":
    case "eth_sendRawTransactionSync":
      if (!isHex(parameters[0])) return ask(guarded, method, parameters);
      recorder.remember(parameters[0]);
      return deadlyCalls.send(parameters[0], () => ask(guarded, method, parameters));
    case "eth_getTransactionReceipt":
    case "eth_getTransactionByHash":
      return (await ask(guarded, method, parameters)) ?? (await recall(method, parameters)) ?? null;
    case "eth_getBlockByNumber":
    case "eth_getBlockByHash": {
      const answer = (await ask(guarded, method, parameters)) as BlockAnswer | null;
      if (answer !== null && (answer.transactions.length > 0 || answer.gasUsed === "0x0")) return answer;
      return (await recall(method, parameters)) ?? answer;
    }
    case "eth_getBlockReceipts": {
      const answer = (await ask(guarded, method, parameters)) as unknown[] | null;
      return answer !== null && answer.length > 0 ? answer : ((await recall(method, parameters)) ?? answer);
    }
    case "anvil_mine":
    case "hardhat_mine":
      return mine(guarded, method, parameters);
    case "eth_getLogs":
      return searchLogs(guarded, parameters[0] ?? {});
    default: {
      const runAlone = setsBack(method) ? setBack() : undefined;
      if (runAlone !== undefined) return runAlone(() => connection.request(method, parameters));
      return ask(guarded, method, parameters);
    }
  }
}

/**
 * Retries reads when the process has died meanwhile. Whether something was sent is for the sender to find out, and so it is for a call
 * that changes the state: it may have taken effect.
 */
async function ask(guarded: GuardOptions, method: string, parameters: readonly unknown[]): Promise<unknown> {
  const isRead = classOf(method) === "read" && !changesState(method);
  const deadLives = new Set<number>();
  for (let asked = 1; ; asked += 1) {
    let life: number | undefined;
    try {
      return await askOnce(guarded, method, parameters, (current) => (life = current));
    } catch (error) {
      if (!(error instanceof BrokenConnectionError) || !isRead || asked === MAX_ASKED) throw error;
      // A retry may come before the death is known and fail with the same process.
      if (life !== undefined) deadLives.add(life);
      if (deadLives.size === MAX_DEATHS) throw error;
      await sleep(ASK_AGAIN_MS);
    }
  }
}

/** @param onLife called with the number of the process that gets the request. */
async function askOnce(
  guarded: GuardOptions,
  method: string,
  parameters: readonly unknown[],
  onLife: (life: number) => void,
): Promise<unknown> {
  const { connection, gate, recorder, settle } = guarded;
  const leave = await gate.enter(classOf(method));
  const life = recorder.life();
  onLife(life);
  let answer: unknown;
  try {
    answer = await connection.request(method, parameters);
  } finally {
    leave();
  }
  await settle(await newestIn(guarded, method, parameters, answer));
  // Later steps may already have been answered by the next process.
  if (recorder.life() !== life) throw new ChainDownError();
  return answer;
}

async function askNumber({ connection }: GuardOptions): Promise<number> {
  return Number(await connection.request("eth_blockNumber", []));
}

/** Returns the number of the newest block that an answer may reveal. */
async function newestIn(
  guarded: GuardOptions,
  method: string,
  parameters: readonly unknown[],
  answer: unknown,
): Promise<number> {
  if (TELLING_NO_BLOCK.test(method)) return 0;
  if (!NAMING_THEIR_BLOCK.test(method) || parameters[0] === "pending") return askNumber(guarded);
  const told = (Array.isArray(answer) ? answer.at(-1) : answer) as {
    blockNumber?: Hex;
    number?: Hex;
  } | null;
  return Number(told?.blockNumber ?? told?.number ?? 0);
}

async function searchLogs(guarded: GuardOptions, filter: LogRange): Promise<unknown> {
  const { recorder, settle, recall, oldestWhole, oldestHeld } = guarded;
  if (filter.blockHash !== undefined) {
    const logs = (await ask(guarded, "eth_getLogs", [filter])) as unknown[];
    if (logs.length > 0) return logs;
    const block = (await request(guarded, "eth_getBlockByHash", [
      filter.blockHash,
      false,
    ])) as BlockAnswer | null;
    // The node answers the same for a block it doesn't have, for example one lost with an earlier process.
    if (block === null) throw new AnswerError(`unknown block ${filter.blockHash}`, -32000, undefined);
    const isWhole = block.transactions.length === 0 || Number(block.number) >= oldestWhole();
    return isWhole ? logs : ((await recall("eth_getLogs", [filter])) ?? logs);
  }
  const from = numberOf(filter.fromBlock, recorder.head().number);
  const to = numberOf(filter.toBlock, recorder.head().number);
  if (to > recorder.head().number) await settle(Math.min(to, await askNumber(guarded)));
  for (;;) {
    const whole = oldestWhole();
    const range = (first: number, last: number) => ({
      ...filter,
      fromBlock: `0x${first.toString(16)}`,
      toBlock: `0x${last.toString(16)}`,
    });
    const first = Math.max(from, whole);
    const past =
      from >= whole
        ? []
        : ((await recall("eth_getLogs", [range(from, Math.min(to, whole - 1))])) as unknown[]);
    if (to < first) return past;
    const present = (await ask(guarded, "eth_getLogs", [
      from >= whole ? filter : range(first, to),
    ])) as unknown[];
    // The state may have been swapped meanwhile; Anvil then has no logs of these blocks and doesn't say so.
    if (oldestHeld() <= first) return [...past, ...present];
  }
}

/** Mines few blocks at a time, so that Anvil forgets no transaction before it is kept. */
async function mine(guarded: GuardOptions, method: string, parameters: readonly unknown[]): Promise<unknown> {
  const { keepUp } = guarded;
  const count = Number(parameters[0] ?? 1);
  if (count > MINED_AT_ONCE) await keepUp();
  // With an interval, the blocks' times depend on all of them being mined in one go.
  if (!(count > MINED_AT_ONCE) || parameters.length > 1) return ask(guarded, method, parameters);
  for (let left = count; left > 0; left -= MINED_AT_ONCE) {
    await ask(guarded, method, [`0x${Math.min(left, MINED_AT_ONCE).toString(16)}`]);
    await keepUp();
  }
  return null;
}

interface LogRange {
  readonly blockHash?: string;
  readonly fromBlock?: string;
  readonly toBlock?: string;
}

interface BlockAnswer {
  readonly number: string;
  readonly transactions: readonly unknown[];
  readonly gasUsed: string;
}

function numberOf(block: string | undefined, head: number): number {
  if (block === "earliest") return 0;
  return isHex(block) ? Number(block) : head;
}

function isHex(value: unknown): value is Hex {
  return typeof value === "string" && value.startsWith("0x");
}
