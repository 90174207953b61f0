import { CRASH_TEXT, type RunError } from "../../run.ts";
import { SourceSyntaxError, type CompiledSource } from "./compile.ts";
import { describeThrown } from "./errors.ts";

/**
 * Creates the error the nodes report for a source that does not compile or ends with something uncaught, along with the
 * cause.
 */
export function crashError(
  kind: "syntax" | "thrown",
  thrown: unknown,
  source: CompiledSource | undefined,
): RunError {
  const described =
    thrown instanceof SourceSyntaxError
      ? { detail: thrown.detail, ...thrown.place }
      : describeThrown(thrown, source);
  return { ...described, kind, message: CRASH_TEXT };
}
