import type { RunError } from "../../../sandbox/index.ts";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";

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
  { kind, message, detail, line, column }: Pick<RunError, "kind" | "message" | "detail"> & Place,
  path: string,
): { readonly details?: ParameterViolation[] } {
  const variable = /^Requires env access(?: to "(\w+)")?/.exec(message);
  if (variable !== null) return { details: [{ path, message: describeEnvAccess(variable[1]) }] };
  if (detail === undefined) return {};
  const place = kind === "syntax" && line !== undefined ? ` (line ${line}, column ${column ?? 1})` : "";
  return { details: [{ path, message: `${detail}${place}` }] };
}

/** The nodes' text advises a flag that nobody can pass to them. */
function describeEnvAccess(variable: string | undefined): string {
  const read = variable === undefined ? "an environment variable" : `the environment variable ${variable}`;
  return `the source, or a module that it imports, reads ${read}, and the oracle nodes allow none; import a version that reads none, for example npm:ethers@6.13.0 instead of a later one`;
}

/** Members that every failed run has in common. */
export const FAILED_RUN = {
  success: false,
  result: "0x",
  parsedResult: "",
  value: null,
  code: "function_failed",
} as const;
