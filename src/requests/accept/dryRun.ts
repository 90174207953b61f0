import type { Hex } from "viem";
import type { RunResult, SandboxPool } from "../../../sandbox/index.ts";
import type { BeaconView, SimulateResult } from "../../api/types.ts";
import { toDrandRound, type RequestFacts } from "../openRequest.ts";
import { encodeFunctionsRequest, MAX_REQUEST_BYTES } from "../../chainlink/functionsRequest.ts";
import { decodeDryRun } from "../../domain/decodeResult.ts";
import { toHexText } from "../../lib/hex.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import { MAX_RESPONSE_BYTES, MAX_SOURCE_BYTES } from "../../domain/sourceLimit.ts";
import type { Beacon, ReturnType } from "../../domain/vocabulary.ts";
import { locateFailure } from "../../presets/locateFailure.ts";
import type { Preset } from "../../presets/preset.ts";
import type { RunWithSecrets } from "../secrets.ts";
import type { SimulateCommand } from "../service.ts";
import { describeRunError, FAILED_RUN, FunctionFailedError } from "./runDetails.ts";
import { keptOf } from "./dryRunLog.ts";
import { warningsOf } from "./sourceWarnings.ts";

/** What a dry run depends on. */
export interface DryRunOptions {
  readonly pool: SandboxPool;
  /** The caller, for fair scheduling in the sandbox. */
  readonly dappId: string;
  /** Runs of the same group may share an isolate; absent: none does. */
  readonly group?: string | undefined;
}

/** What the run of a caller's own source also depends on. */
export interface SourceRunOptions extends DryRunOptions {
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined;
  /** Runs the source where it can read its secrets; absent: it has none. */
  readonly runWithSecrets?: RunWithSecrets | undefined;
}

/** Dry-runs a preset, so that parameters it can't work with never reach the chain. Throws `function_failed`. */
export async function dryRunPreset(
  preset: Preset,
  args: readonly string[],
  { pool, dappId, group }: DryRunOptions,
): Promise<void> {
  const request = {
    args,
    bytesArgs: [DRY_RUN_WORD],
    limits: { maxResponseBytes: MAX_RESPONSE_BYTES },
    caller: dappId,
    ...(group === undefined ? {} : { group }),
  };
  const run = await pool.run({ ...request, source: preset.source, sharesContext: true });
  const result = readRun(run, preset.returnType, "/preset");
  if (result.success) return;
  if (run.ok) throw refuse(result);
  // The source that ran is minified: its names and line numbers mean nothing to anyone.
  const { error } = run;
  const found = await locateFailure(preset, pool.run, { request, error });
  // Where `err` isn't the error's own text, it says more.
  const err = result.err === error.message ? (found?.message ?? result.err) : result.err;
  throw refuse({ ...result, err, line: found?.position?.line, column: found?.position?.column });
}

/** Dry-runs a caller's source: one that fails here never reaches the chain. Throws `function_failed`. Returns what its request keeps of that. */
export async function dryRunFunction(
  command: SimulateCommand,
  options: SourceRunOptions,
): Promise<Pick<RequestFacts, "dryRun" | "warnings">> {
  const { result } = await simulateSource(command, options);
  if (!result.success) throw refuse(result);
  const { warnings } = result;
  return { ...keptOf(result), ...(warnings && { warnings }) };
}

/**
 * Runs a source as the oracle's nodes would. A failing source is a normal result. Throws `invalid_parameter` when it is too long.
 *
 * @returns the result, and whether it shows a secret.
 */
export async function simulateSource(
  command: SimulateCommand,
  { pool, dappId, group, signal, runWithSecrets }: SourceRunOptions,
): Promise<{ readonly result: SimulateResult; readonly showsSecret: boolean }> {
  assertRequestFits(command);
  const { source, args, returnType, beacon } = command;
  const request = {
    source,
    args,
    bytesArgs: dryRunBytesArgs(beacon),
    limits: { maxResponseBytes: MAX_RESPONSE_BYTES },
    caller: dappId,
    observe: true,
    ...(group === undefined ? {} : { group }),
    ...(signal === undefined ? {} : { signal }),
  };
  const { run, shownChars } = (await runWithSecrets?.(request)) ?? { run: await pool.run(request) };
  return {
    result: { ...readRun(run, returnType), ...warningsOf({ source, run, returnType, shownChars }) },
    showsSecret: (shownChars ?? 0) > 0,
  };
}

/** What comes before a source so that it is compiled but not run. */
const RETURN = "return 0;";

/** Checks that the sandbox can compile a caller's source, without running it. Throws `invalid_parameter`. */
export async function assertCompiles(
  source: string,
  { pool, dappId }: Pick<DryRunOptions, "pool" | "dappId">,
): Promise<void> {
  const run = await pool.run({ source: RETURN + source, caller: dappId });
  if (run.ok || run.error.kind !== "syntax") return;
  const { line, column = 1 } = run.error;
  const place = { line, column: line === 1 ? column - RETURN.length : column };
  const { err } = describeRunError({ ...run.error, ...place }, "/source");
  throw new InvalidParameterError([{ path: "/source", message: err }]);
}

/** Checks that a request with a caller's source and arguments is no larger than the oracle network takes. */
export function assertRequestFits(
  { source, args }: { readonly source: string; readonly args: readonly string[] },
  of: { readonly secretsReference?: Hex | undefined; readonly beacon?: BeaconView } = {},
): void {
  const sourceBytes = Buffer.byteLength(source);
  if (sourceBytes > MAX_SOURCE_BYTES) {
    const message = `is ${sourceBytes} bytes long, and the oracle network takes at most ${MAX_SOURCE_BYTES}`;
    throw new InvalidParameterError([{ path: "/source", message }]);
  }
  const { secretsReference, beacon } = of;
  const request = { source, args, secretsReference, beacon: beacon && toDrandRound(beacon) };
  const requestBytes = encodeFunctionsRequest(request).length;
  if (requestBytes > MAX_REQUEST_BYTES) {
    const message = `the whole encoded request is ${requestBytes} bytes long, and the oracle network takes at most ${MAX_REQUEST_BYTES}; shorten source or args`;
    throw new InvalidParameterError([{ path: "", message }]);
  }
}

/** @param path JSON Pointer to the parameter that named the source. */
function readRun(run: RunResult, returnType: ReturnType, path = "/source"): SimulateResult {
  const { console, consoleTruncated, timeMs, memoryBytes, httpRequests } = run;
  const usage = { console, consoleTruncated, timeMs, memoryBytes, httpRequests };
  if (!run.ok) {
    const { line, column } = run.error;
    const place = line === undefined || column === undefined ? {} : { line, column };
    return { ...FAILED_RUN, ...describeRunError(run.error, path), ...usage, ...place };
  }
  try {
    const parsedResult = decodeDryRun(run.bytes, returnType);
    const result = toHexText(run.bytes);
    return { success: true, result, parsedResult, value: parsedResult, err: "0x", ...usage };
  } catch (error) {
    return { ...FAILED_RUN, err: error instanceof Error ? error.message : String(error), ...usage };
  }
}

function refuse(
  result: Omit<SimulateResult, "line" | "column"> & {
    readonly line?: number | undefined;
    readonly column?: number | undefined;
  },
): FunctionFailedError {
  const { err, console, consoleTruncated, timeMs, memoryBytes, httpRequests } = result;
  const { line, column, details, warnings } = result;
  const place = line === undefined || column === undefined ? {} : { line, column };
  return new FunctionFailedError({
    success: false,
    requestId: "",
    result: "0x",
    parsedResult: "",
    err,
    url: "",
    console,
    consoleTruncated,
    timeMs,
    memoryBytes,
    httpRequests,
    ...place,
    ...(details === undefined ? {} : { details }),
    ...(warnings === undefined ? {} : { warnings }),
  });
}

/** Random word of a dry run. Any word will do; a constant one makes the result reproducible. */
export const DRY_RUN_WORD: Hex = `0x${"5a".repeat(32)}`;

/** Returns what a function's dry run gets as the last of its `bytesArgs`: a word in place of that of a round of drand. */
export function dryRunBytesArgs(beacon: Beacon = "none"): readonly Hex[] {
  return beacon === "none" ? [] : [DRY_RUN_WORD];
}
