import type { BeaconView, SimulateResult } from "../../api/types.ts";
import type { Hex } from "viem";
import { MAX_REQUEST_BYTES, encodeArgs, encodeFunctionsRequest } from "../../chainlink/functionsRequest.ts";
import { BEACON_BYTES, MAX_ARGUMENT_BYTES } from "../../chainlink/presetBatch.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import { toHexText } from "../../lib/hex.ts";
import { decodeDryRun } from "../../lib/decodeResult.ts";
import { locateFailure } from "../../presets/locateFailure.ts";
import { parsePresetParams } from "../../presets/presetParams.ts";
import type { Preset } from "../../presets/preset.ts";
import { assertResultFits } from "../../presets/resultFit.ts";
import type { RunWithSecrets } from "../secrets.ts";
import type { RunResult, SandboxPool } from "../../../sandbox/index.ts";
import { FunctionFailedError } from "../errors.ts";
import { describeRunError, FAILED_RUN } from "./runDetails.ts";
import { warningsOf } from "./sourceWarnings.ts";
import type { RequestContent } from "../openRequest.ts";
import type { ServiceNetwork } from "../serviceNetwork.ts";
import { DRY_RUN_WORD, dryRunBytesArgs } from "./dryRunWord.ts";
import { chooseRound, toDrandRound } from "./chooseRound.ts";
import { MAX_SOURCE_BYTES } from "../../lib/sourceLimit.ts";
import type {
  Dapp,
  FunctionCommand,
  Labelled,
  PresetCommand,
  ReturnType,
  SimulateCommand,
} from "../service.ts";

/** A checked command in the form in which it is stored. If it already has an outcome, the request ends at once and nothing is sent. */
export type CheckedCommand = RequestContent;

/** What the checks depend on. */
export interface CommandChecks {
  readonly pool: SandboxPool;
  /** The caller, for fair scheduling in the sandbox. */
  readonly dappId: string;
  readonly maxResponseBytes: number;
  /** Runs of the same group may share an isolate; absent: none does. */
  readonly group?: string | undefined;
}

/** What the run of a caller's own source also depends on. */
export interface SourceChecks extends CommandChecks {
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined;
  /** Runs the source where it can read its secrets; absent: it has none. */
  readonly runWithSecrets?: RunWithSecrets | undefined;
}

/** Checks a preset's parameters, and that its result and arguments fit. */
export function checkPresetCommand(
  command: PresetCommand,
  options: {
    readonly preset: Preset;
    readonly network: Pick<ServiceNetwork, "maxResponseBytes" | "beacon" | "localBeacon">;
    readonly dapp: Pick<Dapp, "beacon">;
  },
): Extract<CheckedCommand, { readonly kind: "preset" }> {
  const { preset, network: served, dapp } = options;
  const { maxResponseBytes } = served;
  const { network, confirmations } = command;
  const beacon = command.beacon ?? dapp.beacon ?? (served.beacon?.isDefault === true ? "drand" : "none");
  const { params, args } = parsePresetParams(preset, command.params);
  assertResultFits(preset, params, { network, maxResponseBytes });
  assertArgumentsFit(preset, args, MAX_ARGUMENT_BYTES - (beacon === "none" ? 0 : BEACON_BYTES));
  return {
    kind: "preset",
    params: {
      ...params,
      preset: preset.name,
      ...chooseRound(beacon, network, served),
      ...(confirmations === undefined ? {} : { confirmations }),
      ...labelsOf(command),
    },
    outcome: null,
    progress: {
      sourceHash: preset.sourceHash,
      args,
      returnType: preset.returnType,
      ...(preset.definition.show === undefined ? {} : { show: preset.definition.show }),
    },
  };
}

/** Returns the members of a command that say what the request is for. */
export function labelsOf({ label, once }: Labelled): Labelled {
  return { ...(label === undefined ? {} : { label }), ...(once === undefined ? {} : { once }) };
}

/** Dry-runs a preset, so that parameters it can't work with never reach the chain. Throws `function_failed`. */
export async function dryRunPreset(
  preset: Preset,
  args: readonly string[],
  { pool, dappId, maxResponseBytes, group }: CommandChecks,
): Promise<void> {
  const request = {
    args,
    bytesArgs: [DRY_RUN_WORD],
    limits: { maxResponseBytes },
    caller: dappId,
    ...(group === undefined ? {} : { group }),
  };
  const run = await pool.run({ ...request, source: preset.source, sharesContext: true });
  const result = readRun(run, preset.returnType, "/preset");
  if (!result.success) {
    // The source that ran is minified: its line numbers mean nothing to anyone.
    const place = run.ok ? undefined : await locateFailure(preset, pool.run, { request, error: run.error });
    throw refuse({ ...result, line: place?.line, column: place?.column });
  }
}

/** Checks the sizes of a caller's source and arguments. */
export function checkFunctionCommand(
  command: FunctionCommand,
  options: {
    readonly network: Pick<ServiceNetwork, "beacon" | "localBeacon">;
    readonly secretsReference: Hex | undefined;
  },
): CheckedCommand {
  const { network: served, secretsReference } = options;
  const { source, args, secrets, returnType, beacon = "none", network } = command;
  const round = chooseRound(beacon, network, served);
  assertSizes(command, { secretsReference, ...round });
  return {
    kind: "function",
    params: {
      source,
      args,
      ...(secrets === undefined ? {} : { secrets }),
      returnType,
      ...round,
      ...labelsOf(command),
    },
    progress: { returnType, ...(secretsReference === undefined ? {} : { secretsReference }) },
    outcome: null,
  };
}

/** Dry-runs a caller's source: one that fails here never reaches the chain. Throws `function_failed`. */
export async function dryRunFunction(
  command: FunctionCommand,
  checks: SourceChecks,
): Promise<readonly string[]> {
  const { result } = await simulateSource(command, checks);
  if (!result.success) throw refuse(result);
  return result.warnings ?? [];
}

/**
 * Runs a source as the oracle's nodes would. A failing source is a normal result. Throws `invalid_parameter` when it is too long.
 *
 * @returns the result, and whether it shows a secret.
 */
export async function simulateSource(
  command: SimulateCommand,
  { pool, dappId, maxResponseBytes, group, signal, runWithSecrets }: SourceChecks,
): Promise<{ readonly result: SimulateResult; readonly showsSecret: boolean }> {
  assertSizes(command);
  const { source, args, returnType, beacon } = command;
  const request = {
    source,
    args,
    bytesArgs: dryRunBytesArgs(beacon),
    limits: { maxResponseBytes },
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
  { pool, dappId }: Pick<CommandChecks, "pool" | "dappId">,
): Promise<void> {
  const run = await pool.run({ source: RETURN + source, caller: dappId });
  if (run.ok || run.error.kind !== "syntax") return;
  const { line, column = 1 } = run.error;
  const place = { line, column: line === 1 ? column - RETURN.length : column };
  const { err } = describeRunError({ ...run.error, ...place }, "/source");
  throw new InvalidParameterError([{ path: "/source", message: err }]);
}

/** Checks before anything runs that a preset's arguments fit in a batch. */
function assertArgumentsFit(preset: Preset, args: readonly string[], most: number): void {
  const bytes = encodeArgs(args).length;
  if (bytes <= most) return;
  const lengths = args.map((arg) => Buffer.byteLength(arg));
  const longest = preset.parameterOrder[lengths.indexOf(Math.max(...lengths))];
  const message = `the preset's arguments take ${bytes} bytes as the function gets them, and at most ${most} fit one request; shorten ${longest ?? "them"} by ${bytes - most} bytes or more`;
  throw new InvalidParameterError([{ path: longest === undefined ? "" : `/${longest}`, message }]);
}

function assertSizes(
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
  const { err, console, line, column, details, warnings } = result;
  const place = line === undefined || column === undefined ? {} : { line, column };
  return new FunctionFailedError({
    success: false,
    requestId: "",
    result: "0x",
    parsedResult: "",
    err,
    url: "",
    console,
    ...place,
    ...(details === undefined ? {} : { details }),
    ...(warnings === undefined ? {} : { warnings }),
  });
}
