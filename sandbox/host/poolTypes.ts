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
  /** Hears, once, about every layer of containment that this machine does not offer. Default: ignored. */
  readonly onWarning?: (message: string) => void;
}

/** Counters of a pool; the first four are present values, the others grow. */
export interface SandboxStats {
  readonly workers: number;
  readonly busy: number;
  readonly queued: number;
  readonly containment: Containment;
  readonly started: number;
  readonly runs: number;
  readonly killed: Readonly<Record<string, number>>;
}

/** Child processes that run sources, one at a time each. */
export interface SandboxPool {
  /**
   * Runs a source. Nothing the source does makes it reject.
   * @throws {InvalidRunError} `invalid_run`, {@link SandboxOverloadedError} `sandbox_overloaded`,
   * {@link SandboxClosedError} `sandbox_closed`, {@link RunAbortedError} `run_aborted`.
   */
  readonly run: (request: RunRequest) => Promise<RunResult>;
  /** Resolves when the first child can take a run. */
  readonly ready: () => Promise<void>;
  readonly stats: () => SandboxStats;
  /** Kills all children; waiting and running runs reject with `sandbox_closed`. */
  readonly close: () => Promise<void>;
}
