import { RETURN_TYPES } from "../domain/vocabulary.ts";
const name = { type: "string", pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$" };
const parameterName = { type: "string", pattern: "^[A-Za-z][A-Za-z0-9_]{0,63}$" };
const text = { type: "string", minLength: 1, maxLength: 2_000 };
const shortText = { type: "string", minLength: 1, maxLength: 100 };
const length = { type: "integer", minimum: 0, maximum: 30_720 };
const decimalText = { type: ["string", "integer"], pattern: "^-?[0-9]{1,78}$" };
const scalarKeywords = {
  title: text,
  description: text,
  default: {},
  examples: { type: "array", maxItems: 20 },
  enum: { type: "array", minItems: 1, maxItems: 200, items: { type: "string", maxLength: 200 } },
  minLength: length,
  maxLength: length,
  pattern: { type: "string", maxLength: 200 },
  decimal: {
    type: "object",
    properties: { minimum: decimalText, maximum: decimalText, atMost: parameterName },
    additionalProperties: false,
  },
};
/** Keywords of a value's schema for text, for whole numbers, and for both. */
const valueTexts = {
  minLength: length,
  maxLength: length,
  pattern: { type: "string", maxLength: 200 },
  enum: { type: "array", minItems: 1, maxItems: 200, items: { type: "string", maxLength: 200 } },
};
const safeInteger = {
  type: "integer",
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
};
const valueNotes = { title: text, description: text };
const word = { type: "string", pattern: "^0x[0-9a-f]{64}$" };
const params = { type: "object", maxProperties: 32 };
/**
 * JSON Schema (draft 2020-12) of a `preset.json`. It lists every keyword that a parameter's own schema may use, so that a preset
 * brings no reference that Ajv would have to resolve and no keyword that takes more than linear time.
 */
export const definitionSchema = {
  type: "object",
  properties: {
    $schema: { type: "string", maxLength: 200 },
    name,
    title: { type: "string", minLength: 1, maxLength: 100 },
    description: text,
    parameters: {
      type: "object",
      properties: {
        type: { const: "object" },
        properties: {
          type: "object",
          maxProperties: 32,
          propertyNames: parameterName,
          additionalProperties: {
            type: "object",
            properties: {
              ...scalarKeywords,
              type: { enum: ["string", "boolean", "array"] },
              items: {
                type: "object",
                properties: { ...scalarKeywords, type: { enum: ["string", "boolean"] } },
                additionalProperties: false,
              },
              minItems: length,
              maxItems: length,
            },
            additionalProperties: false,
          },
        },
        required: { type: "array", maxItems: 32, items: parameterName },
        additionalProperties: { const: false },
      },
      required: ["type", "properties"],
      additionalProperties: false,
    },
    args: { type: "array", maxItems: 32, items: parameterName },
    returnType: { enum: [...RETURN_TYPES] },
    maxResultBytes: { type: "string", minLength: 1, maxLength: 500 },
    show: {
      type: "object",
      properties: {
        as: { enum: ["coin", "dice", "list"] },
        sides: { type: "array", minItems: 2, maxItems: 2, items: shortText },
        faces: parameterName,
        before: { type: "string", maxLength: 100 },
        separator: shortText,
        count: parameterName,
        from: parameterName,
      },
      required: ["as"],
      additionalProperties: false,
    },
    value: {
      type: "object",
      properties: {
        ...valueNotes,
        ...valueTexts,
        type: { enum: ["boolean", "string", "array"] },
        items: {
          type: "object",
          properties: {
            ...valueNotes,
            ...valueTexts,
            type: { enum: ["integer", "string"] },
            minimum: safeInteger,
            maximum: safeInteger,
          },
          required: ["type"],
          additionalProperties: false,
        },
        minItems: length,
        maxItems: length,
      },
      required: ["type"],
      additionalProperties: false,
    },
    examples: {
      type: "array",
      minItems: 1,
      maxItems: 50,
      items: {
        type: "object",
        properties: {
          params,
          word,
          parsedResult: { type: "string", maxLength: 30_720 },
          result: { type: "string", pattern: "^0x([0-9a-f]{2})*$" },
        },
        required: ["params", "word", "parsedResult"],
        additionalProperties: false,
      },
    },
    distributions: {
      type: "array",
      maxItems: 20,
      items: {
        type: "object",
        properties: {
          params,
          outcomes: {
            type: "object",
            minProperties: 2,
            maxProperties: 5_000,
            additionalProperties: { type: "number", exclusiveMinimum: 0 },
          },
          bounds: { type: "array", minItems: 3, maxItems: 1_001, items: decimalText },
        },
        required: ["params"],
        minProperties: 2,
        maxProperties: 2,
        additionalProperties: false,
      },
    },
  },
  required: ["name", "title", "description", "parameters", "args", "returnType", "examples"],
  additionalProperties: false,
};
