import { Ajv2020, type ErrorObject, type FuncKeywordDefinition } from "ajv/dist/2020.js";
import type { DataValidateFunction, DataValidationCxt } from "ajv/dist/types/index.js";
import type { ParameterViolation } from "../lib/invalidParameter.ts";
import { describeSchemaError } from "../lib/schemaErrors.ts";
import { explainNotDecimal, findDecimal, MAX_UINT256 } from "./decimal.ts";
import type { DecimalRule, ParameterSchema, PresetDefinition } from "./presetDefinition.ts";

/** Fills in defaults, in place, and gives back what is wrong; checks values only, changes none of them. */
export type ParameterValidator = (params: Record<string, unknown>) => ParameterViolation[];

/** Most violations that one answer lists. */
const MAX_VIOLATIONS = 20;

/**
 * One compiler for each definition, since a compiler keeps something of all that it compiled. It leaves the check of the schema itself to
 * {@link schemaChecker}: the schema of schemas takes ten times as long to compile as a preset's.
 */
const COMPILER_OPTIONS = {
  allErrors: true,
  strict: true,
  useDefaults: true,
  verbose: true,
  meta: false,
  validateSchema: false,
} as const;

/** Checks schemas against the schema of schemas, which it compiles once. */
const schemaChecker = new Ajv2020();

/** Compiles the parameters of a definition that {@link findDefinitionErrors} found nothing wrong with. */
export function compileParameters(definition: PresetDefinition): ParameterValidator {
  const ajv = new Ajv2020(COMPILER_OPTIONS);
  ajv.addKeyword(decimalKeyword);
  ajv.addKeyword(wellFormedKeyword);
  const properties = Object.fromEntries(
    Object.entries(definition.parameters.properties).map(([name, schema]) => [name, withWellFormed(schema)]),
  );
  const schema = { ...definition.parameters, properties, additionalProperties: false };
  void schemaChecker.validateSchema(schema, true);
  const validate = ajv.compile(schema);
  return (params) => {
    if (validate(params)) return [];
    return collectViolations(validate.errors ?? [], definition);
  };
}

/**
 * The parameters as a schema that any JSON Schema tool understands: in place of `decimal`, which is ours, stands the choice of an
 * integer or its digits; unknown members are refused.
 */
export function publishParameterSchema(definition: PresetDefinition): Readonly<Record<string, unknown>> {
  const properties = Object.fromEntries(
    Object.entries(definition.parameters.properties).map(([name, schema]) => [
      name,
      schema.items === undefined ? publish(schema) : { ...schema, items: publish(schema.items) },
    ]),
  );
  return { ...definition.parameters, properties, additionalProperties: false };
}

function publish({ decimal, ...schema }: ParameterSchema): object {
  if (decimal === undefined) return schema;
  const isSigned = (findDecimal(decimal.minimum) ?? 0n) < 0n;
  const bound = (name: "minimum" | "maximum"): object => {
    const value = Number(findDecimal(decimal[name]) ?? Number.NaN);
    return Number.isSafeInteger(value) ? { [name]: value } : {};
  };
  return {
    anyOf: [
      { type: "string", pattern: isSigned ? "^-?[0-9]{1,78}$" : "^[0-9]{1,78}$" },
      { type: "integer", ...bound("minimum"), ...bound("maximum") },
    ],
    ...schema,
  };
}

function withWellFormed(schema: ParameterSchema): object {
  if (schema.type === "string") return { ...schema, wellFormed: true };
  if (schema.items === undefined) return schema;
  return { ...schema, items: withWellFormed(schema.items) };
}

const decimalKeyword: FuncKeywordDefinition = {
  keyword: "decimal",
  schemaType: "object",
  errors: true,
  compile: (rule: DecimalRule) =>
    createCheck("decimal", (value, context) => explainDecimal(rule, value, context?.parentData)),
};

/** A source gets its text as UTF-8: what has no such form could not reach it as it was given. */
const wellFormedKeyword: FuncKeywordDefinition = {
  keyword: "wellFormed",
  type: "string",
  schemaType: "boolean",
  errors: true,
  compile: () =>
    createCheck("wellFormed", (value) =>
      (value as string).isWellFormed()
        ? undefined
        : "must be Unicode text; half of a surrogate pair has no UTF-8 form",
    ),
};

/** Makes a keyword's check of a function that says what is wrong. Ajv reads the errors from the check itself. */
function createCheck(
  keyword: string,
  explain: (value: unknown, context: DataValidationCxt | undefined) => string | undefined,
): DataValidateFunction {
  const check: DataValidateFunction = (value: unknown, context) => {
    const message = explain(value, context);
    check.errors = message === undefined ? [] : [{ keyword, message, params: {} }];
    return message === undefined;
  };
  return check;
}

function explainDecimal(
  rule: DecimalRule,
  value: unknown,
  siblings: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const number = findDecimal(value);
  if (number === undefined) return explainNotDecimal(value);
  const minimum = findDecimal(rule.minimum) ?? 0n;
  const maximum = findDecimal(rule.maximum) ?? MAX_UINT256;
  if (number < minimum) return `must be at least ${minimum}, not ${number}`;
  if (number > maximum) return `must be at most ${maximum}, not ${number}`;
  if (rule.atMost === undefined) return undefined;
  const other: unknown = siblings?.[rule.atMost];
  const limit = Array.isArray(other) ? BigInt(other.length) : findDecimal(other);
  if (limit === undefined || number <= limit) return undefined;
  const named = Array.isArray(other) ? `the length of ${rule.atMost}` : rule.atMost;
  return `must be at most ${named}, which is ${limit}, not ${number}`;
}

function collectViolations(
  errors: readonly ErrorObject[],
  definition: PresetDefinition,
): ParameterViolation[] {
  const violations = errors.slice(0, MAX_VIOLATIONS).map((error) => describe(error, definition));
  if (errors.length > MAX_VIOLATIONS) {
    violations.push({
      path: "",
      message: `${errors.length - MAX_VIOLATIONS} more violations are not listed`,
    });
  }
  return violations;
}

function describe(error: ErrorObject, { name, args }: PresetDefinition): ParameterViolation {
  const known = args.length === 0 ? "takes no parameters" : `takes ${args.join(", ")}`;
  return describeSchemaError(error, `is unknown; ${name} ${known}`);
}
