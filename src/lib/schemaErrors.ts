import type { ErrorObject } from "ajv/dist/2020.js";
import { describeValue } from "./describeValue.ts";
import type { ParameterViolation } from "./invalidParameter.ts";
import { pointerTo } from "./parseJson.ts";

/** Schema annotation that completes "must be …" in messages, for patterns and bounds that would say too little on their own. */
export const EXPECTED = "x-expected";

/**
 * Describes an error of an Ajv instance with `verbose`: where it is, what was expected with its bounds, and the actual value.
 *
 * @param unknownMember message for a member that the schema does not know, to follow its path.
 */
export function describeSchemaError(error: ErrorObject, unknownMember: string): ParameterViolation {
  const { keyword, params, propertyName } = error;
  // A problem with a name is reported at the member, not at the object.
  const path = propertyName === undefined ? error.instancePath : pointerTo(propertyName, error.instancePath);
  switch (keyword) {
    case "required": {
      const name = String(params["missingProperty"]);
      return { path: pointerTo(name, path), message: describeMissing(error, name) };
    }
    case "additionalProperties":
      return { path: pointerTo(String(params["additionalProperty"]), path), message: unknownMember };
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
  if (keyword === "enum")
    return `must be ${oneOf(params["allowedValues"] as readonly string[])}; got ${describeValue(data)}`;
  if (typeof expected === "string") return `must be ${expected}; got ${describeValue(data)}`;
  switch (keyword) {
    case "const":
      return `must be ${describeValue(params["allowedValue"])}; got ${describeValue(data)}`;
    case "type":
      return `must be ${nameType(params["type"])}; got ${describeValue(data)}`;
    case "minItems":
      return `must have at least ${count(limit, "item")}; got ${(data as unknown[]).length}`;
    case "maxItems":
      return `must have at most ${count(limit, "item")}; got ${(data as unknown[]).length}`;
    case "minLength":
      return `must have at least ${count(limit, "character")}; got ${(data as string).length}`;
    case "maxLength":
      return `must have at most ${count(limit, "character")}; got ${(data as string).length}`;
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

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
