import { createHash } from "node:crypto";
import type { Hex } from "viem";
import { MAX_REQUEST_BYTES, encodeFunctionsRequest } from "../chain/functionsRequest.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { toHexText } from "../lib/hex.ts";
import { decodeResult } from "../lib/decodeResult.ts";
import { parsePresetParams } from "../presets/presetParams.ts";
import type { Preset } from "../presets/preset.ts";
import { assertResultFits } from "../presets/resultFit.ts";
import type { RunResult, SandboxPool } from "../../sandbox/index.ts";
import { FunctionFailedError } from "./errors.ts";
import type { Progress } from "./requestBook.ts";
import type { SimulateResult } from "./results.ts";
import type { Command, FunctionCommand, PresetCommand, ReturnType, SimulateCommand } from "./service.ts";
import type { SourcePrefix } from "./sources.ts";

/** Longest source the oracle network takes, in bytes of UTF-8; its arguments come on top, see {@link MAX_REQUEST_BYTES}. */
export const MAX_SOURCE_BYTES = 30_720;

/** The word of a preset's dry run: any will do, and the same one makes the same answer. */
const DRY_RUN_WORD: Hex = `0x${"5a".repeat(32)}`;

/** A command checked as far as it can be without the chain: what is stored of it. */
export interface CheckedCommand {
  readonly params: Readonly<Record<string, unknown>>;
  readonly progress: Progress;
}

/** What the checks need to know. */
export interface CommandChecks {
  readonly pool: SandboxPool;
  /** The caller, for the sandbox's fairness. */
  readonly dappId: string;
  readonly maxResponseBytes: number;
  /** Who may share an isolate with the run; absent: nobody. */
  readonly group?: string | undefined;
}

/** Checks a preset's parameters and runs it once, so that parameters it can't work with never reach the chain. */
export async function checkPresetCommand(
  command: PresetCommand,
  preset: Preset,
  prefix: SourcePrefix,
  { pool, dappId, maxResponseBytes, group }: CommandChecks,
): Promise<CheckedCommand> {
  const { params, args } = parsePresetParams(preset, command.params);
  assertResultFits(preset, params, { network: command.network, maxResponseBytes });
  const run = await pool.run({
    source: preset.source,
    args,
    bytesArgs: [DRY_RUN_WORD],
    limits: { maxResponseBytes },
    caller: dappId,
    ...(group === undefined ? {} : { group }),
  });
  const result = readRun(run, preset.returnType);
  if (!result.success) throw refuse(result);
  return {
    params: { preset: preset.name, ...params },
    progress: {
      prefixHash: prefix.hash,
      prefixBytes: prefix.bytes.length,
      args,
      returnType: preset.returnType,
    },
  };
}

/** Checks the sizes of a caller's source and runs it once: what fails here never reaches the chain. */
export async function checkFunctionCommand(
  command: Omit<FunctionCommand, "kind">,
  checks: CommandChecks,
): Promise<CheckedCommand> {
  assertSizes(command);
  const { source, args, returnType } = command;
  const result = await simulateSource(command, checks);
  if (!result.success) throw refuse(result);
  return { params: { source, args, returnType }, progress: { returnType } };
}

/** Runs a source as the oracle's nodes would. A source that fails is a result. Throws `invalid_parameter` when it is too long. */
export async function simulateSource(
  command: SimulateCommand,
  { pool, dappId, maxResponseBytes, group }: CommandChecks,
): Promise<SimulateResult> {
  assertSizes(command);
  const { source, args, returnType } = command;
  const run = await pool.run({
    source,
    args,
    bytesArgs: [],
    limits: { maxResponseBytes },
    caller: dappId,
    ...(group === undefined ? {} : { group }),
  });
  return readRun(run, returnType);
}

/** SHA-256 of a command, to tell a repeated call from another one under the same idempotency key. */
export function hashCommand(command: Command): string {
  return createHash("sha256").update(JSON.stringify(command, sortMembers)).digest("hex");
}

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function assertSizes({ source, args }: { readonly source: string; readonly args: readonly string[] }): void {
  const sourceBytes = Buffer.byteLength(source);
  if (sourceBytes > MAX_SOURCE_BYTES) {
    const message = `is ${sourceBytes} bytes long, and the oracle network takes at most ${MAX_SOURCE_BYTES}`;
    throw new InvalidParameterError([{ path: "/source", message }]);
  }
  const requestBytes = encodeFunctionsRequest({ source, args }).length;
  if (requestBytes > MAX_REQUEST_BYTES) {
    const message = `the whole encoded request is ${requestBytes} bytes long, and the oracle network takes at most ${MAX_REQUEST_BYTES}; shorten source or args`;
    throw new InvalidParameterError([{ path: "", message }]);
  }
}

function readRun(run: RunResult, returnType: ReturnType): SimulateResult {
  const { console, consoleTruncated, timeMs, memoryBytes, httpRequests } = run;
  const usage = { console, consoleTruncated, timeMs, memoryBytes, httpRequests };
  if (!run.ok) {
    const { message, line, column } = run.error;
    const place = line === undefined || column === undefined ? {} : { line, column };
    return { success: false, result: "0x", parsedResult: "", err: message, ...usage, ...place };
  }
  try {
    return {
      success: true,
      result: toHexText(run.bytes),
      parsedResult: decodeResult(run.bytes, returnType),
      err: "0x",
      ...usage,
    };
  } catch (error) {
    return {
      success: false,
      result: "0x",
      parsedResult: "",
      err: error instanceof Error ? error.message : String(error),
      ...usage,
    };
  }
}

function refuse(result: SimulateResult): FunctionFailedError {
  const { err, console, line, column } = result;
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
  });
}
