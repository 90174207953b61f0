/** The part of an operation that sample calls need. */
export interface SampledOperation {
  readonly operationId: string;
  readonly method: string;
  /** With `{parameters}`. */
  readonly path: string;
  /** Path and query parameters that have a value. */
  readonly values: Readonly<Record<string, string>>;
  /** JSON body, if there is one. */
  readonly body?: unknown;
  readonly needsKey: boolean;
}

/** The same call with `tyche/client`, by operation; `body` is the example's. */
const CLIENT_CALLS: Readonly<Record<string, (call: SampledOperation) => string>> = {
  runPreset: ({ values }) =>
    `const { parsedResult } = await tyche.preset("coinflip", {}, { network: ${quoted(values["network"])} });`,
  requestRandomNumber: ({ body }) => `const { randomNumber } = await tyche.random(${json(body)});`,
  runFunction: ({ body }) => `const result = await tyche.runFunction(${json(body)});`,
  simulateFunction: ({ body }) => `const result = await tyche.simulate(${json(body)});`,
  addConsumer: ({ values }) => `await tyche.addConsumer(${json(values)});`,
  removeConsumer: ({ values }) =>
    `await tyche.removeConsumer({ network: ${quoted(values["network"])}, consumer: ${quoted(values["address"])} });`,
  getRequest: ({ values }) => `const request = await tyche.request(${quoted(values["id"])});`,
  listRequests: () => `const { items } = await tyche.requests({ limit: 20 });`,
  listDryRuns: () => `const { items } = await tyche.dryRuns({ limit: 20 });`,
  listContractRequests: ({ values }) =>
    `const { items } = await tyche.contractRequests({ network: ${quoted(values["network"])} });`,
  verifyTransaction: ({ values }) => `const { verdict } = await tyche.verify(${json(values)});`,
  getUsage: () => `const { items } = await tyche.usage();`,
  useFaucet: ({ body }) => `await tyche.faucet(${json(body)});`,
  deleteDapp: ({ values }) => `await tyche.deleteDapp(${quoted(values["dappId"])});`,
  listPresets: () => `const presets = await tyche.presets();`,
  listNetworks: () => `const networks = await tyche.networks();`,
  listDapps: () => `const dapps = await operator.dapps();`,
  createDapp: ({ body }) => `const { key } = await operator.createDapp(${json(body)});`,
  getDapp: ({ values }) => `const dapp = await operator.dapp(${quoted(values["dappId"])});`,
  renameDapp: ({ values }) => `await operator.renameDapp(${quoted(values["dappId"])}, "My other game");`,
  listKeys: ({ values }) => `const keys = await operator.keys(${quoted(values["dappId"])});`,
  addKey: ({ values }) =>
    `const { apiKey } = await operator.addKey(${quoted(values["dappId"])}, { name: "production" });`,
  revealKey: ({ values }) =>
    `const { apiKey } = await operator.revealKey(${quoted(values["dappId"])}, ${quoted(values["keyId"])});`,
  revokeKey: ({ values }) =>
    `await operator.revokeKey(${quoted(values["dappId"])}, ${quoted(values["keyId"])});`,
  getConfigVars: ({ values }) => `const networks = await operator.configVars(${quoted(values["dappId"])});`,
  getBalances: ({ values }) => `const balances = await operator.balances(${quoted(values["dappId"])});`,
  listConsumers: ({ values }) => `const { linked } = await operator.consumers(${quoted(values["dappId"])});`,
  getActivity: () => `const { hours } = await operator.activity();`,
  getReadiness: () => `const { ready } = await operator.readiness();`,
  listPresetProblems: () => `const problems = await operator.presetProblems();`,
  listFundedAccounts: () => `const accounts = await operator.fundedAccounts();`,
  getInfo: () => `const { version } = await operator.info();`,
  exploreNetworks: () => `const networks = await explorer.networks();`,
  exploreNetwork: ({ values }) => `const { blocks } = await explorer.overview(${quoted(values["network"])});`,
  exploreTransaction: ({ values }) =>
    `const { randomness } = await explorer.transaction(${quoted(values["network"])}, ${quoted(values["hash"])});`,
  exploreBlocks: ({ values }) => `const { blocks } = await explorer.blocks(${quoted(values["network"])});`,
  exploreBlock: ({ values }) =>
    `const block = await explorer.block(${quoted(values["network"])}, ${quoted(values["number"])});`,
  exploreAddress: ({ values }) =>
    `const { transactions } = await explorer.address(${quoted(values["network"])}, ${quoted(values["address"])});`,
  exploreContract: ({ values }) =>
    `const { build } = await explorer.contract(${quoted(values["network"])}, ${quoted(values["address"])});`,
  search: ({ values }) => `const { hits } = await explorer.search(${quoted(values["q"])});`,
  readSharedResult: ({ values }) => `const { outcome } = await explorer.shared(${quoted(values["id"])});`,
};

const MAKERS: readonly (readonly [name: string, maker: string, credentials: string])[] = [
  ["tyche", "createClient", ", apiKey: process.env.TYCHE_API_KEY"],
  ["operator", "createOperator", ", token: process.env.OPERATOR_TOKEN"],
  ["explorer", "createExplorer", ""],
];

/** Operations that have a TypeScript sample; a test compares them with the API description. */
export const SAMPLED_OPERATIONS: readonly string[] = Object.keys(CLIENT_CALLS);

/** Writes a call in each language: for a shell that has `TYCHE_URL` and `TYCHE_API_KEY`, for `tyche/client`, and for plain Python. */
export function writeSamples(
  call: SampledOperation,
): readonly { readonly name: string; readonly text: string }[] {
  return [
    { name: "curl", text: writeCurl(call) },
    { name: "TypeScript", text: writeTypeScript(call) },
    { name: "Python", text: writePython(call) },
  ];
}

/** Returns path and query with the values filled in. */
function targetOf({ path, values }: SampledOperation): string {
  const query = new URLSearchParams();
  let target = path;
  for (const [name, value] of Object.entries(values)) {
    const place = `{${name}}`;
    if (target.includes(place)) target = target.replace(place, encodeURIComponent(value));
    else query.set(name, value);
  }
  return query.size === 0 ? target : `${target}?${query.toString()}`;
}

function writeCurl(call: SampledOperation): string {
  const { method, body, needsKey } = call;
  const parts = [
    `curl -sS ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"$TYCHE_URL${targetOf(call)}"`,
    ...(needsKey ? ['-H "Authorization: $TYCHE_API_KEY"'] : []),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
        ]),
  ];
  return parts.join(" \\\n  ");
}

function writeTypeScript(call: SampledOperation): string {
  const line = CLIENT_CALLS[call.operationId]?.(call) ?? "";
  const [name, maker, credentials] = MAKERS.find(([one]) => line.includes(`${one}.`)) ?? MAKERS[0]!;
  return `import { ${maker} } from "tyche/client";

const ${name} = ${maker}({ baseUrl: process.env.TYCHE_URL${credentials} });
${line}`;
}

function writePython(call: SampledOperation): string {
  const { method, body, needsKey } = call;
  const headers = [
    ...(needsKey ? ['"Authorization": os.environ["TYCHE_API_KEY"]'] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  return `import json, os, urllib.request

request = urllib.request.Request(
    os.environ["TYCHE_URL"] + ${quoted(targetOf(call))},
    method=${quoted(method.toUpperCase())},
    headers={${headers.join(", ")}},${body === undefined ? "" : `\n    data=json.dumps(${python(body)}).encode(),`}
)
print(json.load(urllib.request.urlopen(request))["data"])`;
}

function quoted(text: string | undefined): string {
  return JSON.stringify(text ?? "");
}

function json(value: unknown): string {
  return JSON.stringify(value ?? {}, null, 2);
}

/** Formats a JSON value as Python; strings and numbers are the same in both. */
function python(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}: ${python(one)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
}
