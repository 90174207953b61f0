import { existsSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { totalmem } from "node:os";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { createAnvil } from "@viem/anvil";
import { TycheError, messageOf } from "../../../lib/errors.ts";
import { once } from "../../../lib/memo.ts";

/** The only gas price of an embedded chain, whose base fee is 0: 1 gwei, below every gas lane. */
export const EMBEDDED_GAS_PRICE_WEI = 1_000_000_000n;
/** Gas limit of a block; fits a request transaction with a full batch and long parameters. */
export const EMBEDDED_BLOCK_GAS_LIMIT = 120_000_000n;
/** Past states that Anvil keeps: a call on "latest" must still find its block after another one has arrived. */
export const KEPT_STATES = 32;
/**
 * Blocks whose transactions Anvil keeps, 27 kB per preset; the history has the older ones. Kept low because every dump of the state
 * contains them, at 9 ms per megabyte.
 */
export const KEPT_TRANSACTION_BLOCKS = 64;
/** The newest hardfork without EIP-2935, whose ring of 8,191 slots would slow down every block. */
const HARDFORK = "Cancun";
const START_TIMEOUT_MS = 30_000;
const EARLIER_PROCESS_TIMEOUT_MS = 5_000;

/**
 * Memory limit of Anvil's data segment in KiB, because tracing a call can take any amount of memory: 4 GiB, or half of what this process may
 * use. When Anvil exceeds the limit it dies and is restarted without losing anything, and the machine's other processes are spared. In
 * ordinary use it stays below 100 MB.
 */
export const MAX_DATA_KILOBYTES = Math.min(
  4 * 2 ** 20,
  Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 / 1024),
);

/**
 * Writes its process id and the socket's path to the file given as the first argument, then execs the command that follows, which
 * keeps the process id. Only the owner may read what it and Anvil write.
 */
const LAUNCH_SCRIPT = `umask 077; echo $$ "$2" > "$1"; ulimit -d "$3" 2>/dev/null; shift 3; exec "$@"`;
/**
 * `setsid` shields Anvil from signals to the service's process group, so that the service can finish its requests first; `setpriv`
 * asks the kernel to kill Anvil when the service dies.
 */
const launcherOf = (isolation: readonly string[]): readonly string[] =>
  process.platform === "linux" ? ["setsid", ...isolation, "setpriv", "--pdeathsig", "KILL", "--"] : isolation;

/** An Anvil process that this service started. */
export interface AnvilProcess {
  /** Whether Anvil answers only on its Unix socket; otherwise it also listens on a TCP port of a loopback address. */
  readonly isIsolated: boolean;
  /** Returns the memory that it takes at the moment, in KiB; 0 where the system doesn't say (not Linux). */
  residentKilobytes(): number;
  /** Kills Anvil at once: its data is either on disk already or disposable. Idempotent. */
  close(): Promise<void>;
}

export interface AnvilOptions {
  readonly chainId: number;
  /** Path of its Unix socket. */
  readonly ipcPath: string;
  /** Path of the file that holds its process id. */
  readonly pidFile: string;
  /** State to start from, if the file exists; otherwise a new chain starts. */
  readonly stateFile: string;
  /** Default: {@link MAX_DATA_KILOBYTES}. */
  readonly maxDataKilobytes?: number | undefined;
  /** Default: {@link KEPT_TRANSACTION_BLOCKS}. */
  readonly keptTransactionBlocks?: number;
  /** Called when the process exits without having been asked to; `isOutOfMemory`: because it reached that limit. */
  readonly onExit: (isOutOfMemory: boolean) => void;
}

/**
 * Starts Anvil in a session of its own, off the network. Anvil dies with this process, however this process ends.
 *
 * @throws {EmbeddedChainError} `chain_unavailable` when it does not start.
 */
export async function startAnvil(options: AnvilOptions): Promise<AnvilProcess> {
  const { chainId, stateFile, pidFile, ipcPath } = options;
  const limit = String(options.maxDataKilobytes ?? MAX_DATA_KILOBYTES);
  const { command, host, isComplete } = await findIsolation();
  await endEarlierProcess(pidFile);
  rmSync(ipcPath, { force: true });
  const anvil = createAnvil({
    anvilBinary: findBinary(),
    host,
    port: 0,
    noCors: true,
    chainId,
    gasLimit: EMBEDDED_BLOCK_GAS_LIMIT,
    blockBaseFeePerGas: 0,
    gasPrice: EMBEDDED_GAS_PRICE_WEI,
    order: "fifo",
    hardfork: HARDFORK as never,
    pruneHistory: KEPT_STATES,
    transactionBlockKeeper: options.keptTransactionBlocks ?? KEPT_TRANSACTION_BLOCKS,
    ...(existsSync(stateFile) ? { loadState: stateFile } : {}),
    ipc: ipcPath,
    startTimeout: START_TIMEOUT_MS,
    execArgs: (([binary, flags, execaOptions]: [string, string[], object]) => [
      "sh",
      ["-c", LAUNCH_SCRIPT, "anvil", pidFile, ipcPath, limit, ...launcherOf(command), binary, ...flags],
      execaOptions,
    ]) as never,
  });

  let ended: () => void = () => {};
  const exited = new Promise<void>((resolve) => (ended = resolve));
  let closing = false;
  let started = false;
  let output = "";
  let isOutOfMemory = false;
  anvil.on("message", (message) => {
    if (!started) output += message;
    // The rest of the line comes in pieces.
    isOutOfMemory ||= message.includes("memory allocation of");
  });
  anvil.on("exit", () => {
    rmSync(pidFile, { force: true });
    ended();
    if (started && !closing) options.onExit(isOutOfMemory);
  });
  try {
    await anvil.start();
  } catch (cause) {
    throw new EmbeddedChainError(
      `the embedded chain ${chainId} did not start: ${output.trim() || messageOf(cause)}`,
      cause,
    );
  }
  started = true;
  // Read right away: the file may be removed while the process runs.
  const pid = readPid(pidFile)?.pid;
  return {
    isIsolated: isComplete,
    residentKilobytes: () => residentKilobytesOf(pid),
    async close() {
      if (!closing) {
        closing = true;
        kill(pid);
      }
      await exited;
    },
  };
}

/** The earlier service may have died a moment ago, with its Anvil still on its way out. */
async function endEarlierProcess(pidFile: string): Promise<void> {
  const deadline = performance.now() + EARLIER_PROCESS_TIMEOUT_MS;
  while (killOurs(pidFile) && performance.now() < deadline) await sleep(10);
  rmSync(pidFile, { force: true });
}

/** Kills the process named in the file; returns whether there was one. */
function killOurs(pidFile: string): boolean {
  const named = readPid(pidFile);
  if (named === undefined) return false;
  try {
    // The process id may have been reused: only a process started with this very socket counts.
    const isOurs =
      process.platform !== "linux" ||
      readFileSync(`/proc/${named.pid}/cmdline`, "utf8").includes(named.ipcPath);
    return isOurs && kill(named.pid);
  } catch {
    return false;
  }
}

function readPid(pidFile: string): { readonly pid: number; readonly ipcPath: string } | undefined {
  if (!existsSync(pidFile)) return undefined;
  const [, pid, ipcPath] = /^(\d+) (.+)$/m.exec(readFileSync(pidFile, "utf8")) ?? [];
  return pid === undefined || ipcPath === undefined ? undefined : { pid: Number(pid), ipcPath };
}

/** Returns whether there was such a process to kill. */
function kill(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

function residentKilobytesOf(pid: number | undefined): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Returns the path of the Anvil binary that the npm package installs for this platform. */
export function findBinary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json"));
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  return join(dirname(require.resolve(`${name}/package.json`)), "bin", "anvil");
}

/** An embedded chain can't be served. */
export class EmbeddedChainError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "chain_unavailable", blame: "us", cause });
  }
}

/** How a child process is started so that nobody can reach it over a network. */
interface Isolation {
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
const findIsolation: () => Promise<Isolation> = once(probe);

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
