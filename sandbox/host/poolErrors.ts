import type { StartTrouble } from "./workerSet.ts";
import { SandboxError } from "./sandboxError.ts";

/** Too many runs are waiting: answer 503 and let the caller come back. */
export class SandboxOverloadedError extends SandboxError {
  constructor(queued: number, limit: number) {
    super(
      `The sandbox has ${queued} runs waiting; a caller's next one is taken below ${limit}. Try again shortly.`,
      {
        code: "sandbox_overloaded",
        blame: "us",
        retryable: true,
        details: { queued, limit },
      },
    );
  }
}

/** No child serves, and none starts; the pool keeps trying, so a later call may succeed. */
export class SandboxUnavailableError extends SandboxError {
  constructor(trouble: StartTrouble) {
    super(`The sandbox can't run sources now: ${describeTrouble(trouble)}.`, {
      code: "sandbox_unavailable",
      blame: "us",
      retryable: true,
      details: { failures: trouble.failures, reason: trouble.reason, retryAfterMs: trouble.retryMs },
    });
  }
}

/**
 * Something outside killed the child that executed the run, and also the child of the second attempt: that says nothing
 * about the source.
 */
export class SandboxInterruptedError extends SandboxError {
  constructor() {
    super(
      "The sandbox process that ran the source was killed from outside, twice; the machine may be out of memory. Try again.",
      { code: "sandbox_interrupted", blame: "us", retryable: true },
    );
  }
}

/** The pool is closed. */
export class SandboxClosedError extends SandboxError {
  constructor() {
    super("The sandbox is closed.", { code: "sandbox_closed", blame: "us" });
  }
}

/** The run's own signal aborted it. */
export class RunAbortedError extends SandboxError {
  constructor() {
    super("The run was aborted by its caller.", { code: "run_aborted", blame: "caller" });
  }
}

/** Describes a start problem in words that operators and callers may read. */
export function describeTrouble({ failures, reason }: StartTrouble): string {
  const times = failures === 1 ? "did not start" : `did not start ${failures} times in a row`;
  return `its processes ${times} (${reason}); it retries by itself`;
}
