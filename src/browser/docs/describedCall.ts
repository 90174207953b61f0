import { credentialOf, exampleOf, type DescribedOperation } from "./description.ts";
import type { Schema } from "./describeType.ts";
import type { SampledOperation, SampleValue } from "./samples.ts";

/** Values of parameters; readers set the variables to their own. */
const VALUES: Readonly<Record<string, SampleValue>> = {
  id: { variable: "REQUEST_ID" },
  dappId: { variable: "DAPP_ID" },
  keyId: { variable: "KEY_ID" },
  attemptId: { variable: "ATTEMPT_ID" },
  webhookId: { variable: "WEBHOOK_ID" },
  scheduleId: { variable: "SCHEDULE_ID" },
  triggerId: { variable: "TRIGGER_ID" },
  address: { variable: "ADDRESS" },
  consumer: { variable: "CONSUMER" },
  hash: { variable: "TX_HASH" },
  tx: { variable: "TX_HASH" },
  number: "120",
  network: "sepolia",
  preset: "coinflip",
  q: "PresetConsumer",
};

/**
 * Builds a sample call of an operation from its description: its required parameters, and the first example of its
 * body.
 */
export function describeCall(method: string, path: string, operation: DescribedOperation): SampledOperation {
  const { operationId, parameters = [], requestBody } = operation;
  const given = parameters.filter(
    (one) =>
      one.in === "path" || (one.in === "query" && (one.required || ["network", "preset"].includes(one.name))),
  );
  const content = requestBody?.content["application/json"];
  const credential = credentialOf(operation);
  return {
    operationId,
    method,
    path,
    values: Object.fromEntries(given.map(({ name, schema }) => [name, valueOf(name, schema)])),
    ...(content === undefined ? {} : { body: exampleOf(content) ?? {} }),
    ...(credential === undefined ? {} : { credential }),
  };
}

function valueOf(name: string, { default: fallback, enum: choices }: Schema): SampleValue {
  if (VALUES[name] !== undefined) return VALUES[name];
  const [first] = (choices ?? []) as readonly (string | number)[];
  const value = (fallback as string | number | undefined) ?? first;
  return value === undefined ? { variable: name.toUpperCase() } : String(value);
}
