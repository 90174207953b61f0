/**
 * Writes `src/cli/answerShapes.json`: which calls commands make, and of what types the answers consist, from their schemas. Usage:
 * `npm run types`
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { ExpectedAnswers } from "../src/cli/checkedClient.ts";
import type { TycheClient, TycheExplorer } from "../src/client/index.ts";
import { readAnswers, type Schema } from "./apiTypes.ts";

export const SHAPES_FILE = path.resolve(import.meta.dirname, "../src/cli/answerShapes.json");

/** The calls of the client that commands make. `Submitted` is what the client itself makes of a call. */
const CLIENT: ExpectedAnswers<TycheClient> = {
  submit: {
    preset: ["a request", "Submitted"],
    random: ["a request", "Submitted"],
    runFunction: ["a request", "Submitted"],
  },
  runFunction: ["a result", "Outcome"],
  addConsumer: ["a result", "ConsumerResult"],
  removeConsumer: ["a result", "ConsumerResult"],
  faucet: ["a result", "FaucetResult"],
  request: ["a request", "RequestView"],
  requests: ["a list of requests", "RequestPage"],
  dryRuns: ["a list of dry runs", "DryRunPage"],
  dryRun: ["a dry run", "DryRunView"],
  consumers: ["a list of contracts", "ConsumerList"],
  contractRequests: ["a list of requests", "ContractRequestList"],
  usage: ["a report", "UsageReport"],
  webhooks: {
    create: ["a webhook", "NewWebhookView"],
    list: ["a list of webhooks", "WebhookView[]"],
    get: ["a webhook", "WebhookView"],
    change: ["a webhook", "WebhookView"],
    delete: ["a webhook", "WebhookView"],
    rotate: ["a webhook", "NewWebhookView"],
    test: ["a test", "WebhookTest"],
    attempts: ["a list of attempts", "WebhookAttemptPage"],
    attempt: ["an attempt", "SentWebhook"],
    replay: ["a replay", "WebhookReplay"],
  },
  schedules: {
    create: ["a schedule", "ScheduleView"],
    list: ["a list of schedules", "ScheduleView[]"],
    get: ["a schedule", "ScheduleView"],
    change: ["a schedule", "ScheduleView"],
    delete: ["a schedule", "ScheduleView"],
    run: ["a run", "TriggerRun"],
    runs: ["a list of runs", "TriggerRunPage"],
  },
  secrets: {
    set: ["a secret", "SecretView"],
    list: ["a list of secrets", "SecretView[]"],
    delete: ["a secret", "SecretView"],
    key: ["a key", "SecretsKey"],
    setSigner: ["a signer", "SecretsSigner"],
  },
  triggers: {
    create: ["a trigger", "LogTriggerView"],
    list: ["a list of triggers", "LogTriggerView[]"],
    get: ["a trigger", "LogTriggerView"],
    change: ["a trigger", "LogTriggerView"],
    delete: ["a trigger", "LogTriggerView"],
    runs: ["a list of runs", "LogRunPage"],
  },
  networks: ["a list of networks", "NetworkView[]"],
  presets: ["a list of presets", "PresetView[]"],
};

const EXPLORER: ExpectedAnswers<TycheExplorer> = {
  networks: ["a list of networks", "ExplorerNetwork[]"],
  transaction: ["a transaction", "TransactionView"],
  shared: ["a result", "Shared"],
};

/** Returns the calls and the shapes as JSON, one shape a line. */
export function describeShapes(): string {
  const schemas = new Map(readAnswers().schemas);
  const calls = JSON.stringify({ client: CLIENT, explorer: EXPLORER }).slice(1, -1);
  // What streams hold is no call's answer.
  const named = new Set([
    "StateChange",
    ...Array.from(calls.matchAll(/"(\w+)(?:\[\])?"\]/g), ([, name]) => name!),
  ]);
  const lines = [...named].toSorted().map((name) => {
    const shape = name === "Submitted" ? SUBMITTED : shapeOf(schemas.get(name)!);
    return `  ${JSON.stringify(name)}: ${JSON.stringify(shape)}`;
  });
  return `{\n${calls},\n"shapes": {\n${lines.join(",\n")}\n}}\n`;
}

/** All that commands read of a submitted request. */
const SUBMITTED = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

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
