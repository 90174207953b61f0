import type { SampledOperation } from "./samples.ts";

type Json = Readonly<Record<string, unknown>>;

interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Json;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        { readonly example?: unknown; readonly examples?: Readonly<Record<string, { value: unknown }>> }
      >
    >;
  };
}

/** Values that readers recognize as placeholders for their own. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  id: "req_01k…",
  dappId: "dapp_01k…",
  keyId: "key_01k…",
  address: "0x…",
  consumer: "0x…",
  hash: "0x…",
  tx: "0x…",
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
  const { operationId, security, parameters = [], requestBody } = operation;
  const given = parameters.filter(
    (one) =>
      one.in === "path" || (one.in === "query" && (one.required || ["network", "preset"].includes(one.name))),
  );
  const content = requestBody?.content["application/json"];
  const body = content?.example ?? Object.values(content?.examples ?? {})[0]?.value;
  return {
    operationId,
    method,
    path,
    values: Object.fromEntries(given.map(({ name, schema }) => [name, valueOf(name, schema)])),
    ...(content === undefined ? {} : { body: body ?? {} }),
    needsKey: security?.length !== 0,
  };
}

function valueOf(name: string, { default: fallback, enum: choices }: Json): string {
  if (PLACEHOLDERS[name] !== undefined) return PLACEHOLDERS[name];
  const [first] = (choices ?? []) as readonly (string | number)[];
  return String((fallback as string | number | undefined) ?? first ?? "…");
}
