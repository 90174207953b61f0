import type { RunRequest, RunResult } from "../run.ts";
import type { HostCall } from "./hostCall.ts";
import type { Containment } from "./launch.ts";

/** Options of `createSandboxPool`. */
export interface SandboxPoolOptions {
  /** Quick sources that run at once. Default: the machine's cores. */
  readonly concurrency?: number;
  /** Child processes at most, slow and waiting sources included. Default: 4 × concurrency + 1. */
  readonly maxWorkers?: number;
  /** Runs that may wait; one more is refused with `sandbox_overloaded`. Default 4,096. */
  readonly maxQueue?: number;
  /** Runs that may wait for one caller. Default: half of `maxQueue`. */
  readonly maxQueuePerCaller?: number;
  /** What sources may ask the host for, by name. Default: nothing. */
  readonly hostCalls?: Readonly<Record<string, HostCall>>;
  /**
   * Layers of containment that may be missing: `system-calls`, `user`.
   * Default: those that the environment variable `TYCHE_ACCEPT_MISSING` names, comma-separated.
   */
  readonly acceptMissing?: readonly string[];
  /**
   * Hears, once, about every layer that is missing by leave or behind another; and about each child that does not start,
   * with the cause, and when they start again. Default: ignored.
   */
  readonly onWarning?: (message: string) => void;
}

/** Counters of a pool; the first five are present values, the others grow. */
export interface SandboxStats {
  readonly workers: number;
  /** Workers that wait for a run. */
  readonly idle: number;
  readonly busy: number;
  readonly queued: number;
  readonly containment: Containment;
  readonly started: number;
  readonly runs: number;
  readonly killed: Readonly<Record<string, number>>;
}

/** Whether a pool takes runs. */
export interface SandboxStatus {
  /** False before the first child is ready, and when none serves and the last three did not start. */
  readonly isReady: boolean;
  /** The layers around each child here: `system-calls`, `landlock`, `user`, `network`, `permissions`. */
  readonly layers: readonly string[];
  /** What is wrong, in one sentence without a full stop; also where the pool serves although a child did not start. */
  readonly why?: string;
  /** Failed starts in a row; absent: none. */
  readonly failures?: number;
  /** What happened to the last one: an error code, an exit code or a signal. */
  readonly reason?: string;
  /** Wait between the last and the next try, in ms. */
  readonly retryMs?: number;
}

/** Child processes that run sources, one at a time each. */
export interface SandboxPool {
  /**
   * Runs a source. Nothing the source does makes it reject.
   * @throws {InvalidRunError} `invalid_run`, {@link SandboxOverloadedError} `sandbox_overloaded`,
   * {@link SandboxUnavailableError} `sandbox_unavailable`, {@link SandboxClosedError} `sandbox_closed`,
   * {@link SandboxInterruptedError} `sandbox_interrupted`, {@link RunAbortedError} `run_aborted`.
   */
  readonly run: (request: RunRequest) => Promise<RunResult>;
  /**
   * Resolves when the first child can take a run.
   * @throws {SandboxUnavailableError} `sandbox_unavailable` after three starts that failed.
   */
  readonly ready: () => Promise<void>;
  readonly status: () => SandboxStatus;
  readonly stats: () => SandboxStats;
  /** Kills all children; waiting and running runs reject with `sandbox_closed`. */
  readonly close: () => Promise<void>;
}
