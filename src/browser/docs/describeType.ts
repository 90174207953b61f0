/** The part of JSON Schema that the API's description uses. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly title?: string;
  readonly default?: unknown;
}

/** What the patterns of the API's texts mean. A pattern that is missing here is shown as it is; a test finds none. */
const PATTERNS: readonly (readonly [pattern: RegExp, words: (found: RegExpExecArray) => string])[] = [
  [/^\^0x\[0-9a-f(?:A-F)?\]\{40\}\$$/, () => "address: 20 bytes as 0x-hex"],
  [/^\^0x\[0-9a-f(?:A-F)?\]\{(\d+)\}\$$/, ([, digits]) => `${Number(digits) / 2} bytes as 0x-hex`],
  [/^\^0x(?:\(\[0-9a-f\]\{2\}\)|\[0-9a-fA-F\])\*\$$/, () => "bytes as 0x-hex"],
  [/^\^-?\??\[0-9\](?:\+|\{1,78\})\$$/, () => "whole number in decimal, as text"],
  [/^\^([a-z]+_)\[/, ([, prefix]) => `id that begins with ${prefix}`],
  [/^\^\[0-9\]\{4\}-\[0-9\]\{2\}-\[0-9\]\{2\}\$$/, () => "day, such as 2026-12-24"],
  [/^\^\\d\{4\}-\\d\{2\}-\\d\{2\}T/, () => "time in ISO 8601, with its zone"],
  [/^\^\[!-~\]\{1,255\}\$$/, () => "1 to 255 visible ASCII characters"],
  [/^\^\[A-Za-z0-9_-\]\{1,64\}\$$/, () => "1 to 64 letters, digits, - and _"],
];
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "time in ISO 8601",
  date: "day, such as 2026-12-24",
};

/** Says in words which values a schema allows. */
export function describeType(schema: Schema): string {
  const { type, anyOf, items } = schema;
  if (schema.const !== undefined) return `always ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined) return choice(schema.enum.map((value) => JSON.stringify(value)));
  if (anyOf !== undefined) return describeChoice(anyOf);
  switch (type) {
    case "string":
      return describeText(schema);
    case "integer":
      return `whole number${range(schema.minimum, schema.maximum)}`;
    case "number":
      return `number${range(schema.minimum, schema.maximum)}`;
    case "boolean":
      return "true or false";
    case "array":
      return `list${range(schema.minItems, schema.maxItems)}, each: ${describeType(items ?? {})}`;
    case undefined:
      return "any JSON value";
    default:
      return type;
  }
}

function describeChoice(schemas: readonly Schema[]): string {
  const number = schemas.find(({ type }) => type === "integer");
  const isPair =
    schemas.length === 2 &&
    number !== undefined &&
    schemas.some(({ pattern }) => pattern?.includes("{1,78}"));
  return isPair
    ? `${describeType(number)}, or the same as text`
    : choice([...new Set(schemas.map(describeType))]);
}

function describeText({ pattern, format, minLength, maxLength }: Schema): string {
  if (format !== undefined && FORMATS[format] !== undefined) return FORMATS[format];
  if (pattern === undefined) return `text${range(minLength, maxLength, " characters")}`;
  for (const [known, words] of PATTERNS) {
    const found = known.exec(pattern);
    if (found !== null) return words(found);
  }
  return `text that matches ${pattern}`;
}

function range(least: number | undefined, most: number | undefined, unit = ""): string {
  if (least === undefined) return most === undefined ? "" : `, at most ${most}${unit}`;
  return most === undefined ? `, at least ${least}${unit}` : `, ${least} to ${most}${unit}`;
}

function choice(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? "nothing") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
