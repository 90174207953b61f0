import type { AnvilProcess } from "./anvil.ts";
import { createStartLimit } from "./startLimit.ts";

/**
 * Where the process of a chain stands:
 *
 * - `starting` → `running` when it was launched for the first time and everything around it is ready;
 * - `running` → `restarting` when it ends by itself, doesn't answer, or serves another chain than ours;
 * - `restarting` → `running` when another one has everything that the chain had, or → `failed` when that went wrong too often;
 * - any → `closed`.
 */
export type ProcessPhase = "starting" | "running" | "restarting" | "failed" | "closed";

/** Keeps the process of one chain running. */
export interface Supervisor {
  phase(): ProcessPhase;
  /** The chain can't be used, or doesn't have all of its blocks yet. */
  isDown(this: void): boolean;
  /** Everything that needs the process is ready: from now on it is started again when it ends. Resolves when it runs. */
  begin(): Promise<void>;
  /** The process can't be relied on: ends it and starts it again on what is on disk. Resolves when that is over, either way. */
  restart(): Promise<void>;
  /** Ends the process and starts none any more; what is under way is given up. Idempotent. */
  close(): Promise<void>;
}

/** Options of {@link createSupervisor}. */
export interface SupervisorOptions {
  /** Starts a process, which `onExit` is told the end of; ends it again when something on the way fails. */
  readonly launch: (onExit: () => void) => Promise<AnvilProcess>;
  /** Called when the process is gone, before another one is launched. Gives back what is to be done in the end, either way. */
  readonly onDown: () => Promise<() => void>;
  /** Whether the new process is fit to go on with; when it rejects, that one is ended and another one started. */
  readonly check: () => Promise<void>;
  /** Goes on with the new process. */
  readonly onUp: () => void;
  /** Told when no more attempts are made. */
  readonly onFailed: () => void;
  readonly onError: (error: unknown) => void;
}

/** Launches the first process and creates its supervisor; rejects when that one doesn't start. */
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

  const relaunch = async (): Promise<void> => {
    await endProcess();
    const release = await onDown();
    try {
      while (!isClosed() && mayStart()) {
        try {
          await launch();
          await check();
          // It may have ended meanwhile.
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

  /** One at a time: a process that ends while it is being started is started again by the same loop. */
  const restart = (): Promise<void> => {
    if (phase === "closed" || phase === "failed") return Promise.resolve();
    phase = "restarting";
    return (restarting ??= relaunch().finally(() => {
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
