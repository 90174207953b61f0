import { Worker } from "node:worker_threads";
import type { KeeperData, KeeperTasks } from "./keeperWorker.ts";

/** A thread without work ends after this: it holds some 20 MB, and starts in 50 ms. */
const IDLE_MS = 10_000;
/** What it reads is garbage soon: V8's default would let 100 MB of it lie about in each chain's thread. */
const YOUNG_MB = 12;

/**
 * Keeps what a chain's node forgets, and takes its state: all that reads much, in a thread of its own, which is there only
 * while there is work.
 */
export interface Keeper {
  readonly run: <Task extends keyof KeeperTasks>(
    task: Task,
    ...args: Parameters<KeeperTasks[Task]>
  ) => ReturnType<KeeperTasks[Task]>;
  /** Ends after what is under way; idempotent. */
  close(): Promise<void>;
}

/** Makes the keeper of one chain. */
export function createKeeper(data: KeeperData): Keeper {
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let worker: Worker | undefined;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;

  const fail = (error: Error): void => {
    worker = undefined;
    for (const asker of waiting.values()) asker.reject(error);
    waiting.clear();
  };
  const start = (): Worker => {
    const started = new Worker(new URL("./keeperWorker.ts", import.meta.url), {
      workerData: data,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    started.on("message", ({ id, result, error }: { id: number; result?: unknown; error?: string }) => {
      const asker = waiting.get(id);
      waiting.delete(id);
      if (waiting.size === 0) idle = setTimeout(() => void end(), IDLE_MS).unref();
      if (error === undefined) asker?.resolve(result);
      else asker?.reject(new Error(error));
    });
    started.on("error", fail);
    started.on("exit", () => {
      if (worker === started) fail(new Error("the keeper's thread has ended"));
    });
    return started;
  };
  const run: Keeper["run"] = (task, ...args) =>
    new Promise((resolve, reject) => {
      clearTimeout(idle);
      worker ??= start();
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ id, task, args });
    }) as ReturnType<KeeperTasks[typeof task]>;

  /** The thread ends after its last call; a next call starts another one. */
  const end = (): Promise<void> =>
    new Promise((resolve) => {
      clearTimeout(idle);
      if (worker === undefined) {
        resolve();
        return;
      }
      worker.once("exit", () => resolve());
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ id: ++lastId, task: "close", args: [] });
      worker = undefined;
    });

  return {
    run: (task, ...args) => {
      if (closing !== undefined) return Promise.reject(new Error("the keeper is closed")) as never;
      return run(task, ...args);
    },
    close() {
      closing ??= end();
      return closing;
    },
  };
}
