import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { Static, TSchema } from "typebox";
import type { ParameterViolation } from "../lib/invalidParameter.ts";
import type { JsonValue } from "../lib/parseJson.ts";
import { describeSchemaError, EXPECTED } from "../lib/schemaErrors.ts";

export type Checked<T> =
  | { readonly ok: true; readonly values: T }
  | { readonly ok: false; readonly violations: readonly ParameterViolation[] };

/** A compiled object schema. Fills defaults into `values` and turns decimal strings into numbers where the schema says integer. */
export type Validator<T> = (values: Record<string, JsonValue>) => Checked<T>;

// Lists every violation; bodies are bounded in bytes and nesting, which bounds the work that allErrors may cause.
const ajv = new Ajv2020({ allErrors: true, useDefaults: true, verbose: true, allowUnionTypes: true });
ajv.addKeyword({ keyword: EXPECTED, schemaType: "string" });

/** Compiles an object schema into a {@link Validator}: reports all violations at once, at most one per path. */
export function compileValidator<S extends TSchema>(schema: S): Validator<Static<S>> {
  const validate: ValidateFunction = ajv.compile(schema);
  const decimals = decimalNames(schema);
  return (values) => {
    for (const name of decimals) {
      const value = values[name];
      if (typeof value === "string") values[name] = parseDecimal(value);
    }
    if (validate(values)) return { ok: true, values: values as Static<S> };
    return { ok: false, violations: toViolations(validate.errors ?? []) };
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

/** Maximum number of violations listed; a list of thousands of wrong entries says nothing more, and takes time to write. */
const MAX_VIOLATIONS = 100;

function toViolations(errors: readonly ErrorObject[]): ParameterViolation[] {
  const byPath = new Map<string, ParameterViolation>();
  // A conditional adds nothing: the branch it took reports its own violations.
  for (const [index, error] of errors.filter(({ keyword }) => keyword !== "if").entries()) {
    if (byPath.size === MAX_VIOLATIONS) {
      return [...byPath.values(), { path: "", message: `and ${errors.length - index} more` }];
    }
    const violation = toViolation(error);
    // A wrong type also violates bounds, patterns and enumerations: the first violation is enough.
    if (!byPath.has(violation.path)) byPath.set(violation.path, violation);
  }
  return [...byPath.values()];
}

function toViolation(error: ErrorObject): ParameterViolation {
  const known = Object.keys((error.parentSchema?.["properties"] ?? {}) as object).join(", ");
  return describeSchemaError(error, `is unknown; expected one of ${known}`);
}
