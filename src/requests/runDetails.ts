import type { RunError } from "../../sandbox/index.ts";
import type { ParameterViolation } from "../lib/invalidParameter.ts";

interface Place {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/**
 * Describes what is wrong with a source whose run failed, if the nodes' own text doesn't say so; in the form of a parameter
 * violation.
 * @param path JSON Pointer to the parameter that named the source.
 */
export function describeRunError(
  { kind, detail, line, column }: Pick<RunError, "kind" | "detail"> & Place,
  path: string,
): { readonly details?: ParameterViolation[] } {
  if (detail === undefined) return {};
  const place = kind === "syntax" && line !== undefined ? ` (line ${line}, column ${column ?? 1})` : "";
  return { details: [{ path, message: `${detail}${place}` }] };
}

/** Members that every failed run has in common. */
export const FAILED_RUN = {
  success: false,
  result: "0x",
  parsedResult: "",
  value: null,
  code: "function_failed",
} as const;
