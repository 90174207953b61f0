import type { PresetView } from "../../../client/index.ts";

/** One parameter of a preset as a form field. */
export interface PresetField {
  readonly name: string;
  /** Its label; absent if it has no name other than the parameter's. */
  readonly title?: string;
  readonly description: string;
  /** How it is entered: a line of text, a list with one entry per line, or JSON for anything else. */
  readonly kind: "text" | "lines" | "json";
  /** Whether it takes unsigned whole numbers, so that a phone shows its number pad. */
  readonly isNumeric: boolean;
  /** The only values that it takes; absent if it takes others. */
  readonly choices?: readonly string[];
  /** The field's initial value. */
  readonly fallback: string;
  readonly isRequired: boolean;
}

/** Creates the form's fields from a preset's JSON Schema, in the order in which its source receives them. */
export function createFields({ parameters, parameterOrder }: PresetView): readonly PresetField[] {
  const properties = (parameters["properties"] ?? {}) as Readonly<Record<string, Schema>>;
  const required = (parameters["required"] ?? []) as readonly string[];
  return parameterOrder.map((name) => {
    const schema = properties[name] ?? {};
    const kind = kindOf(schema);
    const choices = choicesOf(schema);
    return {
      name,
      ...(schema.title === undefined ? {} : { title: schema.title }),
      description: schema.description ?? "",
      kind,
      isNumeric: kind === "text" && isNatural(schema),
      ...(choices === undefined ? {} : { choices }),
      fallback: textOf(schema.default, kind),
      isRequired: required.includes(name),
    };
  });
}

/**
 * Reads the parameters from a filled-in form without checking them; an empty field is an absent parameter. JSON that can't be parsed
 * stays text, which the preset's own check refuses.
 */
export function readParams(preset: PresetView, get: (name: string) => string): Record<string, unknown> {
  const params: Record<string, unknown> = Object.create(null);
  for (const { name, kind } of createFields(preset)) {
    const text = get(name);
    if (text.trim() === "") continue;
    params[name] = kind === "lines" ? linesOf(text) : kind === "json" ? parseJson(text) : text.trim();
  }
  return params;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly default?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

function kindOf({ type, items, anyOf = [] }: Schema): PresetField["kind"] {
  const types = [type ?? [], ...anyOf.map((one) => one.type ?? [])].flat();
  if (types.includes("string")) return "text";
  return types.includes("array") && items !== undefined && [items.type ?? []].flat().includes("string")
    ? "lines"
    : "json";
}

function choicesOf(schema: Schema): readonly string[] | undefined {
  if (schema.type === "boolean") return ["true", "false"];
  return schema.enum?.every((one): one is string => typeof one === "string") ? schema.enum : undefined;
}

/** The schema of a whole number accepts a string of digits or an integer: see `publishParameterSchema`. */
function isNatural({ anyOf = [] }: Schema): boolean {
  return (
    anyOf.some(({ type }) => type === "integer") &&
    anyOf.some(({ type, pattern = "" }) => type === "string" && pattern.startsWith("^[0-9]"))
  );
}

/** Writes a parameter's value as its field has it. */
export function textOf(value: unknown, kind: PresetField["kind"]): string {
  if (value === undefined) return "";
  if (kind === "lines" && Array.isArray(value)) return value.map((one) => textOf(one, "text")).join("\n");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Splits a text into its non-blank lines: pasted lists contain blank lines, and one could be drawn as a winner. */
function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
