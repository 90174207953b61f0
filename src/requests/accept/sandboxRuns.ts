import { SandboxError, type SandboxPool } from "../../../sandbox/index.ts";
import { TycheError } from "../../lib/errors.ts";

/** Sandbox codes that mean it can't take a run at the moment: callers should retry. */
const BUSY: ReadonlySet<string> = new Set([
  "sandbox_overloaded",
  "sandbox_unavailable",
  "sandbox_interrupted",
  "sandbox_closed",
]);

/**
 * Wraps a pool so that its errors become `TycheError`s: the sandbox is a separate package with errors of its own. A run that
 * can't be taken at the moment throws `overloaded`; any other refusal keeps its code and is a defect.
 */
export function withOwnErrors(pool: SandboxPool): SandboxPool {
  return {
    ...pool,
    run: (request) =>
      pool.run(request).catch((error: unknown) => {
        throw error instanceof SandboxError ? refusalOf(error) : error;
      }),
  };
}

/** Whether a run was refused, or ended, because this process is closing. */
export function isClosing(error: unknown): boolean {
  return (
    error instanceof TycheError &&
    error.cause instanceof SandboxError &&
    error.cause.code === "sandbox_closed"
  );
}

function refusalOf(cause: SandboxError): TycheError {
  const code = BUSY.has(cause.code) ? "overloaded" : cause.code;
  const { blame, retryable, details } = cause;
  return new TycheError(cause.message, { code, blame, retryable, details, cause });
}
