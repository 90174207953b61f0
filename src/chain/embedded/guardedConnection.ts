import type { Hex } from "viem";
import { AnswerError } from "../connection.ts";
import type { Connection } from "../connection.ts";
import { classOf } from "./gate.ts";
import type { Gate } from "./gate.ts";
import type { Recorder } from "./recorder.ts";

const MINED_AT_ONCE = 32;

/** Options of {@link guardConnection}. */
export interface GuardOptions {
  readonly connection: Connection;
  readonly gate: Gate;
  readonly recorder: Recorder;
  /** Answers from what has been kept, or `undefined`. */
  readonly recall: (method: string, parameters: readonly unknown[]) => Promise<unknown>;
  /** Has all blocks up to now kept. */
  readonly keepUp: () => Promise<void>;
  /** Has all blocks up to now written down. */
  readonly ensureLatest: () => Promise<void>;
  /** First block whose transactions the node surely still has. */
  readonly oldestWhole: () => number;
}

/**
 * A connection to an embedded chain as everybody should see it: it waits while the state is exchanged or the process is
 * started again, tells nothing of a block that isn't written down, and has no hole in its past.
 */
export function guardConnection({
  connection,
  gate,
  recorder,
  recall,
  keepUp,
  ensureLatest,
  oldestWhole,
}: GuardOptions): Connection {
  const ask = async (method: string, parameters: readonly unknown[]): Promise<unknown> => {
    const leave = await gate.enter(classOf(method));
    try {
      return await connection.request(method, parameters);
    } finally {
      leave();
    }
  };

  const searchLogs = async (filter: LogRange): Promise<unknown> => {
    if (filter.blockHash !== undefined) {
      const logs = (await ask("eth_getLogs", [filter])) as unknown[];
      if (logs.length > 0) {
        await recorder.ensure(Number((logs[0] as { readonly blockNumber: Hex }).blockNumber));
        return logs;
      }
      const block = (await request("eth_getBlockByHash", [filter.blockHash, false])) as BlockAnswer | null;
      // The node says so too of a block that it doesn't have, as one that a process took with it.
      if (block === null) throw new AnswerError(`unknown block ${filter.blockHash}`, -32000, undefined);
      const isWhole = block.transactions.length === 0 || Number(block.number) >= oldestWhole();
      return isWhole ? logs : ((await recall("eth_getLogs", [filter])) ?? logs);
    }
    const from = numberOf(filter.fromBlock, recorder.head().number);
    const to = numberOf(filter.toBlock, recorder.head().number);
    await recorder.ensure(to);
    const whole = oldestWhole();
    if (from >= whole) return ask("eth_getLogs", [filter]);
    const range = (first: number, last: number) => ({
      ...filter,
      fromBlock: `0x${first.toString(16)}`,
      toBlock: `0x${last.toString(16)}`,
    });
    const past = (await recall("eth_getLogs", [range(from, Math.min(to, whole - 1))])) as unknown[];
    const present = to < whole ? [] : ((await ask("eth_getLogs", [range(whole, to)])) as unknown[]);
    return [...past, ...present];
  };

  /** Mines so few at a time that Anvil forgets no transaction before it is kept. */
  const mine = async (method: string, parameters: readonly unknown[]): Promise<unknown> => {
    const count = Number(parameters[0] ?? 1);
    if (count > MINED_AT_ONCE) await keepUp();
    // With an interval the times of the blocks depend on their being mined in one go.
    if (!(count > MINED_AT_ONCE) || parameters.length > 1) {
      const answer = await ask(method, parameters);
      await ensureLatest();
      return answer;
    }
    for (let left = count; left > 0; left -= MINED_AT_ONCE) {
      await ask(method, [`0x${Math.min(left, MINED_AT_ONCE).toString(16)}`]);
      await keepUp();
    }
    return null;
  };

  const request = async (method: string, parameters: readonly unknown[]): Promise<unknown> => {
    switch (method) {
      case "eth_sendRawTransaction":
      case "eth_sendRawTransactionSync": {
        if (isHex(parameters[0])) recorder.remember(parameters[0]);
        const answer = await ask(method, parameters);
        if (method === "eth_sendRawTransactionSync") await ensureBlockOf(answer);
        return answer;
      }
      case "eth_getTransactionReceipt": {
        const answer = (await ask(method, parameters)) ?? (await recall(method, parameters)) ?? null;
        await ensureBlockOf(answer);
        return answer;
      }
      case "eth_getTransactionByHash":
        return (await ask(method, parameters)) ?? (await recall(method, parameters)) ?? null;
      case "eth_getBlockByNumber":
      case "eth_getBlockByHash": {
        const answer = (await ask(method, parameters)) as BlockAnswer | null;
        if (parameters[0] === "latest") await recorder.ensure(Number(answer?.number));
        if (answer !== null && (answer.transactions.length > 0 || answer.gasUsed === "0x0")) return answer;
        return (await recall(method, parameters)) ?? answer;
      }
      case "eth_getBlockReceipts": {
        const answer = (await ask(method, parameters)) as unknown[] | null;
        return answer !== null && answer.length > 0 ? answer : ((await recall(method, parameters)) ?? answer);
      }
      case "anvil_mine":
      case "hardhat_mine":
        return mine(method, parameters);
      case "eth_getLogs":
        return searchLogs(parameters[0] ?? {});
      default:
        return ask(method, parameters);
    }
  };

  const ensureBlockOf = async (answer: unknown): Promise<void> => {
    const number = (answer as { readonly blockNumber?: unknown } | null)?.blockNumber;
    if (isHex(number)) await recorder.ensure(Number(number));
  };

  return {
    request,
    subscribe: (parameters, onData) => connection.subscribe(parameters, onData),
    close: () => connection.close(),
  };
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
