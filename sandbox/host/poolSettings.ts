import { availableParallelism } from "node:os";
import type { SandboxPoolOptions } from "./poolTypes.ts";

/** Most runs of a group handed to a child at once. */
export const MAX_BATCH = 16;
/** A run older than this no longer counts against `concurrency`: slow sources must not hold up the quick ones. */
export const SLOW_MS = 50;
/** After a run that took this long, the runs queued in its child go elsewhere if others wait: a caller's turn is one such run. */
export const LONG_MS = 1_000;
/** After this many failed starts in a row, and with no child that serves, runs are refused instead of kept waiting. */
export const MAX_START_FAILURES = 3;

/** Returns a pool's settings with their defaults; see {@link SandboxPoolOptions}. */
export function settingsOf(options: SandboxPoolOptions) {
  const concurrency = options.concurrency ?? availableParallelism();
  const standing = concurrency + 1;
  const maxWorkers = Math.max(standing, options.maxWorkers ?? 4 * concurrency + 1);
  const maxQueue = options.maxQueue ?? 4_096;
  return {
    concurrency,
    /** Most children kept running without work: one for each quick source at once, and a warm spare. */
    standing,
    maxWorkers,
    /** Children that one caller may hold. */
    perCaller: Math.max(1, Math.floor(maxWorkers / 2)),
    maxQueue,
    maxQueuePerCaller: options.maxQueuePerCaller ?? Math.ceil(maxQueue / 2),
    hostCalls: options.hostCalls ?? {},
  };
}
