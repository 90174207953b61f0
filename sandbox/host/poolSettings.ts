import { availableParallelism } from "node:os";
import type { SandboxPoolOptions } from "./poolTypes.ts";

/** Returns a pool's numbers, with their defaults: see {@link SandboxPoolOptions}. */
export function settingsOf(options: SandboxPoolOptions) {
  const concurrency = options.concurrency ?? availableParallelism();
  const standing = concurrency + 1;
  const maxWorkers = Math.max(standing, options.maxWorkers ?? 4 * concurrency + 1);
  const maxQueue = options.maxQueue ?? 4_096;
  return {
    concurrency,
    /** Children that are kept: one for each quick source at once, and a warm spare. */
    standing,
    maxWorkers,
    /** Children that one caller may take. */
    perCaller: Math.max(1, Math.floor(maxWorkers / 2)),
    maxQueue,
    maxQueuePerCaller: options.maxQueuePerCaller ?? Math.ceil(maxQueue / 2),
    hostCalls: options.hostCalls ?? {},
  };
}
