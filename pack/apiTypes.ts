/**
 * Writes `src/api/types.ts`: the types of the API's answers and parameters, from their schemas. The client has them in place of the schemas,
 * so that it has no dependency. Usage: `npm run types`
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { format } from "oxfmt";
import * as answers from "../src/api/answers.ts";
import { TYPE } from "../src/api/common.ts";
import { createRequestSchemas } from "../src/api/parameters/requestSchemas.ts";
import { capitalize } from "../src/lib/capitalize.ts";

const FOLDER = path.resolve(import.meta.dirname, "../src/api");
export const TYPES_FILE = path.join(FOLDER, "types.ts");

/** The subset of JSON Schema that answers and parameters use. */
export interface Schema {
  readonly [TYPE]?: string;
  readonly type?: string | readonly string[];
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
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly default?: unknown;
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

/** Stands for the names of networks and presets, which each service has of its own. */
const ANY_NAME = "any";
const NETWORKS = [ANY_NAME, "polygon_mumbai", "fantom_testnet"];
const TERMS = { networks: NETWORKS, embedded: NETWORKS, presets: [ANY_NAME], maxWords: 1 };

/** Returns the schemas of parameters by the names of their types. */
function readParameters(): readonly (readonly [name: string, schema: Schema])[] {
  return Object.entries<Schema>(createRequestSchemas(TERMS) as object as Readonly<Record<string, Schema>>)
    .filter(([, { properties = {} }]) => Object.keys(properties).length > 0)
    .map(([name, schema]) => [`${capitalize(name)}Params`, schema] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns the source of the types. */
export async function describeTypes(): Promise<string> {
  const { schemas, names, docs } = readAnswers();

  const typeOf = (schema: Schema): string => names.get(coreOf(schema)) ?? write(schema);
  const write = (schema: Schema): string => {
    const { anyOf, items, properties, patternProperties, additionalProperties, pattern = "" } = schema;
    if (schema[TYPE] !== undefined) return schema[TYPE];
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum?.[0] === ANY_NAME) return "string";
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    if (anyOf !== undefined) return anyOf.map(typeOf).join(" | ");
    if (properties !== undefined) return `{${members(schema)}}`;
    const [anyMember = additionalProperties] = Object.values(patternProperties ?? {});
    if (typeof anyMember === "object") return `Readonly<Record<string, ${typeOf(anyMember)}>>`;
    if (items !== undefined && schema.minItems === schema.maxItems && schema.minItems !== undefined)
      return `readonly [${Array.from({ length: schema.minItems }, () => typeOf(items)).join(", ")}]`;
    if (items !== undefined) return `readonly ${parenthesized(typeOf(items))}[]`;
    if (schema.type === "string") return pattern.startsWith("^0x") ? "Hex" : "string";
    const [type = "unknown"] = [schema.type ?? []].flat();
    return type === "integer" ? "number" : type;
  };
  const members = ({ properties = {}, required = [] }: Schema, base?: Schema): string =>
    Object.entries(properties)
      .filter(([name]) => base?.properties?.[name] === undefined)
      .map(([name, schema]) => {
        return `\n${comment(schema.description)}readonly ${name}${required.includes(name) ? "" : "?"}: ${typeOf(schema)};`;
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

  /** What is given may be any text, for the service to check; the only network there is needs no name. */
  const parameterOf = ([name, schema]: [string, Schema], required: readonly string[]): string => {
    const { description, default: fallback } = schema;
    const defaults = [
      ...(name === "network" && required.includes(name) ? ["the only one"] : []),
      ...(fallback === undefined ? [] : [`\`${JSON.stringify(fallback)}\``]),
    ];
    const isOptional = defaults.length > 0 || !required.includes(name);
    const byDefault = defaults.length > 0 ? [`Default: ${defaults.join(", or ")}.`] : [];
    const type = typeOf(schema).replaceAll(/\bHex\b/g, "string");
    return `${comment([description ?? [], byDefault].flat().join(" "))}readonly ${name}${isOptional ? "?" : ""}: ${type}${isOptional ? " | undefined" : ""};`;
  };
  const parameters = readParameters().map(([name, { properties = {}, required = [] }]) => {
    const members = Object.entries(properties).map((member) => `\n${parameterOf(member, required)}`);
    return `export interface ${name} {${members.join("")}}\n`;
  });

  const types = schemas.map(([name, schema]) => {
    const doc = comment(docs.get(name) ?? schema.description);
    if (schema.properties === undefined) return `${doc}export type ${name} = ${write(schema)};\n`;
    const base = findBase(schema);
    const heritage = base === undefined ? "" : `extends ${base.name} `;
    return `${doc}export interface ${name} ${heritage}{${members(schema, base?.schema)}}\n`;
  });
  return (await format(TYPES_FILE, [HEADER, ...types, ...parameters].join("\n"), { printWidth: 110 })).code;
}

const HEADER = `// Written by \`npm run types\` from the schemas beside this file.

/** \`0x\` followed by hex digits. */
export type Hex = \`0x\${string}\`;
`;

function comment(text: string | undefined): string {
  return text === undefined || text === "" ? "" : `/** ${text} */\n`;
}

function parenthesized(type: string): string {
  return / [|&] /.test(type) ? `(${type})` : type;
}

if (import.meta.main) writeFileSync(TYPES_FILE, await describeTypes());
