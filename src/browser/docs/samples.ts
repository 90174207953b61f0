import { COMMANDS } from "./commands.ts";
import { quoteForShell } from "../../lib/quoteForShell.ts";

/** The part of an operation that sample calls need. */
export interface SampledOperation {
  readonly operationId: string;
  readonly method: string;
  /** With `{parameters}`. */
  readonly path: string;
  /** Path and query parameters that have a value. */
  readonly values: Readonly<Record<string, SampleValue>>;
  /** JSON body, if there is one. */
  readonly body?: unknown;
  /** What the call sends in `Authorization`; absent if it needs nothing. */
  readonly credential?: CredentialKind;
}

/** Which of the two credentials a call takes. */
export type CredentialKind = "apiKey" | "operatorToken";

/** A value as it is, or the environment variable that the reader sets to a value of their own. */
export type SampleValue = string | { readonly variable: string };

/** Environment variables that hold the credentials. */
const CREDENTIALS = { apiKey: "TYCHE_API_KEY", operatorToken: "OPERATOR_TOKEN" } as const;

/** The same call with `tyche/client`, by operation; `body` is the example's. */
const CLIENT_CALLS: Readonly<Record<string, (call: SampledOperation) => string>> = {
  runPreset: ({ values }) =>
    `const { value } = await tyche.preset("coinflip", {}, { network: ${expression(values["network"])} });`,
  requestRandomNumber: ({ body }) => `const { value } = await tyche.random(${json(body)});`,
  runFunction: ({ body }) => `const { success, value, err } = await tyche.runFunction(${json(body)});`,
  simulateFunction: ({ body }) => `const { success, value, err } = await tyche.simulate(${json(body)});`,
  addConsumer: ({ values }) => `await tyche.addConsumer(${members(values)});`,
  removeConsumer: ({ values }) =>
    `await tyche.removeConsumer({ network: ${expression(values["network"])}, consumer: ${expression(values["address"])} });`,
  listConsumers: () => `const { linked } = await tyche.consumers();`,
  getRequest: ({ values }) => `const request = await tyche.request(${expression(values["id"])});`,
  listRequests: () => `const { items } = await tyche.requests({ limit: 20 });`,
  listDryRuns: () => `const { items } = await tyche.dryRuns({ limit: 20 });`,
  getDryRun: ({ values }) => `const { err, params } = await tyche.dryRun(${expression(values["id"])});`,
  listContractRequests: ({ values }) =>
    `const { items } = await tyche.contractRequests({ network: ${expression(values["network"])} });`,
  verifyTransaction: ({ values }) => `const { verdict } = await tyche.verify(${members(values)});`,
  getUsage: () => `const { items } = await tyche.usage();`,
  createWebhook: ({ body }) => `const { id, secret } = await tyche.webhooks.create(${json(body)});`,
  listWebhooks: () => `const webhooks = await tyche.webhooks.list();`,
  getWebhook: ({ values }) => `const webhook = await tyche.webhooks.get(${expression(values["webhookId"])});`,
  changeWebhook: ({ values, body }) =>
    `await tyche.webhooks.change(${expression(values["webhookId"])}, ${json(body)});`,
  deleteWebhook: ({ values }) => `await tyche.webhooks.delete(${expression(values["webhookId"])});`,
  rotateWebhookSecret: ({ values, body }) =>
    `const { secret } = await tyche.webhooks.rotate(${expression(values["webhookId"])}, ${json(body)});`,
  testWebhook: ({ values }) =>
    `const { eventId } = await tyche.webhooks.test(${expression(values["webhookId"])});`,
  listWebhookAttempts: ({ values }) =>
    `const { items } = await tyche.webhooks.attempts(${expression(values["webhookId"])});`,
  getWebhookAttempt: ({ values }) =>
    `const { headers, body } = await tyche.webhooks.attempt(${expression(values["webhookId"])}, ${expression(values["attemptId"])});`,
  replayWebhook: ({ values, body }) =>
    `const { replayed } = await tyche.webhooks.replay(${expression(values["webhookId"])}, ${json(body)});`,
  setSecret: ({ values, body }) =>
    `const { version } = await tyche.secrets.set(${expression(values["name"])}, ${json(body)});`,
  listSecrets: () => `const secrets = await tyche.secrets.list();`,
  deleteSecret: ({ values }) =>
    `await tyche.secrets.delete(${expression(values["name"])}, { network: ${expression(values["network"])} });`,
  getSecretsKey: ({ values }) =>
    `const { thresholdPublicKey, label } = await tyche.secrets.key({ network: ${expression(values["network"])} });`,
  setSecretsSigner: ({ body }) => `const { transactionHash } = await tyche.secrets.setSigner(${json(body)});`,
  createSchedule: ({ body }) => `const { id, next } = await tyche.schedules.create(${json(body)});`,
  listSchedules: () => `const schedules = await tyche.schedules.list();`,
  getSchedule: ({ values }) =>
    `const { next } = await tyche.schedules.get(${expression(values["scheduleId"])});`,
  changeSchedule: ({ values, body }) =>
    `await tyche.schedules.change(${expression(values["scheduleId"])}, ${json(body)});`,
  deleteSchedule: ({ values }) => `await tyche.schedules.delete(${expression(values["scheduleId"])});`,
  runSchedule: ({ values }) =>
    `const { requestId } = await tyche.schedules.run(${expression(values["scheduleId"])});`,
  listScheduleRuns: ({ values }) =>
    `const { items } = await tyche.schedules.runs(${expression(values["scheduleId"])});`,
  createTrigger: ({ body }) => `const { id } = await tyche.triggers.create(${json(body)});`,
  listTriggers: () => `const triggers = await tyche.triggers.list();`,
  getTrigger: ({ values }) =>
    `const { readTo } = await tyche.triggers.get(${expression(values["triggerId"])});`,
  changeTrigger: ({ values, body }) =>
    `await tyche.triggers.change(${expression(values["triggerId"])}, ${json(body)});`,
  deleteTrigger: ({ values }) => `await tyche.triggers.delete(${expression(values["triggerId"])});`,
  listTriggerRuns: ({ values }) =>
    `const { items } = await tyche.triggers.runs(${expression(values["triggerId"])});`,
  useFaucet: ({ body }) => `await tyche.faucet(${json(body)});`,
  deleteDapp: ({ values }) => `await tyche.deleteDapp(${expression(values["dappId"])});`,
  listPresets: () => `const presets = await tyche.presets();`,
  listNetworks: () => `const networks = await tyche.networks();`,
  listDapps: () => `const dapps = await operator.dapps();`,
  createDapp: ({ body }) => `const { key } = await operator.createDapp(${json(body)});`,
  getDapp: ({ values }) => `const dapp = await operator.dapp(${expression(values["dappId"])});`,
  updateDapp: ({ values }) =>
    `await operator.changeDapp(${expression(values["dappId"])}, { name: "My other game" });`,
  listKeys: ({ values }) => `const keys = await operator.keys(${expression(values["dappId"])});`,
  addKey: ({ values }) =>
    `const { apiKey } = await operator.addKey(${expression(values["dappId"])}, { name: "production" });`,
  changeKey: ({ values, body }) =>
    `await operator.changeKey(${expression(values["dappId"])}, ${expression(values["keyId"])}, ${json(body)});`,
  rotateKey: ({ values, body }) =>
    `const { apiKey } = await operator.rotateKey(${expression(values["dappId"])}, ${expression(values["keyId"])}, ${json(body)});`,
  revealKey: ({ values }) =>
    `const { apiKey } = await operator.revealKey(${expression(values["dappId"])}, ${expression(values["keyId"])});`,
  revokeKey: ({ values }) =>
    `await operator.revokeKey(${expression(values["dappId"])}, ${expression(values["keyId"])});`,
  getConfigVars: ({ values }) =>
    `const networks = await operator.configVars(${expression(values["dappId"])});`,
  getBalances: ({ values }) => `const balances = await operator.balances(${expression(values["dappId"])});`,
  getMe: () => `const { name, memberships } = await operator.me();`,
  listMembers: ({ values }) => `const members = await operator.members(${expression(values["dappId"])});`,
  changeMember: ({ values }) =>
    `await operator.changeMember(${expression(values["dappId"])}, ${expression(values["personId"])}, "developer");`,
  removeMember: ({ values }) =>
    `await operator.removeMember(${expression(values["dappId"])}, ${expression(values["personId"])});`,
  listInvitations: ({ values }) =>
    `const invitations = await operator.invitations(${expression(values["dappId"])});`,
  createInvitation: ({ values }) =>
    `const { link } = await operator.invite(${expression(values["dappId"])}, "developer");`,
  revokeInvitation: ({ values }) =>
    `await operator.revokeInvitation(${expression(values["dappId"])}, ${expression(values["invitationId"])});`,
  listPeople: () => `const people = await operator.people();`,
  changePerson: ({ values }) => `await operator.setOperator(${expression(values["personId"])}, true);`,
  removePerson: ({ values }) => `await operator.removePerson(${expression(values["personId"])});`,
  listSessions: () => `const sessions = await operator.sessions();`,
  endSession: ({ values }) => `await operator.endSession(${expression(values["sessionId"])});`,
  removePasskey: ({ values }) => `await operator.removePasskey(${expression(values["passkeyId"])});`,
  listAudit: () => `const { items } = await operator.audit();`,
  getActivity: () => `const { hours } = await operator.activity();`,
  getReadiness: () => `const { ready } = await operator.readiness();`,
  listPresetProblems: () => `const problems = await operator.presetProblems();`,
  listFundedAccounts: () => `const accounts = await operator.fundedAccounts();`,
  getInfo: () => `const { version } = await operator.info();`,
  exploreNetworks: () => `const networks = await explorer.networks();`,
  explorePresets: () => `const presets = await explorer.presets();`,
  exploreNetwork: ({ values }) =>
    `const { blocks } = await explorer.overview(${expression(values["network"])});`,
  exploreTransaction: ({ values }) =>
    `const { randomness } = await explorer.transaction(${expression(values["network"])}, ${expression(values["hash"])});`,
  exploreBlocks: ({ values }) =>
    `const { blocks } = await explorer.blocks(${expression(values["network"])});`,
  exploreTransactions: ({ values }) =>
    `const { transactions } = await explorer.transactions(${expression(values["network"])});`,
  exploreBlock: ({ values }) =>
    `const block = await explorer.block(${expression(values["network"])}, ${expression(values["number"])});`,
  exploreAddress: ({ values }) =>
    `const { transactions } = await explorer.address(${expression(values["network"])}, ${expression(values["address"])});`,
  exploreTransfers: ({ values }) =>
    `const { transfers } = await explorer.transfers(${expression(values["network"])}, ${expression(values["address"])});`,
  exploreContractRequests: ({ values }) =>
    `const { items } = await explorer.contractRequests(${expression(values["network"])}, ${expression(values["address"])});`,
  exploreContract: ({ values }) =>
    `const { build } = await explorer.contract(${expression(values["network"])}, ${expression(values["address"])});`,
  exploreRequests: () => "const { items } = await explorer.requests();",
  search: ({ values }) => `const { hits } = await explorer.search(${expression(values["q"])});`,
  readChainData: ({ values }) => `const data = await explorer.chainData(${expression(values["id"])});`,
  readSharedResult: ({ values }) =>
    `const shared = await explorer.shared(${expression(values["id"])});\nconsole.log("outcome" in shared ? shared.outcome : shared.why);`,
};

const MAKERS: readonly (readonly [name: string, maker: string, credentials: string])[] = [
  ["tyche", "createClient", ", apiKey: process.env.TYCHE_API_KEY!"],
  ["operator", "createOperator", ", token: process.env.OPERATOR_TOKEN!"],
  ["explorer", "createExplorer", ""],
];

/** Operations that have a TypeScript sample; a test compares them with the API description. */
export const SAMPLED_OPERATIONS: readonly string[] = Object.keys(CLIENT_CALLS);

/**
 * Writes a call in each language: for a shell, for `tyche/client`, for plain Python and, where it has one, as a command. Each reads `TYCHE_URL`, the credential (`TYCHE_API_KEY`
 * or `OPERATOR_TOKEN`) and the reader's own values from the environment.
 */
export function writeSamples(
  call: SampledOperation,
): readonly { readonly name: string; readonly text: string }[] {
  const command = COMMANDS[call.operationId];
  return [
    { name: "curl", text: writeCurl(call) },
    { name: "TypeScript", text: writeTypeScript(call) },
    { name: "Python", text: writePython(call) },
    ...(command === undefined ? [] : [{ name: "CLI", text: `npx ${command}` }]),
  ];
}

/** Returns the URL with the values filled in; `variable` writes what reads an environment variable. */
function urlOf({ path, values }: SampledOperation, variable: (name: string) => string): string {
  const query: string[] = [];
  let target = path;
  for (const [name, value] of Object.entries(values)) {
    const place = `{${name}}`;
    const text = typeof value === "string" ? encodeURIComponent(value) : variable(value.variable);
    if (target.includes(place)) target = target.replace(place, () => text);
    else query.push(`${name}=${text}`);
  }
  return `${variable("TYCHE_URL")}${target}${query.length === 0 ? "" : `?${query.join("&")}`}`;
}

function writeCurl(call: SampledOperation): string {
  const { method, body, credential } = call;
  const parts = [
    `curl -sS ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"${urlOf(call, (name) => `$${name}`)}"`,
    ...(credential === undefined ? [] : [`-H "Authorization: $${CREDENTIALS[credential]}"`]),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoteForShell(JSON.stringify(body))}`]),
  ];
  return parts.join(" \\\n  ");
}

function writeTypeScript(call: SampledOperation): string {
  const line = CLIENT_CALLS[call.operationId]?.(call) ?? "";
  const [name, maker, credentials] = MAKERS.find(([one]) => line.includes(`${one}.`)) ?? MAKERS[0]!;
  return `import { ${maker} } from "tyche/client";

const ${name} = ${maker}({ baseUrl: process.env.TYCHE_URL!${credentials} });
${line}`;
}

function writePython(call: SampledOperation): string {
  const { method, body, credential } = call;
  const headers = [
    ...(credential === undefined ? [] : [`"Authorization": os.environ["${CREDENTIALS[credential]}"]`]),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  return `import json, os, urllib.request

request = urllib.request.Request(
    f"${urlOf(call, (name) => `{os.environ['${name}']}`)}",
    method=${quoted(method.toUpperCase())},
    headers={${headers.join(", ")}},${body === undefined ? "" : `\n    data=json.dumps(${python(body)}).encode(),`}
)
print(json.load(urllib.request.urlopen(request))["data"])`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Writes a value in TypeScript. */
function expression(value: SampleValue = ""): string {
  return typeof value === "string" ? quoted(value) : `process.env.${value.variable}!`;
}

/** Writes values as an object in TypeScript. */
function members(values: Readonly<Record<string, SampleValue>>): string {
  return `{ ${Object.entries(values)
    .map(([name, value]) => `${name}: ${expression(value)}`)
    .join(", ")} }`;
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
