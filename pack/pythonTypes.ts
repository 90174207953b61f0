/**
 * Writes `src/client/python/tyche/api.py`: the answers that the Python client returns, from their schemas, and a class for each error code.
 * Usage: `npm run types`
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { TYPE } from "../src/api/common.ts";
import { coreOf, readAnswers, type Schema } from "./apiTypes.ts";
import { listErrorClasses } from "./clientErrors.ts";
import { capitalize } from "../src/lib/capitalize.ts";

export const PYTHON_FILE = path.resolve(import.meta.dirname, "../src/client/python/tyche/api.py");

/** Answers of the client's methods; what they contain follows from them. */
const ROOTS = [
  "ConsumerList",
  "ConsumerResult",
  "DryRunPage",
  "FaucetResult",
  "FunctionResult",
  "NetworkView",
  "Outcome",
  "PresetResult",
  "PresetView",
  "RandomResult",
  "RequestPage",
  "SecretView",
  "SimulateResult",
  "StateChange",
  "UsageReport",
  "Verification",
];
/** Members that no attribute can be named after, because they are keywords. */
const KEYWORDS = new Set(["as", "from", "in", "is"]);

/** Returns the source of the module. */
export function describeForPython(): string {
  const { schemas, names, docs } = readAnswers();
  const written = new Map<string, string>();
  const byName = new Map(schemas);

  const typeOf = (schema: Schema, hint: string): string => {
    const name = names.get(coreOf(schema));
    if (name === undefined) return write(schema, hint);
    define(name, byName.get(name)!, docs.get(name));
    return name;
  };
  const write = (schema: Schema, hint: string): string => {
    const { anyOf, items, properties, patternProperties } = schema;
    if (schema[TYPE] !== undefined) return "list[Any]";
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum !== undefined) return literal(schema.enum);
    if (anyOf !== undefined)
      return [
        ...new Set(anyOf.map((one, i) => typeOf(one, anyOf.length > 2 ? `${hint}${i + 1}` : hint))),
      ].join(" | ");
    if (properties !== undefined) {
      define(hint, schema, undefined);
      return hint;
    }
    if (patternProperties !== undefined)
      return `dict[str, ${typeOf(Object.values(patternProperties)[0]!, hint)}]`;
    if (items !== undefined) return `list[${typeOf(items, hint)}]`;
    return PRIMITIVES[String(schema.type)] ?? "Any";
  };
  const define = (name: string, schema: Schema, doc = schema.description): void => {
    if (written.has(name)) return;
    written.set(name, "");
    const { properties, required = [] } = schema;
    if (properties === undefined) {
      written.set(name, `${comment(doc)}${name}: TypeAlias = "${write(schema, name)}"\n`);
      return;
    }
    const members = Object.entries(properties).map(([member, one]) => {
      const type = typeOf(one, `${name}${capitalize(member)}`);
      return {
        member,
        doc: one.description,
        type: required.includes(member) ? type : `NotRequired[${type}]`,
      };
    });
    const isFunctional = members.some(({ member }) => KEYWORDS.has(member));
    const lines = members.map((one) =>
      isFunctional
        ? `        ${JSON.stringify(one.member)}: ${JSON.stringify(one.type)},\n`
        : `${comment(one.doc, "    ")}    ${one.member}: ${one.type}\n`,
    );
    written.set(
      name,
      isFunctional
        ? `${comment(doc)}${name} = TypedDict(\n    "${name}",\n    {\n${lines.join("")}    },\n)\n`
        : `class ${name}(TypedDict):\n${doc === undefined ? "" : `    ${JSON.stringify(oneLine(doc))}\n\n`}${lines.join("")}`,
    );
  };
  for (const name of ROOTS) {
    const schema = byName.get(name);
    if (schema === undefined) throw new Error(`there is no answer ${name}`);
    define(name, schema, docs.get(name));
  }

  const errors = listErrorClasses();
  const classes = errors
    .filter(({ isByHand }) => !isByHand)
    .map(({ code, name }) => `class ${name}(ApiError):\n    """\`${code}\`"""\n`);
  const table = `ERROR_CLASSES: dict[str, type[ApiError]] = {\n${errors.map(({ code, name }) => `    "${code}": ${name},\n`).join("")}}\n`;
  const types = [...written].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  const exported = [...written.keys(), ...errors.map(({ name }) => name)].toSorted();
  const all = `__all__ = [\n${exported.map((name) => `    "${name}",\n`).join("")}]\n`;
  return [HEADER, all, ...types, ...classes, table].join("\n\n");
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  boolean: "bool",
  integer: "int",
  null: "None",
  number: "float",
  string: "str",
};

const HEADER = `"""The answers of the API and a class for each error code. Written by \`npm run types\`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from .errors import ApiError, FunctionFailedError
`;

function literal(values: readonly unknown[]): string {
  const texts = values.map((value) => {
    if (value === null) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    return JSON.stringify(value).replaceAll('"', "'");
  });
  return `Literal[${texts.join(", ")}]`;
}

function comment(text: string | undefined, indent = ""): string {
  return text === undefined ? "" : `${indent}# ${oneLine(text)}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*(?:\* ?)?/g, " ");
}

if (import.meta.main) writeFileSync(PYTHON_FILE, describeForPython());
