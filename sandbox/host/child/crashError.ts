import { CRASH_TEXT, type RunError } from "../../run.ts";
import { SourceSyntaxError, type CompiledSource } from "./compile.ts";
import { describeThrown } from "./errors.ts";

/** Says what the nodes say of a source that does not compile, or that ends with something uncaught, and what it was. */
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
