import { parentPort, workerData } from "node:worker_threads";
import type { Hex } from "viem";
import { BrokenConnectionError, openUnixSocket } from "../../../evm/connection.ts";
import { messageOf } from "../../../lib/errors.ts";
import type { AppearanceQuery, Appearances } from "../../network.ts";
import { dumpCompactState, swapState, type CompactState, type SwapOptions } from "./anvilState.ts";
import {
  ForgottenError,
  openHistory,
  type BlockId,
  type HistoricBlock,
  type RemovedBlocks,
} from "./history.ts";
import { writeState } from "./stateFile.ts";

/** What the thread is started with; see `createKeeper`. */
export interface KeeperData {
  readonly ipcPath: string;
  readonly historyFile: string;
  readonly timeoutMs: number;
  /** Blocks with logs of these topics are never removed. */
  readonly keptTopics: readonly string[];
}

/** The thread's answer to a call: a result, or the message and the kind of an error. */
export interface KeeperAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
  readonly kind?: "broken" | "forgotten" | "other";
}

/** A dumped state that waits in the thread to replace the current one. */
export interface DumpSummary {
  readonly number: number;
  readonly bytes: number;
  readonly zeroSlots: number;
  readonly headers: number;
}

/** The thread's tasks, by name. Calls are answered one at a time. */
export type KeeperTasks = typeof tasks;

/** Blocks that are read concurrently and written in one transaction. */
const CHUNK_BLOCKS = 16;

const { ipcPath, historyFile, timeoutMs, keptTopics } = workerData as KeeperData;
const connection = openUnixSocket(ipcPath, timeoutMs);
const history = openHistory(historyFile, keptTopics);
let compact: CompactState | undefined;

const tasks = {
  /**
   * Stores these blocks, both ends included, replacing everything stored from the first on; returns the number of the last. Rejects with
   * {@link ForgottenError} when the node has only the header of one.
   */
  async keep(first: number, through: number): Promise<number> {
    for (let next = first; next <= through; next += CHUNK_BLOCKS) {
      const last = Math.min(through, next + CHUNK_BLOCKS - 1);
      const numbers = Array.from({ length: last - next + 1 }, (_, i) => next + i);
      history.append(await Promise.all(numbers.map(readBlock)));
    }
    return through;
  },
  /** Finds the first of these blocks, in ascending order, that isn't stored. */
  async findMissing(blocks: readonly BlockId[]): Promise<number | undefined> {
    return blocks.find((block) => !history.has(block))?.number;
  },
  async cutAfter(number: number): Promise<ReturnType<typeof history.cutAfter>> {
    return history.cutAfter(number);
  },
  async recall(method: string, parameters: readonly unknown[]): Promise<unknown> {
    return history.recall(method, parameters);
  },
  async findAppearances(query: AppearanceQuery): Promise<Appearances> {
    return history.findAppearances(query);
  },
  async removeSome(range: Parameters<typeof history.removeSome>[0]): Promise<boolean> {
    return history.removeSome(range);
  },
  async removed(): Promise<RemovedBlocks> {
    return history.removed();
  },
  /** Dumps and compacts the current state, with these old headers. */
  async dump(keptHeaders: readonly number[]): Promise<DumpSummary> {
    compact = await dumpCompactState(connection, keptHeaders);
    return {
      number: compact.state.best_block_number!,
      bytes: compact.bytes,
      zeroSlots: compact.zeroSlots,
      headers: compact.headers,
    };
  },
  /** Writes the dumped state to a file, once the blocks before it survive a power cut: nothing else has their transactions then. */
  async save(file: string): Promise<void> {
    history.flush();
    writeState(file, compact!.state);
  },
  /** Replaces the current state with the dumped one. */
  async swap(options: SwapOptions): Promise<void> {
    await swapState(connection, compact!.state, options);
    compact = undefined;
  },
  async close(): Promise<void> {
    connection.close();
    history.close();
    parentPort!.close();
  },
};

async function readBlock(number: number): Promise<HistoricBlock> {
  const quantity = `0x${number.toString(16)}`;
  const [block, receipts] = (await Promise.all([
    connection.request("eth_getBlockByNumber", [quantity, true]),
    connection.request("eth_getBlockReceipts", [quantity]),
  ])) as [(HistoricBlock["block"] & { hash: Hex; gasUsed: string }) | null, HistoricBlock["receipts"] | null];
  if (block === null || receipts === null) throw new ForgottenError(number);
  const { transactions, gasUsed } = block;
  if (receipts.length !== transactions.length || (transactions.length === 0 && gasUsed !== "0x0"))
    throw new ForgottenError(number);
  return { number, hash: block.hash, block, receipts };
}

function kindOf(error: unknown): "broken" | "forgotten" | "other" {
  if (error instanceof BrokenConnectionError) return "broken";
  return error instanceof ForgottenError ? "forgotten" : "other";
}

let tail: Promise<unknown> = Promise.resolve();
parentPort!.on("message", ({ id, task, args }: { id: number; task: keyof KeeperTasks; args: unknown[] }) => {
  tail = tail.then(async () => {
    const answer: KeeperAnswer = await (tasks[task] as (...args: unknown[]) => Promise<unknown>)(
      ...args,
    ).then(
      (result) => ({ id, result }),
      (error: unknown) => ({ id, error: messageOf(error), kind: kindOf(error) }),
    );
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage(answer);
  });
});
