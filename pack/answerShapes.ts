/**
 * Writes `src/cli/answerShapes.json`: of what types the answers consist that commands read, from their schemas. Usage: `npm run types`
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { readAnswers, type Schema } from "./apiTypes.ts";

export const SHAPES_FILE = path.resolve(import.meta.dirname, "../src/cli/answerShapes.json");

const ROOTS = [
  "ConsumerList",
  "ConsumerResult",
  "ContractRequestList",
  "DryRunPage",
  "ExplorerNetwork",
  "FaucetResult",
  "LogRunPage",
  "LogTriggerView",
  "NetworkView",
  "NewWebhookView",
  "Outcome",
  "PresetView",
  "RequestPage",
  "RequestView",
  "ScheduleView",
  "SecretsKey",
  "SecretsSigner",
  "SecretView",
  "SentWebhook",
  "Shared",
  "StateChange",
  "TransactionView",
  "TriggerRun",
  "TriggerRunPage",
  "UsageReport",
  "WebhookAttemptPage",
  "WebhookReplay",
  "WebhookTest",
  "WebhookView",
];

/** Returns the shapes as JSON, one answer a line. */
export function describeShapes(): string {
  const schemas = new Map(readAnswers().schemas);
  const lines = ROOTS.map(
    (name) => `  ${JSON.stringify(name)}: ${JSON.stringify(shapeOf(schemas.get(name)!))}`,
  );
  return `{\n${lines.join(",\n")}\n}\n`;
}

/** Leaves out enumerations and patterns: a service of a later version may have more states, codes and events. */
function shapeOf(schema: Schema): object {
  const { type, anyOf, items, properties, patternProperties, required = [] } = schema;
  return {
    ...(type === undefined ? {} : { type }),
    // What tells the alternatives of a union apart.
    ...(schema.const === undefined ? {} : { const: schema.const }),
    ...(anyOf && { anyOf: anyOf.map(shapeOf) }),
    ...(items && { items: shapeOf(items) }),
    ...(properties && { properties: shapesOf(properties), required }),
    ...(patternProperties && { patternProperties: shapesOf(patternProperties) }),
  };
}

function shapesOf(members: Readonly<Record<string, Schema>>): object {
  return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, shapeOf(schema)]));
}

if (import.meta.main) writeFileSync(SHAPES_FILE, describeShapes());
