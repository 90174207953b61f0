import type { PresetValue, ShownResult } from "../api/types.ts";
import { decodeResult, UndecodableResultError } from "../domain/decodeResult.ts";
import { lineOf } from "../text/sharedResult.ts";
import type { Preset } from "./preset.ts";
import type { PresetDefinition } from "./presetDefinition.ts";
import { readValue, takeApart } from "../domain/presetShow.ts";

/** The part of a preset that {@link readResult} reads. */
interface ReadablePreset extends Pick<Preset, "returnType"> {
  readonly definition: Pick<PresetDefinition, "show">;
}

/** The part of a preset that {@link readChainResult} reads. */
interface DescribablePreset extends Pick<Preset, "returnType"> {
  readonly definition: Pick<PresetDefinition, "show" | "args" | "parameters">;
}

/** Reads the bytes of a result as its preset says; returns `undefined` if they are not of its type. */
export function readResult(
  { returnType, definition: { show } }: ReadablePreset,
  bytes: Uint8Array,
  params: Readonly<Record<string, unknown>>,
):
  | {
      readonly parsedResult: string;
      readonly value: PresetValue | null;
      readonly shown: ShownResult | undefined;
    }
  | undefined {
  try {
    const parsedResult = decodeResult(bytes, returnType);
    const value = readValue(show, parsedResult, params);
    return { parsedResult, value: value ?? null, shown: takeApart(show, value, params) };
  } catch (error) {
    if (error instanceof UndecodableResultError) return undefined;
    throw error;
  }
}

/**
 * Reads a result from what is on chain: in one line, such as `Heads`, and in parts where the preset says how to show it; returns `undefined`
 * if the bytes are not of the preset's type, or the arguments not its own.
 */
export function readChainResult(
  preset: DescribablePreset,
  bytes: Uint8Array,
  args: readonly string[],
): { readonly result: string; readonly shown?: ShownResult } | undefined {
  const params = readArgs(preset.definition, args);
  const read = params && readResult(preset, bytes, params);
  if (read?.shown === undefined) return read && { result: read.parsedResult };
  return { result: lineOf(read.shown), shown: read.shown };
}

/** Writes a result in one line, as {@link readChainResult} reads it. */
export function describeResult(...read: Parameters<typeof readChainResult>): string | undefined {
  return readChainResult(...read)?.result;
}

/** Returns the parameters that a source got as these arguments; `undefined` if a list among them is none. */
function readArgs(
  { args: names, parameters }: DescribablePreset["definition"],
  args: readonly string[],
): Readonly<Record<string, unknown>> | undefined {
  const params: Record<string, unknown> = {};
  for (const [i, name] of names.entries()) {
    const isList = parameters.properties[name]?.items !== undefined;
    params[name] = isList ? readList(args[i]) : args[i];
    if (params[name] === undefined) return undefined;
  }
  return params;
}

function readList(text = ""): readonly string[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((entry) => typeof entry === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}
