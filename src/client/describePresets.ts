import type { PresetView } from "./types.ts";

/** The subset of JSON Schema that presets use. */
interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/**
 * Generates TypeScript for the presets' parameters and values: `export type Presets`, for `createClient<Presets>`.
 *
 * @param from module that exports `Decimal`.
 */
export function describePresets(
  presets: readonly Pick<PresetView, "name" | "description" | "parameters" | "value">[],
  from = "tyche/client",
): string {
  const sorted = presets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const members = sorted.map(
    ({ name, description, parameters, value }) =>
      `${comment(description, "  ")}  ${property(name)}: {\n    params: ${describeParameters(parameters)};\n    value: ${valueTypeOf(value)};\n  };\n`,
  );
  const body = members.join("");
  const needsDecimal = /\bDecimal\b/.test(body.replaceAll(/\/\*\*.*?\*\//gs, ""));
  return (
    "// Written by `tyche client generate` from GET /api/presets.\n" +
    (needsDecimal ? `import type { Decimal } from ${JSON.stringify(from)};\n` : "") +
    `\n/** Parameters and value of each preset. */\nexport type Presets = {\n${body}};\n`
  );
}

function describeParameters(schema: Schema): string {
  const { properties = {}, required = [] } = schema;
  const members = Object.entries(properties).map(([name, one]) => {
    // The service fills in defaults before it checks which parameters are required.
    const mark = required.includes(name) && one.default === undefined ? "" : "?";
    const fallback = one.default === undefined ? "" : ` Default ${JSON.stringify(one.default)}.`;
    return `${comment(`${one.description ?? ""}${fallback}`, "      ")}      ${property(name)}${mark}: ${typeOf(one)};\n`;
  });
  return members.length === 0 ? "Record<string, never>" : `{\n${members.join("")}    }`;
}

/** Returns the type of a value. Its whole numbers are numbers: those that JSON readers would round are too rare to burden every caller. */
function valueTypeOf({ enum: values, type, items, anyOf }: Schema): string {
  if (type === "array") return `readonly ${parenthesized(valueTypeOf(items ?? {}))}[]`;
  if (anyOf !== undefined) return "number";
  if (values !== undefined) return values.map((one) => JSON.stringify(one)).join(" | ");
  return type === "boolean" || type === "string" ? type : "unknown";
}

function typeOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  // The schema of a whole number is a choice between a digit string and an integer.
  if (schema.anyOf !== undefined) return "Decimal";
  if (schema.type === "boolean" || schema.type === "string") return schema.type;
  if (schema.type === "array") return `readonly ${parenthesized(typeOf(schema.items ?? {}))}[]`;
  return "unknown";
}

function parenthesized(type: string): string {
  return type.includes("|") ? `(${type})` : type;
}

function property(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function comment(text: string, indent: string): string {
  const line = text
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .replaceAll("*/", "*\\/")
    .trim();
  return line === "" ? "" : `${indent}/** ${line} */\n`;
}
