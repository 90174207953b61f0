import { type AnvilProcess, EmbeddedChainError } from "./anvil.ts";
import { openUnixSocket } from "../../../evm/connection.ts";
import { repeat } from "../../../lib/repeat.ts";

/**
 * The phase of a chain's process:
 *
 * - `starting` → `running` when it has been launched for the first time and everything around it is ready;
 * - `running` → `restarting` when it dies, doesn't answer, or serves a chain that isn't ours;
 * - `restarting` → `running` when a new process has everything that the chain had, or → `failed` after too many attempts;
 * - any → `closed`.
 */
export type ProcessPhase = "starting" | "running" | "restarting" | "failed" | "closed";

/** Keeps the process of one chain running. */
export interface Supervisor {
  phase(): ProcessPhase;
  /** Whether the chain can't be used or doesn't have all of its blocks yet. */
  isDown(this: void): boolean;
  /** Everything that needs the process is ready: from here on it is restarted when it dies. Resolves when it runs. */
  begin(): Promise<void>;
  /**
   * Kills a process and restarts it from the data on disk. Resolves when that is over, successful or not.
   *
   * @param options.isPlanned whether the process could have gone on: its end isn't one of those that too many make a failure.
   */
  restart(options?: { readonly isPlanned?: boolean }): Promise<void>;
  /** Kills the process and starts no more; work in flight is abandoned. Idempotent. */
  close(): Promise<void>;
}

export interface SupervisorOptions {
  /** Starts a process and calls `onExit` when it dies; kills it again when a step on the way fails. */
  readonly launch: (onExit: () => void) => Promise<AnvilProcess>;
  /**
   * Called when the process is gone, before another one is launched. Returns a function to call in the end, successful or not.
   */
  readonly onDown: () => Promise<() => void>;
  /** Checks whether the new process is fit for use; when it rejects, that process is killed and another one started. */
  readonly check: () => Promise<void>;
  /** Continues with the new process. */
  readonly onUp: () => void;
  /** Called when no more attempts are made. */
  readonly onFailed: () => void;
  readonly onError: (error: unknown) => void;
}

/** Launches the first process and creates its supervisor; rejects when the process doesn't start. */
export async function startSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { onDown, check, onUp, onFailed, onError } = options;
  const mayStart = createStartLimit();
  let phase: ProcessPhase = "starting";
  let process: AnvilProcess | undefined;
  /** Set while `phase` is `restarting`. */
  let restarting: Promise<void> | undefined;

  const isClosed = (): boolean => phase === "closed";
  const isAlive = (): boolean => process !== undefined;
  const endProcess = async (): Promise<void> => {
    await process?.close();
    process = undefined;
  };
  const launch = async (): Promise<void> => {
    let own: AnvilProcess | undefined;
    let hasEnded = false;
    own = await options.launch(() => {
      hasEnded = true;
      if (process === own) process = undefined;
      if (phase === "running") void restart();
    });
    if (!hasEnded) process = own;
    if (isClosed()) await endProcess();
  };

  const relaunch = async (isPlanned: boolean): Promise<void> => {
    await endProcess();
    const release = await onDown();
    let isFree = isPlanned;
    try {
      while (!isClosed() && (isFree || mayStart())) {
        isFree = false;
        try {
          await launch();
          await check();
          // The process may have died meanwhile.
          if (!isAlive() || isClosed()) continue;
          phase = "running";
          onUp();
          return;
        } catch (error) {
          if (!isClosed()) onError(error);
          await endProcess();
        }
      }
      if (isClosed()) return;
      phase = "failed";
      onFailed();
    } finally {
      release();
    }
  };

  /** Runs one restart at a time: a process that dies while starting is restarted by the same loop. */
  const restart = ({ isPlanned = false } = {}): Promise<void> => {
    if (phase === "closed" || phase === "failed") return Promise.resolve();
    phase = "restarting";
    return (restarting ??= relaunch(isPlanned).finally(() => {
      restarting = undefined;
    }));
  };

  await launch();
  return {
    phase: () => phase,
    isDown: () => phase === "restarting" || phase === "failed",
    async begin() {
      if (phase !== "starting") return;
      phase = "running";
      if (!isAlive()) await restart();
    },
    restart,
    async close() {
      phase = "closed";
      await endProcess();
      await restarting;
    },
  };
}

/** Starts allowed within the window: a process that dies again and again has a problem that another restart doesn't solve. */
const MAX_STARTS = 20;
const WINDOW_MS = 60_000;

/** Creates a counter of recent starts of a process; each call counts one and says whether it is allowed. */
function createStartLimit(): () => boolean {
  let starts: number[] = [];
  return () => {
    const now = performance.now();
    starts = [...starts.filter((at) => at > now - WINDOW_MS), now];
    return starts.length <= MAX_STARTS;
  };
}

const PROBE_INTERVAL_MS = 1_000;
/** A block of 120 million gas takes Anvil a second or two. */
const PROBE_TIMEOUT_MS = 2_500;
/**
 * Consecutive probes without an answer. More than one, so that a pause of the service itself, which the probes can't detect,
 * doesn't count.
 */
const MAX_MISSED = 4;

/**
 * Polls Anvil for its newest block, on a connection of its own.
 *
 * @param options.isWatching whether Anvil should answer at all.
 * @param options.onHung called when Anvil has not answered for about 10 seconds: it is stopped, swapping, or deadlocked.
 * @returns a function that stops it.
 */
export function startWatchdog(options: {
  readonly ipcPath: string;
  readonly isWatching: () => boolean;
  readonly onHung: (error: EmbeddedChainError) => void;
}): () => void {
  const { ipcPath, isWatching, onHung } = options;
  const connection = openUnixSocket(ipcPath, PROBE_TIMEOUT_MS);
  let missed = 0;
  const probe = async (): Promise<void> => {
    if (!isWatching()) {
      missed = 0;
      return;
    }
    const beganMs = performance.now();
    try {
      await connection.request("eth_blockNumber", []);
      missed = 0;
    } catch {
      // A refused connection doesn't count: the process has died, and the supervisor knows.
      missed = performance.now() - beganMs < PROBE_TIMEOUT_MS ? 0 : missed + 1;
    }
    if (missed < MAX_MISSED || !isWatching()) return;
    missed = 0;
    onHung(
      new EmbeddedChainError(
        `Anvil has not answered for ${(MAX_MISSED * PROBE_TIMEOUT_MS) / 1000} seconds; restarting it`,
      ),
    );
  };
  const stop = repeat(probe, PROBE_INTERVAL_MS, () => {});
  return () => {
    stop();
    connection.close();
  };
}
