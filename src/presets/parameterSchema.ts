import type { FuncKeywordDefinition } from "ajv/dist/2020.js";
import type { DataValidateFunction, DataValidationCxt } from "ajv/dist/types/index.js";
import { didYouMean } from "../lib/didYouMean.ts";
import { compileSchema, type SchemaCheck } from "../lib/schemaCheck.ts";
import { PRESET_REQUEST_PARAMETERS } from "../domain/vocabulary.ts";
import { explainNotDecimal, findDecimal, MAX_UINT256 } from "./decimal.ts";
import type { DecimalRule, ParameterSchema, PresetDefinition } from "./presetDefinition.ts";

/** Compiles the parameters of the preset `name`, in which {@link findDefinitionErrors} found no errors. */
export function compileParameters(
  definition: Pick<PresetDefinition, "parameters" | "args">,
  name: string,
): SchemaCheck {
  const properties = Object.fromEntries(
    Object.entries(definition.parameters.properties).map(([name, schema]) => [name, withWellFormed(schema)]),
  );
  const schema = { ...definition.parameters, properties, additionalProperties: false };
  const { args } = definition;
  const known = args.length === 0 ? "takes no parameters" : `takes ${args.join(", ")}`;
  return compileSchema(schema, {
    describeUnknown: (given) =>
      `is unknown; ${name} ${known}${didYouMean(given, [...args, ...PRESET_REQUEST_PARAMETERS])}`,
    keywords: [decimalKeyword, wellFormedKeyword],
  });
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
