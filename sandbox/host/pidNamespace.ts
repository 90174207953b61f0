import { spawnSync } from "node:child_process";
import { findTool } from "./landlock.ts";

/**
 * Finds out whether a process can have process ids of its own: whatever it starts ends with it, and it sees and signals nothing else.
 *
 * A process more stands between parent and child, `unshare`, which waits. If the parent is killed, the kernel kills `unshare`, with that the
 * child, and with that all that the child has started, whatever session or group it has gone to.
 *
 * @param folders Where util-linux's `setpriv` and `unshare` are looked for.
 * @returns the words that start a command so, to be put before it; empty where it doesn't work.
 */
export function probePidNamespace(folders: readonly string[]): readonly string[] {
  if (process.platform !== "linux") return [];
  const [setpriv, unshare] = [findTool("setpriv", folders), findTool("unshare", folders)];
  if (setpriv === null || unshare === null) return [];
  // Only root has such a namespace without a user namespace around it.
  const user = process.getuid?.() === 0 ? [] : ["--user"];
  const words = [setpriv, "--pdeathsig", "KILL", unshare, ...user, "--pid", "--fork", "--kill-child=KILL"];
  const probe = [...words.slice(1), findTool("true", folders) ?? "true"];
  const { status } = spawnSync(setpriv, probe, { stdio: "ignore", env: {} });
  return status === 0 ? words : [];
}
