import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { findDecimal } from "./decimal.ts";
import type { Preset } from "./preset.ts";
import type { PresetDefinition } from "./presetDefinition.ts";

/** A preset's parameters, validated. */
export interface PresetCall {
  /**
   * The canonical form of the values, in the order of `args`: decimals as strings without leading zeros, defaults filled
   * in.
   */
  readonly params: Readonly<Record<string, unknown>>;
  /** The source's arguments: one string for each parameter; an array is passed as its JSON text. */
  readonly args: readonly string[];
}

/**
 * Checks a preset's parameters as sent by a caller, fills in defaults and brings values to their canonical form.
 * Idempotent: passing it its own `params` changes nothing. Throws `InvalidParameterError` (`invalid_parameter`) with
 * every violation, up to 20.
 */
export function parsePresetParams(preset: Preset, raw: Readonly<Record<string, unknown>>): PresetCall {
  const filled: Record<string, unknown> = { ...raw };
  const violations = preset.validate(filled);
  if (violations.length > 0) throw new InvalidParameterError(violations);
  const params: Record<string, unknown> = {};
  for (const name of preset.parameterOrder) {
    params[name] = canonicalize(preset.definition.parameters.properties[name], filled[name]);
  }
  return { params, args: encodeArgs(params) };
}

function canonicalize(
  schema: PresetDefinition["parameters"]["properties"][string] | undefined,
  value: unknown,
): unknown {
  if (schema?.decimal !== undefined) return String(findDecimal(value));
  if (schema?.items !== undefined)
    return (value as readonly unknown[]).map((item) => canonicalize(schema.items, item));
  return value;
}

function encodeArgs(params: Readonly<Record<string, unknown>>): string[] {
  return Object.values(params).map((value) => (Array.isArray(value) ? JSON.stringify(value) : String(value)));
}
