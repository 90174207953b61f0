import { Ajv2020, type ErrorObject, type FuncKeywordDefinition } from "ajv/dist/2020.js";
import type { DataValidateFunction, DataValidationCxt } from "ajv/dist/types/index.js";
import type { ParameterViolation } from "../lib/invalidParameter.ts";
import { describeSchemaError } from "../lib/schemaErrors.ts";
import { explainNotDecimal, findDecimal, MAX_UINT256 } from "./decimal.ts";
import type { DecimalRule, ParameterSchema, PresetDefinition } from "./presetDefinition.ts";

/** Fills in defaults, in place, and returns the violations; it checks values but changes none. */
export type ParameterValidator = (params: Record<string, unknown>) => ParameterViolation[];

/** Most violations listed in one answer. */
const MAX_VIOLATIONS = 20;

/**
 * Every definition gets its own compiler, because a compiler keeps something of everything it compiled. The check of the schema itself is
 * left to {@link schemaChecker}: the meta-schema takes ten times as long to compile as a preset's schema.
 */
const COMPILER_OPTIONS = {
  allErrors: true,
  strict: true,
  useDefaults: true,
  verbose: true,
  meta: false,
  validateSchema: false,
} as const;

/** Checks schemas against the meta-schema, which it compiles once. */
const schemaChecker = new Ajv2020();

/** Compiles the parameters of a definition in which {@link findDefinitionErrors} found no errors. */
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
 * Returns the parameters as a schema that any JSON Schema tool understands: our own keyword `decimal` is replaced by the choice of an
 * integer or its digits, and unknown members are refused.
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

/** A source gets its text as UTF-8: a text without a UTF-8 form could not reach it unchanged. */
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

/** Turns a function that explains what is wrong into a keyword's check. Ajv reads the errors from the check itself. */
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
