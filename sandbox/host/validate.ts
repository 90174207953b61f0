import { SandboxError } from "./sandboxError.ts";
import { isPureSource } from "./purity/isPureSource.ts";
import { DEFAULT_LIMITS, LIMIT_RANGES, type RunLimits } from "../limits.ts";
import type { RunRequest } from "../run.ts";

/** Longest source, in UTF-16 units; the oracle network itself stops at 30,720 bytes. */
const MAX_SOURCE_CHARS = 4 * 1024 * 1024;
/** Longest `args`, `bytesArgs` and `secrets` in total, in characters of JSON. */
const MAX_INPUT_CHARS = 4 * 1024 * 1024;
/** Group of all runs that share contexts; no caller can name it. */
const PURE_GROUP = "\0pure";

/** A validated run request. */
export interface ParsedRun {
  readonly source: string;
  /** JSON text of `{ args, bytesArgs, secrets }`. */
  readonly inputs: string;
  readonly caller: string;
  readonly group: string | null;
  readonly limits: Partial<RunLimits>;
  readonly observe: boolean;
  /** Whether the run may share a context and its source is proved pure. */
  readonly isPure: boolean;
}

/**
 * Validates a run request.
 * @throws {InvalidRunError} `invalid_run`, naming the member, on a wrong type or a value out of range.
 */
export function parseRunRequest(request: RunRequest): ParsedRun {
  const {
    source,
    args = {},
    bytesArgs = {},
    secrets = {},
    allowedHosts = {},
    caller = "",
    group,
    limits = {},
    observe = false,
    sharesContext = false,
  } = request;
  if (typeof source !== "string") throw new InvalidRunError("source", "a string");
  if (source.length > MAX_SOURCE_CHARS)
    throw new InvalidRunError("source", `at most ${MAX_SOURCE_CHARS} characters`);
  if (request.args !== undefined && !isStringArray(args))
    throw new InvalidRunError("args", "an array of strings");
  if (
    request.bytesArgs !== undefined &&
    !(isStringArray(bytesArgs) && bytesArgs.every((hex) => /^0x[0-9a-fA-F]*$/.test(hex)))
  ) {
    throw new InvalidRunError("bytesArgs", "an array of 0x-prefixed hex strings");
  }
  if (
    typeof secrets !== "object" ||
    secrets === null ||
    !Object.values(secrets).every((value) => typeof value === "string")
  ) {
    throw new InvalidRunError("secrets", "an object whose values are strings");
  }
  if (
    typeof allowedHosts !== "object" ||
    allowedHosts === null ||
    !Object.values(allowedHosts).every(isStringArray)
  ) {
    throw new InvalidRunError("allowedHosts", "an object whose values are arrays of strings");
  }
  if (typeof caller !== "string") throw new InvalidRunError("caller", "a string");
  if (group !== undefined && (typeof group !== "string" || group === PURE_GROUP))
    throw new InvalidRunError("group", "a string");
  if (typeof observe !== "boolean") throw new InvalidRunError("observe", "a boolean");
  if (typeof sharesContext !== "boolean") throw new InvalidRunError("sharesContext", "a boolean");
  for (const [name, value] of Object.entries(limits)) {
    const range = Object.hasOwn(LIMIT_RANGES, name) ? LIMIT_RANGES[name as keyof RunLimits] : undefined;
    if (range === undefined)
      throw new InvalidRunError(`limits.${name}`, `one of ${Object.keys(DEFAULT_LIMITS).join(", ")}`);
    if (!Number.isInteger(value) || value < range[0] || value > range[1]) {
      throw new InvalidRunError(`limits.${name}`, `an integer from ${range[0]} to ${range[1]}`);
    }
  }
  const inputs = JSON.stringify({ args, bytesArgs, secrets });
  if (inputs.length > MAX_INPUT_CHARS)
    throw new InvalidRunError("args", `at most ${MAX_INPUT_CHARS} characters with bytesArgs and secrets`);
  const isPure = sharesContext && !observe && isPureSource(source);
  return { source, inputs, caller, group: isPure ? PURE_GROUP : (group ?? null), limits, observe, isPure };
}

function isStringArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** A run request that is invalid whatever the source. */
export class InvalidRunError extends SandboxError {
  constructor(member: string, expected: string) {
    super(`${member} of a sandbox run must be ${expected}.`, {
      code: "invalid_run",
      blame: "caller",
      details: { path: member },
    });
  }
}
