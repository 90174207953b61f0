import { Ajv2020, type ErrorObject, type KeywordDefinition } from "ajv/dist/2020.js";
import type { Static, TSchema } from "typebox";
import { countOf } from "./countOf.ts";
import { describeValue } from "./describeValue.ts";
import type { ParameterViolation } from "./invalidParameter.ts";
import { didYouMean } from "./didYouMean.ts";
import { pointerTo, type JsonValue } from "./parseJson.ts";

/** Schema annotation that completes "must be …" in messages, for patterns and bounds that would say too little on their own. */
export const EXPECTED = "x-expected";

/** Fills in defaults, in place, and returns the violations, at most one for each path; changes nothing else. */
export type SchemaCheck = (value: unknown) => ParameterViolation[];

export interface SchemaCheckOptions {
  /** Completes the path of a member `name` that the schema doesn't know; `known` are the members that it has there. */
  readonly describeUnknown: (name: string, known: readonly string[]) => string;
  /** Keywords of one's own; their errors have a message. */
  readonly keywords?: readonly KeywordDefinition[];
}

/** Most violations listed: thousands of wrong entries say nothing more, and take time to write. */
export const MAX_VIOLATIONS = 100;

/**
 * Compiles a JSON Schema (draft 2020-12), each with a compiler of its own, because a compiler keeps something of everything that it compiled.
 * Reports all violations: whoever passes foreign values bounds their size. The schema itself is taken as valid: a test
 * checks the project's own, and a preset's consists of the keywords that a definition may use.
 */
export function compileSchema(
  schema: object,
  { describeUnknown, keywords = [] }: SchemaCheckOptions,
): SchemaCheck {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    // A condition may require a member that another branch describes.
    strictRequired: false,
    allowUnionTypes: true,
    useDefaults: true,
    verbose: true,
    meta: false,
    validateSchema: false,
    // What is compiled at each start checks a few values: shorter code would take longer to make than it saves.
    code: { optimize: false },
  });
  for (const keyword of [{ keyword: EXPECTED, schemaType: "string" as const }, ...keywords])
    ajv.addKeyword(keyword);
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : collectViolations(validate.errors ?? [], describeUnknown));
}

function collectViolations(
  errors: readonly ErrorObject[],
  describeUnknown: SchemaCheckOptions["describeUnknown"],
): ParameterViolation[] {
  const byPath = new Map<string, ParameterViolation>();
  // A conditional adds nothing: the branch it took reports its own violations.
  for (const [index, error] of errors.filter(({ keyword }) => keyword !== "if").entries()) {
    if (byPath.size === MAX_VIOLATIONS)
      return [...byPath.values(), { path: "", message: `and ${errors.length - index} more` }];
    const violation = describeError(error, describeUnknown);
    // A wrong type also violates bounds, patterns and enumerations: the first violation is enough.
    if (!byPath.has(violation.path)) byPath.set(violation.path, violation);
  }
  return [...byPath.values()];
}

/** Describes an error: where it is, what was expected with its bounds, and the actual value. */
function describeError(
  error: ErrorObject,
  describeUnknown: SchemaCheckOptions["describeUnknown"],
): ParameterViolation {
  const { keyword, params, propertyName } = error;
  // A problem with a name is reported at the member, not at the object.
  const path = propertyName === undefined ? error.instancePath : pointerTo(propertyName, error.instancePath);
  switch (keyword) {
    case "required": {
      const name = String(params["missingProperty"]);
      return { path: pointerTo(name, path), message: describeMissing(error, name) };
    }
    case "additionalProperties": {
      const name = String(params["additionalProperty"]);
      const known = Object.keys((error.parentSchema?.["properties"] ?? {}) as object);
      return { path: pointerTo(name, path), message: describeUnknown(name, known) };
    }
    case "propertyNames":
      return { path: pointerTo(String(params["propertyName"]), path), message: "is not a valid name" };
    default:
      return { path, message: describeValueError(error) };
  }
}

function describeMissing({ parentSchema }: ErrorObject, name: string): string {
  const { [name]: schema } = (parentSchema?.["properties"] ?? {}) as Readonly<
    Record<string, { readonly enum?: readonly string[] } | undefined>
  >;
  return schema?.enum === undefined ? "is required" : `is required: ${oneOf(schema.enum)}`;
}

function describeValueError({ keyword, params, data, message, parentSchema }: ErrorObject): string {
  const limit = Number(params["limit"]);
  const expected: unknown = parentSchema?.[EXPECTED];
  if (keyword === "minLength" && limit === 1) return "must not be empty";
  if (keyword === "enum") {
    const allowed = params["allowedValues"] as readonly string[];
    return `must be ${oneOf(allowed)}; got ${describeValue(data)}${didYouMean(data, allowed)}`;
  }
  // A value that may be secret is not repeated.
  if (typeof expected === "string" && parentSchema?.["writeOnly"] === true) return `must be ${expected}`;
  if (typeof expected === "string") return `must be ${expected}; got ${describeValue(data)}`;
  switch (keyword) {
    case "const":
      return `must be ${describeValue(params["allowedValue"])}; got ${describeValue(data)}`;
    case "type":
      return `must be ${nameType(params["type"])}; got ${describeValue(data)}`;
    case "minItems":
      return `must have at least ${countOf(limit, "item")}; got ${(data as unknown[]).length}`;
    case "maxItems":
      return `must have at most ${countOf(limit, "item")}; got ${(data as unknown[]).length}`;
    case "minLength":
      return `must have at least ${countOf(limit, "character")}; got ${(data as string).length}`;
    case "maxLength":
      return `must have at most ${countOf(limit, "character")}; got ${(data as string).length}`;
    case "pattern":
      return `must match ${params["pattern"]}; got ${describeValue(data)}`;
    case "minimum":
      return `must be at least ${limit}; got ${describeValue(data)}`;
    case "maximum":
      return `must be at most ${limit}; got ${describeValue(data)}`;
    default:
      return message ?? keyword;
  }
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `"${values[0]}"` : `one of ${values.join(", ")}`;
}

/** `type` is a list if the schema allows several. */
function nameType(type: unknown): string {
  return [type]
    .flat()
    .map((name) => `${/^[aio]/.test(String(name)) ? "an" : "a"} ${String(name)}`)
    .join(" or ");
}

type Checked<T> =
  | { readonly ok: true; readonly values: T }
  | { readonly ok: false; readonly violations: readonly ParameterViolation[] };

/** A compiled object schema. Fills defaults into `values` and turns decimal strings into numbers where the schema says integer. */
export type Validator<T> = (values: Record<string, JsonValue>) => Checked<T>;

/** Compiles an object schema into a {@link Validator}: reports all violations at once, at most one per path. */
export function compileValidator<S extends TSchema>(schema: S): Validator<Static<S>> {
  const check = compileSchema(schema, {
    describeUnknown: (name, known) =>
      known.length === 0
        ? "is unknown; no parameters are taken here"
        : `is unknown; expected one of ${known.join(", ")}${didYouMean(name, known)}`,
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
