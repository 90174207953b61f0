import { existsSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createAnvil } from "@viem/anvil";
import { TycheError, messageOf } from "../../lib/errors.ts";
import { findIsolation } from "./isolation.ts";

/** The one gas price of an embedded chain, base fee 0: 1 gwei, under every gas lane. */
export const EMBEDDED_GAS_PRICE_WEI = 1_000_000_000n;
/** Gas of one block; room for a request transaction of a full batch with long parameters. */
export const EMBEDDED_BLOCK_GAS_LIMIT = 120_000_000n;
/** Past states kept: a call on "latest" must still find its block when another has come in between. */
export const KEPT_STATES = 32;
/**
 * Blocks whose transactions Anvil keeps, 27 kB a preset; the history has the older ones. Few, because each dump of the state
 * carries them: 9 ms a megabyte.
 */
export const KEPT_TRANSACTION_BLOCKS = 64;
/** The newest without EIP-2935, whose ring of 8,191 slots would slow every block. */
const HARDFORK = "Cancun";
const START_TIMEOUT_MS = 30_000;
const EARLIER_PROCESS_TIMEOUT_MS = 5_000;

/**
 * Memory of Anvil's own: some trace of a call can take any amount. Where it ends, so does the process, which is started again and has
 * lost nothing; the machine's other processes are spared. In ordinary use it stays below 100 MB.
 */
const MAX_DATA_KILOBYTES = 4 * 2 ** 20;

/**
 * Leaves its process id and the path of its socket in the file named first, then becomes the command that follows, with the same
 * process id.
 */
const LAUNCH_SCRIPT = `echo $$ "$2" > "$1"; shift 2; ulimit -d ${MAX_DATA_KILOBYTES} 2>/dev/null; exec "$@"`;
/**
 * `setsid` keeps signals to the service's process group away from Anvil, so that the service ends its requests first; `setpriv` asks
 * the kernel to end Anvil when the service dies.
 */
const launcherOf = (isolation: readonly string[]): readonly string[] =>
  process.platform === "linux" ? ["setsid", ...isolation, "setpriv", "--pdeathsig", "KILL", "--"] : isolation;

/** A running Anvil of ours. */
export interface AnvilProcess {
  /** Whether it answers on its Unix socket alone; otherwise on a TCP port of a loopback address, too. */
  readonly isIsolated: boolean;
  /** Ends it at once: what it knows is on disk already, or is to be forgotten. Idempotent. */
  close(): Promise<void>;
}

/** Options of {@link startAnvil}. */
export interface AnvilOptions {
  readonly chainId: number;
  /** Path for its Unix socket. */
  readonly ipcPath: string;
  /** Path of the file that names its process. */
  readonly pidFile: string;
  /** State to begin with, if the file exists; a new chain otherwise. */
  readonly stateFile: string;
  /** Told when the process ends without having been asked to. */
  readonly onExit: () => void;
}

/**
 * Starts Anvil. It runs in a session of its own, off the network, and ends when this process dies, however that happens.
 *
 * @throws {EmbeddedChainError} `chain_unavailable` when it does not start.
 */
export async function startAnvil(options: AnvilOptions): Promise<AnvilProcess> {
  const { chainId, stateFile, pidFile, ipcPath } = options;
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
    transactionBlockKeeper: KEPT_TRANSACTION_BLOCKS,
    ...(existsSync(stateFile) ? { loadState: stateFile } : {}),
    ipc: ipcPath,
    startTimeout: START_TIMEOUT_MS,
    execArgs: (([binary, flags, execaOptions]: [string, string[], object]) => [
      "sh",
      ["-c", LAUNCH_SCRIPT, "anvil", pidFile, ipcPath, ...launcherOf(command), binary, ...flags],
      execaOptions,
    ]) as never,
  });

  let ended: () => void = () => {};
  const exited = new Promise<void>((resolve) => (ended = resolve));
  let closing = false;
  let started = false;
  let output = "";
  anvil.on("message", (message) => {
    if (!started) output += message;
  });
  anvil.on("exit", () => {
    rmSync(pidFile, { force: true });
    ended();
    if (started && !closing) options.onExit();
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
  // Read now: somebody may remove the file while the process runs.
  const pid = readPid(pidFile)?.pid;
  return {
    isIsolated: isComplete,
    async close() {
      if (!closing) {
        closing = true;
        kill(pid);
      }
      await exited;
    },
  };
}

/** The earlier service may have died a moment ago, and its Anvil be on its way out. */
async function endEarlierProcess(pidFile: string): Promise<void> {
  const deadline = Date.now() + EARLIER_PROCESS_TIMEOUT_MS;
  while (killOurs(pidFile) && Date.now() < deadline) await sleep(10);
  rmSync(pidFile, { force: true });
}

/** Kills the process that the file names; gives back whether there was one. */
function killOurs(pidFile: string): boolean {
  const named = readPid(pidFile);
  if (named === undefined) return false;
  try {
    // The number may belong to another program by now: only one that was started with this very socket counts.
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

/** Whether there was such a process to kill. */
function kill(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

/** Path of the Anvil binary that the npm package brought for this platform. */
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
