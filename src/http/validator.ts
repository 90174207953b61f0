import type { Static, TSchema } from "typebox";
import type { ParameterViolation } from "../lib/invalidParameter.ts";
import type { JsonValue } from "../lib/parseJson.ts";
import { compileSchema } from "../lib/schemaCheck.ts";

export type Checked<T> =
  | { readonly ok: true; readonly values: T }
  | { readonly ok: false; readonly violations: readonly ParameterViolation[] };

/** A compiled object schema. Fills defaults into `values` and turns decimal strings into numbers where the schema says integer. */
export type Validator<T> = (values: Record<string, JsonValue>) => Checked<T>;

/** Compiles an object schema into a {@link Validator}: reports all violations at once, at most one per path. */
export function compileValidator<S extends TSchema>(schema: S): Validator<Static<S>> {
  const check = compileSchema(schema, {
    describeUnknown: (known) => `is unknown; expected one of ${known.join(", ")}`,
  });
  const decimals = decimalNames(schema);
  return (values) => {
    for (const name of decimals) {
      const value = values[name];
      if (typeof value === "string") values[name] = parseDecimal(value);
    }
    const violations = check(values);
    return violations.length === 0 ? { ok: true, values: values as Static<S> } : { ok: false, violations };
  };
}

/** The number format of presets: up to the 78 digits of 2^256, leading zeros allowed. */
export const DECIMAL_PATTERN = "^-?[0-9]{1,78}$";
const DECIMAL = new RegExp(DECIMAL_PATTERN);

/** Converts a decimal string to its number; anything else stays as it is, for the schema to refuse. */
function parseDecimal(text: string): string | number | bigint {
  if (!DECIMAL.test(text)) return text;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

function decimalNames(schema: TSchema): readonly string[] {
  const properties = (schema as { properties?: Record<string, { type?: unknown }> }).properties ?? {};
  return Object.entries(properties)
    .filter(([, property]) => Array.isArray(property.type) && property.type.includes("integer"))
    .map(([name]) => name);
}
