import { InvalidArgumentError } from "commander";
import type { PresetView } from "../client/index.ts";

/** Parameters as typed, `name=value`, in order; a repeated name has several values. */
export type TypedParams = readonly (readonly [name: string, value: string])[];

/** Splits `name=value`. Throws commander's own error for anything else. */
export function parseTypedParam(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at < 1)
    throw new InvalidArgumentError(`Parameters take the form name=value; got ${JSON.stringify(text)}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Converts typed parameters into a preset's: an array in its schema collects the values of its name, or takes one JSON array; a
 * boolean is `true` or `false`; everything else is text. Invalid values are left for the service to report.
 */
export function readPresetParams(
  typed: TypedParams,
  preset: PresetView | undefined,
): Readonly<Record<string, unknown>> {
  const properties = (preset?.parameters["properties"] ?? {}) as Readonly<
    Record<string, { readonly type?: string }>
  >;
  const valuesByName = Map.groupBy(typed, ([name]) => name);
  const params: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, pairs] of valuesByName) {
    const values = pairs.map(([, value]) => value);
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
    params[name] = type === "array" ? (findJsonArray(values) ?? values) : readOne(values, type);
  }
  return params;
}

function readOne(values: readonly string[], type: string | undefined): unknown {
  const value = values.at(-1)!;
  return type === "boolean" && (value === "true" || value === "false") ? value === "true" : value;
}

function findJsonArray(values: readonly string[]): unknown {
  if (values.length !== 1 || !values[0]!.startsWith("[")) return undefined;
  try {
    return JSON.parse(values[0]!) as unknown;
  } catch {
    return undefined;
  }
}
