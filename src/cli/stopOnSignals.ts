import { constants } from "node:os";
import type { Terminal } from "./terminal.ts";

/** Calls in flight get 11 seconds, networks a little more; a supervisor that kills after 30 finds the process gone. */
const STOP_LIMIT_MS = 25_000;
/** The process that has started this one. */
const PARENT = process.ppid;
const PARENT_INTERVAL_MS = 250;

/**
 * The first signal lets what is in flight finish, for a limited time; the second ends the process at once. Nothing is lost either way.
 *
 * npx ends with a SIGTERM, and so does the shell in which it runs a command, but neither hands it on: then the end of that shell
 * is the signal.
 */
export function stopOnSignals(running: { close(): Promise<void> }, { out, err, colors }: Terminal): void {
  let isStopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(128 + constants.signals[signal]);
    isStopping = true;
    out(colors.dim(`${signal}: finishing what is in flight; press again to stop at once`));
    setTimeout(() => {
      err(
        `not everything finished within ${STOP_LIMIT_MS / 1000} s; the next start continues from the stored state`,
      );
      process.exit(1);
    }, STOP_LIMIT_MS).unref();
    const began = performance.now();
    void running.close().then(() => {
      out(colors.dim(`stopped after ${((performance.now() - began) / 1000).toFixed(1)} s`));
      process.exit(0);
    });
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  if (process.env["npm_command"] !== "exec") return;
  const watch = setInterval(() => {
    if (process.ppid === PARENT) return;
    clearInterval(watch);
    if (!isStopping) stop("SIGTERM");
  }, PARENT_INTERVAL_MS).unref();
}
