import { compileSchema, type SchemaCheck } from "../lib/schemaCheck.ts";
import type { PresetDefinition, ValueSchema } from "./presetDefinition.ts";
import type { PresetShow } from "../domain/presetShow.ts";

/** Returns what is wrong with the value of a preset's result; `undefined` if it is as the preset declares. */
export type ValueCheck = (value: unknown) => string | undefined;

/** The values that follow from how a result is read. */
const READ_AS: Readonly<Record<"coin" | "dice" | "list" | "text", ValueSchema>> = {
  coin: { type: "boolean" },
  dice: { type: "array", items: { type: "integer", minimum: 0 } },
  list: { type: "array", items: { type: "string" } },
  text: { type: "string" },
};

/** Returns the schema of a preset's value: the declared one, or the one that follows from how its result is read. */
export function valueSchemaOf({ value, show }: PresetDefinition): ValueSchema {
  return value ?? followingSchemaOf(show);
}

/** Returns the schema that follows from how a result is read. */
export function followingSchemaOf(show: PresetShow | undefined): ValueSchema {
  return READ_AS[show?.as ?? "text"];
}

/** Returns the schema of a value as callers see it: a whole number beyond 2^53 - 1 is a decimal string. */
export function publishValueSchema(definition: PresetDefinition): Readonly<Record<string, unknown>> {
  const { items, ...schema } = valueSchemaOf(definition);
  if (items === undefined) return schema;
  if (items.type === "string") return { ...schema, items };
  return { ...schema, items: { anyOf: [items, { type: "string", pattern: "^[0-9]{16,78}$" }] } };
}

/** Creates the check of a preset's values. Compiles it on first use: only `tyche preset check` needs it. */
export function createValueCheck(definition: PresetDefinition): ValueCheck {
  let check: SchemaCheck | undefined;
  return (value) => {
    check ??= compileSchema(publishValueSchema(definition), { describeUnknown: () => "is unknown" });
    const [violation] = check(value);
    return violation && `the value${violation.path} ${violation.message}`;
  };
}
