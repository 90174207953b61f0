import { spawnSync } from "node:child_process";
import { findTool } from "./landlock.ts";

/**
 * Finds out whether a process can get a PID namespace of its own: whatever it starts ends with it, and it sees and signals nothing else.
 *
 * One more process, `unshare`, stands between parent and child and waits. If the parent is killed, the kernel kills `unshare`, then the
 * child, and then everything the child has started, whatever its session or group.
 *
 * @param folders Folders to search for util-linux's `setpriv` and `unshare`.
 * @returns The words to put before a command to start it that way; empty if it doesn't work.
 */
export function probePidNamespace(folders: readonly string[]): readonly string[] {
  if (process.platform !== "linux") return [];
  const [setpriv, unshare] = [findTool("setpriv", folders), findTool("unshare", folders)];
  if (setpriv === null || unshare === null) return [];
  // Only root can create such a namespace without a user namespace around it.
  const user = process.getuid?.() === 0 ? [] : ["--user"];
  const words = [setpriv, "--pdeathsig", "KILL", unshare, ...user, "--pid", "--fork", "--kill-child=KILL"];
  const probe = [...words.slice(1), findTool("true", folders) ?? "true"];
  const { status } = spawnSync(setpriv, probe, { stdio: "ignore", env: {} });
  return status === 0 ? words : [];
}
