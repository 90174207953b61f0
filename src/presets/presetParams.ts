import { InvalidParameterError, type ParameterViolation } from "../lib/invalidParameter.ts";
import { findDecimal } from "./decimal.ts";
import type { Preset } from "./preset.ts";
import type { PresetDefinition } from "./presetDefinition.ts";
import { MAX_RESPONSE_BYTES } from "../domain/sourceLimit.ts";

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
 *
 * @param network where the preset is to run: then the largest possible result has to fit there, too. Default: any size is fine.
 */
export function parsePresetParams(
  preset: Preset,
  raw: Readonly<Record<string, unknown>>,
  network?: string,
): PresetCall {
  const filled: Record<string, unknown> = { ...raw };
  const violations = preset.validate(filled);
  if (violations.length > 0) throw new InvalidParameterError(violations);
  const params: Record<string, unknown> = {};
  for (const name of preset.parameterOrder) {
    params[name] = canonicalize(preset.definition.parameters.properties[name], filled[name]);
  }
  if (network !== undefined) assertResultFits(preset, params, network);
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

const LIMIT = BigInt(MAX_RESPONSE_BYTES);

/**
 * Asserts that the result is at most {@link MAX_RESPONSE_BYTES} long whatever the word turns out to be. Throws `InvalidParameterError`: one violation for each
 * numeric parameter that would fit if made smaller, naming its largest value that does; or one that says by how many bytes the texts
 * are too long.
 */
function assertResultFits(preset: Preset, params: Readonly<Record<string, unknown>>, network: string): void {
  const size = preset.resultBound.evaluate(params);
  if (size <= LIMIT) return;
  const reason = `the result can take ${size} bytes, and ${network} returns at most ${LIMIT}`;
  const violations: ParameterViolation[] = [];
  for (const name of preset.resultBound.parameters) {
    const largest = findLargestFit(preset, params, name);
    if (largest === undefined) continue;
    const message = `${reason}: must be at most ${largest}${describeOthers(preset, params, name)}, not ${String(params[name])}`;
    violations.push({ path: `/${name}`, message });
  }
  throw new InvalidParameterError(
    violations.length > 0 ? violations : [describeTexts(preset, params, { reason, over: size - LIMIT })],
  );
}

/** Returns the largest smaller value that fits with everything else unchanged; `undefined` if there is none or it is not a number. */
function findLargestFit(
  preset: Preset,
  params: Readonly<Record<string, unknown>>,
  name: string,
): bigint | undefined {
  const rule = preset.definition.parameters.properties[name]?.decimal;
  if (rule === undefined) return undefined;
  const fits = (value: bigint): boolean =>
    preset.resultBound.evaluate({ ...params, [name]: String(value) }) <= LIMIT &&
    preset.validate({ ...params, [name]: String(value) }).length === 0;
  let low = BigInt(rule.minimum ?? 0);
  let high = BigInt(params[name] as string);
  if (!fits(low)) return undefined;
  // low fits, high does not. With a non-monotonic bound this may name a smaller value than possible, never one that is too large.
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** Describes what the named limit depends on: `with numFaces 20`. */
function describeOthers(preset: Preset, params: Readonly<Record<string, unknown>>, name: string): string {
  const others = preset.resultBound.parameters.filter((other) => other !== name);
  if (others.length === 0) return "";
  const named = others.map((other) => {
    const value = params[other];
    return Array.isArray(value) ? `these ${other}` : `${other} ${String(value)}`;
  });
  return ` with ${named.join(", ")}`;
}

function describeTexts(
  preset: Preset,
  params: Readonly<Record<string, unknown>>,
  { reason, over }: { readonly reason: string; readonly over: bigint },
): ParameterViolation {
  const text = preset.resultBound.parameters.find(
    (name) => preset.definition.parameters.properties[name]?.decimal === undefined,
  );
  if (text === undefined)
    return { path: "", message: `${reason}: reducing a single parameter is not enough` };
  const what = Array.isArray(params[text]) ? "its longest items" : "it";
  return { path: `/${text}`, message: `${reason}: ${what} must be at least ${over} bytes shorter` };
}
