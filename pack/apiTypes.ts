/**
 * Writes `src/api/types.ts`: the types of the API's answers, from their schemas. The client has them in place of the schemas, so that it has
 * no dependency. Usage: `npm run types`
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { format } from "oxfmt";
import * as answers from "../src/api/answers.ts";
import { TYPE } from "../src/api/common.ts";

const FOLDER = path.resolve(import.meta.dirname, "../src/api");
export const TYPES_FILE = path.join(FOLDER, "types.ts");

/** The subset of JSON Schema that answers use. */
export interface Schema {
  readonly [TYPE]?: string;
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly description?: string;
  readonly items?: Schema;
  /** As long as `maxItems` in every tuple. */
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** What a schema shares with its copies that are optional. */
export const coreOf = (schema: Schema): unknown => schema.properties ?? schema.anyOf ?? schema.enum ?? schema;

/** Returns the schemas by name, in order, the names of what each shares with its copies, and the comments on them. */
export function readAnswers() {
  const schemas = Object.entries<Schema>(answers as object as Readonly<Record<string, Schema>>).toSorted(
    ([a], [b]) => (a < b ? -1 : 1),
  );
  const names = new Map(schemas.map(([name, schema]) => [coreOf(schema), name]));
  const modules = [...readFileSync(path.join(FOLDER, "answers.ts"), "utf8").matchAll(/"(\.\/\w+\.ts)"/g)];
  const source = modules.map(([, file]) => readFileSync(path.join(FOLDER, file!), "utf8")).join("");
  const docs = new Map<string, string>(
    [...source.matchAll(/\/\*\*\s*((?:(?!\*\/).)*?)\s*\*\/\nexport const (\w+) =/gs)].map(
      ([, text, name]) => [name!, text!],
    ),
  );
  return { schemas, names, docs };
}

/** Returns the source of the types. */
export async function describeAnswers(): Promise<string> {
  const { schemas, names, docs } = readAnswers();

  const typeOf = (schema: Schema): string => names.get(coreOf(schema)) ?? write(schema);
  const write = (schema: Schema): string => {
    const { anyOf, items, properties, patternProperties, pattern = "" } = schema;
    if (schema[TYPE] !== undefined) return schema[TYPE];
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    if (anyOf !== undefined) return anyOf.map(typeOf).join(" | ");
    if (properties !== undefined) return `{${members(schema)}}`;
    if (patternProperties !== undefined)
      return `Readonly<Record<string, ${typeOf(Object.values(patternProperties)[0]!)}>>`;
    if (items !== undefined && schema.minItems === schema.maxItems && schema.minItems !== undefined)
      return `readonly [${Array.from({ length: schema.minItems }, () => typeOf(items)).join(", ")}]`;
    if (items !== undefined) return `readonly ${parenthesized(typeOf(items))}[]`;
    if (schema.type === "string") return pattern.startsWith("^0x") ? "Hex" : "string";
    return schema.type === "integer" ? "number" : (schema.type ?? "unknown");
  };
  const members = ({ properties = {}, required = [] }: Schema, base?: Schema): string =>
    Object.entries(properties)
      .filter(([name]) => base?.properties?.[name] === undefined)
      .map(([name, schema]) => {
        const doc = schema.description === undefined ? "" : `/** ${schema.description} */\n`;
        return `\n${doc}readonly ${name}${required.includes(name) ? "" : "?"}: ${typeOf(schema)};`;
      })
      .join("");

  /** Finds the answer with the most members whose members are all in a schema, which adds others. */
  const findBase = ({ properties = {}, required = [] }: Schema) =>
    schemas
      .map(([name, schema]) => ({ name, schema, members: Object.entries(schema.properties ?? {}) }))
      .filter(
        ({ schema, members }) =>
          members.length > 0 &&
          members.length < Object.keys(properties).length &&
          members.every(
            ([name, one]) =>
              properties[name] === one && required.includes(name) === schema.required?.includes(name),
          ),
      )
      .toSorted((a, b) => b.members.length - a.members.length)[0];

  const types = schemas.map(([name, schema]) => {
    const doc = docs.get(name) ?? schema.description;
    const comment = doc === undefined ? "" : `/** ${doc} */\n`;
    if (schema.properties === undefined) return `${comment}export type ${name} = ${write(schema)};\n`;
    const base = findBase(schema);
    const heritage = base === undefined ? "" : `extends ${base.name} `;
    return `${comment}export interface ${name} ${heritage}{${members(schema, base?.schema)}}\n`;
  });
  return (await format(TYPES_FILE, [HEADER, ...types].join("\n"), { printWidth: 110 })).code;
}

const HEADER = `// Written by \`npm run types\` from the schemas beside this file.

/** \`0x\` followed by hex digits. */
export type Hex = \`0x\${string}\`;
`;

function parenthesized(type: string): string {
  return / [|&] /.test(type) ? `(${type})` : type;
}

if (import.meta.main) writeFileSync(TYPES_FILE, await describeAnswers());
