import { CRASH_TEXT, type RunError } from "../../../sandbox/index.ts";
import type { SimulateResult } from "../../api/types.ts";
import { TycheError } from "../../lib/errors.ts";
import { describeDryRun, describeReasons } from "../../text/failure.ts";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import { UNNAMED_ERROR } from "../../lib/truncateUtf8.ts";

interface Place {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/**
 * Describes a failed run. `err` is the nodes' own text, unless that is the one which they have for everything that goes wrong outside the
 * source's statements: then it says what went wrong, and where the source can't be parsed. `details` has what such a text leaves out, in
 * the form of a parameter violation.
 * @param path JSON Pointer to the parameter that named the source.
 */
export function describeRunError(
  { kind, message, detail, line, column }: Pick<RunError, "kind" | "message" | "detail"> & Place,
  path: string,
): { readonly err: string; readonly details?: ParameterViolation[] } {
  if (detail !== undefined && message === CRASH_TEXT)
    return { err: describeCrash(kind, detail, { line, column }) };
  const err = message === "" ? UNNAMED_ERROR : message;
  const variable = /^Requires env access(?: to "(\w+)")?/.exec(message);
  if (variable !== null) return { err, details: [{ path, message: describeEnvAccess(variable[1]) }] };
  return detail === undefined ? { err } : { err, details: [{ path, message: detail }] };
}

function describeCrash(kind: RunError["kind"], detail: string, { line, column }: Place): string {
  if (kind !== "syntax") return detail;
  // The place comes first, so that lists which cut the text still show it.
  return `syntax error${line === undefined ? "" : ` in line ${line}, column ${column ?? 1}`}: ${detail}`;
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

/** Body of a 422: a function's result with `success: false`, and what the dry run captured. */
export type FunctionRefusal = Pick<
  SimulateResult,
  | "err"
  | "console"
  | "consoleTruncated"
  | "timeMs"
  | "memoryBytes"
  | "httpRequests"
  | "line"
  | "column"
  | "details"
  | "warnings"
> & {
  readonly success: false;
  /** Empty: no request exists. */
  readonly requestId: "";
  readonly result: "0x";
  readonly parsedResult: "";
  /** Empty: no transaction was sent. */
  readonly url: "";
  /** Page of the application that shows this run; absent before it is recorded. */
  readonly dryRunUrl?: string;
};

/** A source failed its dry run, and nothing was sent. `details` is the response body. */
export class FunctionFailedError extends TycheError {
  declare readonly details: FunctionRefusal;

  constructor(refusal: FunctionRefusal) {
    // A request that ends with it stores nothing else.
    super(describeDryRun(describeReasons(refusal)), {
      code: "function_failed",
      blame: "caller",
      details: refusal,
    });
  }
}
