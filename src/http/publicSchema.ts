import { TYPE } from "../api/common.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";

type Json = Readonly<Record<string, unknown>>;

/** Keywords that map names to schemas, that list schemas, and that hold one schema. */
const MAPS = new Set(["properties", "patternProperties", "$defs"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SINGLES = new Set(["items", "additionalProperties", "not"]);
/** Keywords that constrain numbers, and strings. */
const OF_NUMBERS = ["minimum", "maximum"];
const OF_TEXTS = ["pattern", "minLength", "maxLength"];

/**
 * Rewrites one of our validator's schemas into one that every tool understands: it drops the annotations, and where a whole number
 * may come as an integer or as text it offers a choice of two schemas, so that no `pattern` applies to an integer.
 */
export function publicSchema(schema: Json): Json {
  const published: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === EXPECTED || key === TYPE) continue;
    if (MAPS.has(key))
      published[key] = Object.fromEntries(
        Object.entries(value as Record<string, Json>).map(([name, one]) => [name, publicSchema(one)]),
      );
    else if (LISTS.has(key)) published[key] = (value as readonly Json[]).map(publicSchema);
    else if (SINGLES.has(key) && typeof value === "object" && value !== null)
      published[key] = publicSchema(value as Json);
    else published[key] = value;
  }
  return splitTypes(published);
}

function splitTypes(schema: Json): Json {
  const { type, ...rest } = schema;
  if (!Array.isArray(type)) return schema;
  const pick = (keys: readonly string[]): Json =>
    Object.fromEntries(keys.flatMap((key) => (rest[key] === undefined ? [] : [[key, rest[key]]])));
  const shared = Object.fromEntries(
    Object.entries(rest).filter(([key]) => !OF_NUMBERS.includes(key) && !OF_TEXTS.includes(key)),
  );
  const anyOf = (type as readonly string[]).map((one) => ({
    type: one,
    ...pick(one === "string" ? OF_TEXTS : OF_NUMBERS),
  }));
  return { anyOf, ...shared };
}
