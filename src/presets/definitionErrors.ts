import { didYouMean } from "../lib/didYouMean.ts";
import { compileSchema } from "../lib/schemaCheck.ts";
import { PRESET_REQUEST_PARAMETERS } from "../domain/vocabulary.ts";
import { findDecimal } from "./decimal.ts";
import { followingSchemaOf } from "./valueSchema.ts";
import { definitionSchema } from "./definitionSchema.ts";
import type { DefinitionError, PresetDefinition, ParameterSchema } from "./presetDefinition.ts";

const check = compileSchema(definitionSchema, {
  describeUnknown: (name, known) => `is not a member that is known here${didYouMean(name, known)}`,
});

/**
 * Checks the shape of a `preset.json` and that its parts fit together, as far as they have the right shape. If the result is empty, the
 * value is a {@link PresetDefinition}.
 */
export function findDefinitionErrors(value: unknown, folderName: string): DefinitionError[] {
  const errors = check(value).map(({ path, message }) => ({ pointer: path, reason: message }));
  const mismatches = findMismatches(value as PresetDefinition, folderName, findSoundParts(errors));
  return [...errors, ...mismatches];
}

/** Names that have another meaning on every JavaScript object. */
const OBJECT_NAMES = ["constructor", "prototype", ...Object.getOwnPropertyNames(Object.prototype)];
/** Names of a request's own parameters, some of them for later, and names that no parameter can have. */
const RESERVED_PARAMETERS = new Set([...PRESET_REQUEST_PARAMETERS, "secrets", ...OBJECT_NAMES]);
/** Names that no preset can have. */
const RESERVED_NAMES = new Set(["network", "preset", ...OBJECT_NAMES]);

const UNSAFE_PATTERN =
  "must begin with ^ and be a row of characters and classes with at most one of * + ? {m,n}, and with one at most 200 repeated by {n}; " +
  "groups, alternatives and references could take forever";

/** Finds parts of a definition that do not fit together, or do not fit its folder. Looks only at those that are sound. */
function* findMismatches(
  definition: PresetDefinition,
  folderName: string,
  areSound: AreSound,
): Generator<DefinitionError> {
  if (areSound("/name")) yield* findNameMismatches(definition.name, folderName);
  if (areSound("/parameters", "/args")) yield* findParameterMismatches(definition);
  if (areSound("/parameters", "/returnType", "/show")) yield* findShowMismatches(definition);
  if (areSound("/show", "/value")) yield* findValueMismatches(definition);
  if (areSound("/returnType", "/distributions")) yield* findDistributionMismatches(definition);
  if (areSound("/returnType", "/maxResultBytes")) yield* findBoundMismatches(definition);
}

function* findNameMismatches(name: string, folderName: string): Generator<DefinitionError> {
  const pointer = "/name";
  if (name !== folderName)
    yield { pointer, reason: `must be the folder's name, ${quote(folderName)}, not ${quote(name)}` };
  if (RESERVED_NAMES.has(name)) yield { pointer, reason: `${quote(name)} is a reserved name` };
}

function* findParameterMismatches({ parameters, args }: PresetDefinition): Generator<DefinitionError> {
  const names = Object.keys(parameters.properties);
  for (const parameter of names) {
    const pointer = `/parameters/properties/${parameter}`;
    if (RESERVED_PARAMETERS.has(parameter))
      yield { pointer, reason: `${quote(parameter)} is a reserved name` };
    if (!args.includes(parameter)) {
      yield { pointer: "/args", reason: `must list every parameter; ${quote(parameter)} is missing` };
    }
    const schema = parameters.properties[parameter] as ParameterSchema;
    if (schema.default === undefined && !(parameters.required ?? []).includes(parameter)) {
      yield { pointer, reason: 'must have a default or be listed in "required"' };
    }
    yield* findSchemaMismatches(schema, pointer, names);
  }
  for (const [index, parameter] of args.entries()) {
    if (!names.includes(parameter)) {
      yield {
        pointer: `/args/${index}`,
        reason: `${quote(parameter)} is not one of the parameters${didYouMean(parameter, names)}`,
      };
    } else if (args.indexOf(parameter) !== index) {
      yield { pointer: `/args/${index}`, reason: `${quote(parameter)} occurs twice` };
    }
  }
  for (const [index, parameter] of (parameters.required ?? []).entries()) {
    if (!names.includes(parameter)) {
      yield {
        pointer: `/parameters/required/${index}`,
        reason: `${quote(parameter)} is not one of the parameters${didYouMean(parameter, names)}`,
      };
    }
  }
}

function* findBoundMismatches({ returnType, maxResultBytes }: PresetDefinition): Generator<DefinitionError> {
  if (returnType === "string" && maxResultBytes === undefined) {
    yield {
      pointer: "/returnType",
      reason: '"string" needs "maxResultBytes", a bound on the size of the result',
    };
  }
  if (returnType !== "string" && maxResultBytes !== undefined) {
    yield {
      pointer: "/maxResultBytes",
      reason: `is only for "string": a ${returnType} always takes 32 bytes`,
    };
  }
}

/** The members that each value of `as` takes, and the return type it needs. */
const SHOWN = {
  coin: { required: ["sides"], optional: [], returnType: "uint256" },
  dice: { required: [], optional: ["faces"], returnType: "string" },
  list: { required: ["separator"], optional: ["before", "count", "from"], returnType: "string" },
} as const;

function* findShowMismatches({ show, parameters, returnType }: PresetDefinition): Generator<DefinitionError> {
  if (show === undefined) return;
  const { required, optional, returnType: wanted } = SHOWN[show.as];
  const members = Object.keys(show).filter((member) => member !== "as");
  for (const member of required)
    if (!members.includes(member))
      yield { pointer: "/show", reason: `needs ${quote(member)} where "as" is ${quote(show.as)}` };
  for (const member of members) {
    const pointer = `/show/${member}`;
    if (![...required, ...optional].some((one) => one === member))
      yield { pointer, reason: `is not allowed where "as" is ${quote(show.as)}` };
    const parameter = (show as Readonly<Record<string, unknown>>)[member] as string;
    const isParameter = member === "faces" || member === "count";
    if (isParameter && parameters.properties[parameter]?.decimal === undefined)
      yield { pointer, reason: `${quote(parameter)} is not a whole-number parameter` };
    if (member === "from" && parameters.properties[parameter]?.items?.type !== "string")
      yield { pointer, reason: `${quote(parameter)} is not a parameter with a list of strings` };
  }
  if (returnType !== wanted)
    yield { pointer: "/show/as", reason: `${quote(show.as)} is only for a returnType of ${quote(wanted)}` };
}

function* findValueMismatches({ value, show }: PresetDefinition): Generator<DefinitionError> {
  if (value === undefined) return;
  const wanted = followingSchemaOf(show);
  const shown = show === undefined ? 'without "show"' : `where "as" is ${quote(show.as)}`;
  if (value.type !== wanted.type)
    return yield { pointer: "/value/type", reason: `must be ${quote(wanted.type)} ${shown}` };
  if (value.items?.type !== wanted.items?.type)
    yield {
      pointer: "/value/items",
      reason:
        wanted.items === undefined
          ? 'is only for "type": "array"'
          : `must have "type": ${quote(wanted.items.type)} ${shown}`,
    };
  for (const [pointer, { type, ...keywords }] of [
    ["/value", value],
    ["/value/items", value.items ?? { type: "string" }],
  ] as const) {
    for (const keyword of Object.keys(keywords)) {
      const only = VALUE_KEYWORDS[keyword];
      if (only !== undefined && only !== type)
        yield { pointer: `${pointer}/${keyword}`, reason: `is not for "type": ${quote(type)}` };
    }
    const { pattern } = keywords as { readonly pattern?: string };
    if (pattern !== undefined && !isSafePattern(pattern))
      yield { pointer: `${pointer}/pattern`, reason: UNSAFE_PATTERN };
  }
}

/** The type that each keyword of a value's schema is for. */
const VALUE_KEYWORDS: Readonly<Record<string, string>> = {
  minLength: "string",
  maxLength: "string",
  pattern: "string",
  enum: "string",
  minimum: "integer",
  maximum: "integer",
  minItems: "array",
  maxItems: "array",
};

function* findDistributionMismatches({
  distributions,
  returnType,
}: PresetDefinition): Generator<DefinitionError> {
  for (const [index, { outcomes, bounds }] of (distributions ?? []).entries()) {
    const pointer = `/distributions/${index}`;
    for (const outcome of returnType === "string" ? [] : Object.keys(outcomes ?? {})) {
      if (findDecimal(outcome) === undefined) {
        yield {
          pointer: `${pointer}/outcomes`,
          reason: `${quote(outcome)} is not the text of a ${returnType}`,
        };
      }
    }
    if (bounds === undefined) continue;
    const edges = bounds.map(BigInt);
    const isAscending = edges.every((edge, at) => at === 0 || edge > (edges[at - 1] as bigint));
    if (!isAscending) yield { pointer: `${pointer}/bounds`, reason: "must be in ascending order" };
    if (returnType === "string") yield { pointer: `${pointer}/bounds`, reason: "are only for whole numbers" };
  }
}

function* findSchemaMismatches(
  schema: ParameterSchema,
  pointer: string,
  names: readonly string[],
): Generator<DefinitionError> {
  if ((schema.decimal === undefined) === (schema.type === undefined)) {
    yield { pointer, reason: 'must have either "decimal" or a "type"' };
  }
  if ((schema.type === "array") !== (schema.items !== undefined)) {
    yield { pointer, reason: '"type": "array" and "items" go together' };
  }
  for (const keyword of ["minItems", "maxItems"] as const) {
    if (schema[keyword] !== undefined && schema.type !== "array") {
      yield { pointer: `${pointer}/${keyword}`, reason: "is only for arrays" };
    }
  }
  for (const keyword of ["minLength", "maxLength", "pattern", "enum"] as const) {
    if (schema[keyword] !== undefined && schema.type !== "string") {
      yield { pointer: `${pointer}/${keyword}`, reason: "is only for strings" };
    }
  }
  if (schema.pattern !== undefined && !isSafePattern(schema.pattern)) {
    yield { pointer: `${pointer}/pattern`, reason: UNSAFE_PATTERN };
  }
  const atMost = schema.decimal?.atMost;
  if (atMost !== undefined && !names.includes(atMost)) {
    yield { pointer: `${pointer}/decimal/atMost`, reason: `${quote(atMost)} is not one of the parameters` };
  }
  if (schema.items?.decimal?.atMost !== undefined) {
    yield {
      pointer: `${pointer}/items/decimal/atMost`,
      reason: "is only for a parameter itself, not for items",
    };
  }
  if (schema.items !== undefined) yield* findSchemaMismatches(schema.items, `${pointer}/items`, names);
}

function quote(value: unknown): string {
  return JSON.stringify(value);
}

const ATOM = String.raw`(?:[A-Za-z0-9 _:;,@#%&=~<>!"'/-]|\\[dwsDWS.\\/^$*+?()[\]{}|-]|\[\^?(?:[^\\\]]|\\[dwsDWS.\\/^$*+?()[\]{}|-])+\])`;
const SAFE_PATTERN = new RegExp(
  String.raw`^\^(?:${ATOM}(?:\{[0-9]{1,5}\})?)*(?:${ATOM}(?:[*+?]|\{[0-9]{1,5},[0-9]{0,5}\}))?(?:${ATOM}(?:\{[0-9]{1,5}\})?)*\$?$`,
);

/** A part of variable length, or a character of a class or an escape that looks like one. */
const VARIABLE = /[*+?]|,[0-9]*\}/;
/** Most characters of fixed number beside a part of variable length: each is compared once for every length that the part may have. */
const MAX_FIXED = 200;

/**
 * Whether a regular expression takes linear time on any input: anchored, a sequence of characters and classes without groups,
 * alternatives or references, at most one of them of variable length. Never throws.
 */
function isSafePattern(pattern: string): boolean {
  if (!SAFE_PATTERN.test(pattern)) return false;
  const counts = [...pattern.matchAll(/\{([0-9]+)\}/g)].map(([, count]) => Number(count));
  const fixed = counts.reduce((sum, count) => sum + count, 0);
  if (fixed > MAX_FIXED && VARIABLE.test(pattern)) return false;
  try {
    return RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Whether all values at these JSON Pointers are free of errors: those in them, and those of what holds them. */
export type AreSound = (...pointers: readonly string[]) => boolean;

/** Tells which parts of a `preset.json` are free of these errors, so that what depends on these alone can still be checked. */
export function findSoundParts(errors: readonly DefinitionError[]): AreSound {
  const isIn = (pointer: string, holder: string): boolean => `${pointer}/`.startsWith(`${holder}/`);
  return (...pointers) =>
    !errors.some((error) =>
      pointers.some((pointer) => isIn(pointer, error.pointer) || isIn(error.pointer, pointer)),
    );
}
