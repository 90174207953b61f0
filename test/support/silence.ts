import { readFileSync } from "node:fs";
import path from "node:path";
import type { TycheProcess } from "./tyche.ts";

/**
 * Stops the node of an embedded chain, and those that take its place: the service replaces a node that hangs for ten seconds. Returns what lets
 * it go on; idempotent.
 */
export function silenceNode({ dataDir }: Pick<TycheProcess, "dataDir">, network: string): () => void {
  const file = path.join(dataDir, "chains", network, "anvil.pid");
  const send = (signal: "SIGSTOP" | "SIGCONT"): void => {
    try {
      process.kill(Number.parseInt(readFileSync(file, "utf8"), 10), signal);
    } catch {
      // It has been killed, and another is about to start.
    }
  };
  send("SIGSTOP");
  const timer = setInterval(() => send("SIGSTOP"), 10);
  return () => {
    clearInterval(timer);
    send("SIGCONT");
  };
}
