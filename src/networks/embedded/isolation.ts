import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "../../lib/memo.ts";
import { promisify } from "node:util";

/** How a child process is started so that nobody can reach it over a network. */
export interface Isolation {
  /** Words of the command line that precede the program's own. */
  readonly command: readonly string[];
  /** Address for a program that insists on a TCP port. */
  readonly host: string;
  /** Whether that address is in a network namespace of its own, which no other process shares. */
  readonly isComplete: boolean;
}

const run = promisify(execFile);
const PROBE_TIMEOUT_MS = 5_000;
/** The first works as root; the second goes through a user namespace, in which an ordinary user may create one. */
const NAMESPACE_COMMANDS = [
  ["unshare", "--net"],
  ["unshare", "--user", "--map-root-user", "--net"],
] as const;

/**
 * Determines, once per process, how to keep Anvil off the network: it can't be told not to listen on TCP. On Linux it gets a
 * network namespace of its own, so that its Unix socket is the only way in and it can't reach any other host. Where namespaces
 * are not allowed, it listens on a random one of the 16 million loopback addresses, which no web page finds; where there is only
 * one loopback address (not on Linux), on that.
 */
export const findIsolation: () => Promise<Isolation> = once(probe);

async function probe(): Promise<Isolation> {
  if (process.platform !== "linux") return { command: [], host: "127.0.0.1", isComplete: false };
  for (const command of NAMESPACE_COMMANDS) {
    const [program, ...flags] = command;
    try {
      await run(program, [...flags, "true"], { timeout: PROBE_TIMEOUT_MS });
      // The namespace has no address, not even 127.0.0.1, until its loopback interface is brought up.
      return { command, host: "0.0.0.0", isComplete: true };
    } catch {
      // Try the next command, if any.
    }
  }
  const [a, b, c] = randomBytes(3);
  return { command: [], host: `127.${a}.${b}.${Math.min(254, Math.max(1, c!))}`, isComplete: false };
}
