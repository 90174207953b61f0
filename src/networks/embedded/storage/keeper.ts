import { Worker } from "node:worker_threads";
import { BrokenConnectionError } from "../../../evm/connection.ts";
import { ForgottenError } from "./history.ts";
import type { KeeperAnswer, KeeperData, KeeperTasks } from "./keeperWorker.ts";

/** An idle thread is stopped after this: it takes about 20 MB, and starts in 50 ms. */
const IDLE_MS = 10_000;
/** What the thread reads is soon garbage: with V8's default, each chain's thread would hold on to 100 MB of it. */
const YOUNG_MB = 12;

/**
 * Stores what a chain's node forgets, and dumps its state. All of this reads a lot, so it runs in a thread of its own, which
 * exists only while there is work.
 */
export interface Keeper {
  readonly run: <Task extends keyof KeeperTasks>(
    task: Task,
    ...args: Parameters<KeeperTasks[Task]>
  ) => ReturnType<KeeperTasks[Task]>;
  /** Stops after the work in flight; idempotent. */
  close(): Promise<void>;
}

/** Errors cross from the thread as texts of a kind. */
const ERRORS = { broken: BrokenConnectionError, forgotten: ForgottenError, other: Error } as const;

/** Creates the keeper of one chain. */
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
    started.on("message", ({ id, result, error, kind }: KeeperAnswer) => {
      const asker = waiting.get(id);
      waiting.delete(id);
      if (waiting.size === 0) idle = setTimeout(() => void end(), IDLE_MS).unref();
      if (error === undefined) asker?.resolve(result);
      else asker?.reject(new ERRORS[kind ?? "other"](error));
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

  /** Ends the thread after its last call; the next call starts another one. */
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
