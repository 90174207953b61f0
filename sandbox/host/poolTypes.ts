import type { RunRequest, RunResult } from "../run.ts";
import type { HostCall } from "./hostCall.ts";
import type { Containment } from "./launch.ts";

/** Options of `createSandboxPool`. */
export interface SandboxPoolOptions {
  /** Quick sources that run at once. Default: the machine's cores. */
  readonly concurrency?: number;
  /** Most child processes, including those of slow and waiting sources. Default: 4 × concurrency + 1. */
  readonly maxWorkers?: number;
  /** Runs that may wait; one more is refused with `sandbox_overloaded`. Default 4,096. */
  readonly maxQueue?: number;
  /** Runs that one caller may have waiting. Default: half of `maxQueue`. */
  readonly maxQueuePerCaller?: number;
  /** What sources may ask the host for, by name. Default: nothing. */
  readonly hostCalls?: Readonly<Record<string, HostCall>>;
  /**
   * Layers of confinement that may be missing: `system-calls`, `user`.
   * Default: those named by the environment variable `TYCHE_ACCEPT_MISSING`, comma-separated.
   */
  readonly acceptMissing?: readonly string[];
  /**
   * Called once for every missing layer, whether accepted or covered by another; for each child that does not start, with
   * the cause and the wait before the next attempt; and once when children start again. Default: ignored.
   */
  readonly onWarning?: (message: string) => void;
}

/** Counters of a pool; the first five are current values, the others only grow. */
export interface SandboxStats {
  readonly workers: number;
  /** Workers waiting for a run. */
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
  /** False before the first child is ready, and while none serves and the last three starts failed. */
  readonly isReady: boolean;
  /** The layers around each child here: `system-calls`, `landlock`, `user`, `network`, `permissions`. */
  readonly layers: readonly string[];
  /** What is wrong, in one sentence without a full stop; set even if the pool serves although a child did not start. */
  readonly why?: string;
  /** Failed starts in a row; absent: none. */
  readonly failures?: number;
  /** Why the last one failed: an error code, an exit code or a signal. */
  readonly reason?: string;
  /** Wait between the last attempt and the next, in ms. */
  readonly retryMs?: number;
}

/** Child processes that run sources, each one at a time. */
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
   * @throws {SandboxUnavailableError} `sandbox_unavailable` after three failed starts.
   */
  readonly ready: () => Promise<void>;
  readonly status: () => SandboxStatus;
  readonly stats: () => SandboxStats;
  /** Kills all children; waiting and running runs reject with `sandbox_closed`. */
  readonly close: () => Promise<void>;
}
