import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, expect, test } from "vitest";
import examples from "../../src/http/examples.json" with { type: "json" };
import { ERROR_TABLE } from "../../src/http/errorTable.ts";
import { CONSUMER } from "./exampleService.ts";
import { KNOWN_TX } from "./exampleVerifier.ts";
import { startHarness } from "./harness.ts";
import { startPresetHarness } from "./presetHarness.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}
interface DescribedOperation {
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly description: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: Schema; readonly examples?: Record<string, { value: object }> }>
    >;
  };
}

interface Content {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

type Schema = Readonly<Record<string, unknown>>;

let text = "";
let document: Document;
beforeAll(async () => {
  const { call, server } = await startPresetHarness();
  ({ text } = await call("GET", "/openapi.json", { key: null }));
  document = JSON.parse(text) as Document;
  await server.close();
});

test("the document is valid OpenAPI 3.1", async () => {
  const outcome = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
  expect(outcome).toMatchObject({ valid: true });
});

/** Yields every schema in the document, with its JSON pointer. */
function* schemasIn(value: unknown, at = "#"): Generator<[string, Schema]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const isSchema = key === "schema" || /\/(?:properties|schemas|anyOf|allOf|oneOf)$/.test(at);
    if (isSchema || (key === "items" && !at.endsWith("/properties"))) yield [`${at}/${key}`, inner as Schema];
    if (key !== "examples" && key !== "example") yield* schemasIn(inner, `${at}/${key}`);
  }
}

const KEYWORDS = new Set(
  (
    "$ref type enum const title description default anyOf allOf oneOf not properties required additionalProperties patternProperties " +
    "propertyNames minProperties maxProperties items minItems maxItems uniqueItems minLength maxLength pattern format minimum maximum writeOnly"
  ).split(" "),
);
/** Keywords that apply only to values of one type. */
const TYPE_OF: Readonly<Record<string, string>> = {
  pattern: "string",
  minLength: "string",
  maxLength: "string",
  minimum: "integer",
  maximum: "integer",
  items: "array",
  minItems: "array",
  properties: "object",
  propertyNames: "object",
  minProperties: "object",
  maxProperties: "object",
};

test("its schemas have no other keywords than JSON Schema's, each where it says something", () => {
  const found = [...schemasIn(document)];
  expect(found.length).toBeGreaterThan(200);
  const foreign = found.flatMap(([at, schema]) =>
    Object.keys(schema)
      .filter((key) => !KEYWORDS.has(key) || (TYPE_OF[key] ?? schema["type"]) !== schema["type"])
      .map((key) => `${at}/${key}`),
  );
  expect(foreign).toEqual([]);
});

/** openapi-typescript makes members of `components/schemas` with a default required, so callers would have to pass all of a preset's. */
test("no parameter with a default is in a shared schema, where generators make it required", () => {
  const shared = [...schemasIn(document.components.schemas, "#/components/schemas")];
  expect(shared.length).toBeGreaterThan(0);
  expect(shared.filter(([, schema]) => "default" in schema).map(([at]) => at)).toEqual([]);
});

test("only what takes a key says that it may be missing", () => {
  const { get: explore } = document.paths["/api/explorer/search"]!;
  expect([explore!.security, explore!.responses["401"]]).toEqual([[], undefined]);
  const { get: list } = document.paths["/api/requests"]!;
  expect(Object.keys(list!.responses)).toContain("401");
});

test("the operations of the operator, and no others, ask for the operator token", () => {
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const asking = all.filter(({ security }) => JSON.stringify(security) === '[{"operatorToken":[]}]');
  expect(asking.map(({ operationId }) => operationId).toSorted()).toEqual([
    "addKey",
    "changeKey",
    "changeMember",
    "changePerson",
    "createDapp",
    "createInvitation",
    "endSession",
    "getActivity",
    "getBalances",
    "getConfigVars",
    "getDapp",
    "getMe",
    "getReadiness",
    "listAudit",
    "listDapps",
    "listInvitations",
    "listKeys",
    "listMembers",
    "listPeople",
    "listPresetProblems",
    "listSessions",
    "removeMember",
    "removePasskey",
    "removePerson",
    "revealKey",
    "revokeInvitation",
    "revokeKey",
    "rotateKey",
    "updateDapp",
  ]);
});

test("what has a default need not be sent", () => {
  const { post } = document.paths["/api/vrfv2/presets"]!;
  const required = post!.parameters.map(({ name, required }) => [name, required]);
  expect(required).toEqual(
    expect.arrayContaining([
      ["network", false],
      ["preset", false],
    ]),
  );
  const { post: link } = document.paths["/api/vrfv2/addConsumer"]!;
  const inQuery = link!.parameters.filter((one) => one.in === "query");
  expect(inQuery.map(({ name, required }) => [name, required])).toEqual([
    ["dappId", false],
    ["network", true],
    ["consumer", true],
  ]);
});

test("an error has its sentence and its code, always", () => {
  expect(document.components.schemas["Error"]).toMatchObject({
    required: ["data"],
    properties: { data: { required: ["success", "err", "code"] } },
  });
});

test("each parameter stands in one place, and what a POST takes is all there", () => {
  const placed: Record<string, string[]> = {};
  for (const [path, { post }] of Object.entries(document.paths)) {
    if (post === undefined) continue;
    const { schema } = post.requestBody?.content["application/json"] ?? { schema: {} };
    const shapes = (schema["anyOf"] ?? [schema]) as readonly Schema[];
    const inBody = shapes.flatMap(({ properties }) => Object.keys(properties ?? {}));
    const inQuery = post.parameters.filter((one) => one.in === "query").map(({ name }) => name);
    expect([path, inQuery.filter((name) => inBody.includes(name))]).toEqual([path, []]);
    placed[path] = [...inQuery, ...inBody];
  }
  expect(placed).toEqual({
    "/api/vrfv2/presets": expect.arrayContaining([
      "network",
      "preset",
      "confirmations",
      "min",
      "max",
      "numberOfWinners",
      "list",
      "numFaces",
      "numDice",
    ]),
    "/api/vrfv2/requestRandomNumber": [
      "network",
      "numWords",
      "confirmations",
      "label",
      "once",
      "keyHash",
      "keyHashes",
    ],
    "/api/vrfv2/addConsumer": ["dappId", "network", "consumer"],
    "/api/dapps": ["name", "facilities"],
    "/api/dapps/{dappId}/invitations": ["role", "name"],
    "/api/dapps/{dappId}/keys": ["name", "dailyLimit", "access", "expiresAt"],
    "/api/dapps/{dappId}/keys/{keyId}/rotate": ["overlapHours"],
    "/api/faucet": ["network", "address"],
    "/api/oracleFunctions/runFunction": [
      "network",
      "source",
      "args",
      "secrets",
      "returnType",
      "beacon",
      "label",
      "once",
    ],
    "/api/oracleFunctions/simulate": [
      "network",
      "source",
      "args",
      "secrets",
      "secretValues",
      "returnType",
      "beacon",
    ],
    "/api/secretsSigner": ["network", "address", "signature"],
    "/api/schedules": [
      "name",
      "network",
      "action",
      "every",
      "cron",
      "timeZone",
      "window",
      "catchUp",
      "overlap",
      "until",
      "paused",
    ],
    "/api/schedules/{scheduleId}/run": [],
    "/api/triggers": [
      "name",
      "network",
      "addresses",
      "event",
      "topics",
      "filters",
      "confidence",
      "action",
      "actionNetwork",
      "fromBlock",
      "paused",
    ],
    "/api/webhooks": ["url", "events", "description", "signature"],
    "/api/webhooks/{webhookId}/replay": ["eventId", "since"],
    "/api/webhooks/{webhookId}/rotate": ["overlapHours"],
    "/api/webhooks/{webhookId}/test": ["type"],
  });
});

test("it describes every operation under /api", () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(described.sort()).toEqual([
    "delete /api/dapps/{dappId}",
    "delete /api/dapps/{dappId}/invitations/{invitationId}",
    "delete /api/dapps/{dappId}/keys/{keyId}",
    "delete /api/dapps/{dappId}/members/{personId}",
    "delete /api/passkeys/{passkeyId}",
    "delete /api/people/{personId}",
    "delete /api/schedules/{scheduleId}",
    "delete /api/secrets/{name}",
    "delete /api/sessions/{sessionId}",
    "delete /api/triggers/{triggerId}",
    "delete /api/vrfv2/consumers/{address}",
    "delete /api/webhooks/{webhookId}",
    "get /api/activity",
    "get /api/audit",
    "get /api/contractRequests",
    "get /api/dapps",
    "get /api/dapps/{dappId}",
    "get /api/dapps/{dappId}/balances",
    "get /api/dapps/{dappId}/configVars",
    "get /api/dapps/{dappId}/invitations",
    "get /api/dapps/{dappId}/keys",
    "get /api/dapps/{dappId}/keys/{keyId}",
    "get /api/dapps/{dappId}/members",
    "get /api/dryRuns",
    "get /api/dryRuns/{id}",
    "get /api/explorer/networks",
    "get /api/explorer/networks/{network}",
    "get /api/explorer/networks/{network}/addresses/{address}",
    "get /api/explorer/networks/{network}/addresses/{address}/contract",
    "get /api/explorer/networks/{network}/addresses/{address}/contractRequests",
    "get /api/explorer/networks/{network}/addresses/{address}/transfers",
    "get /api/explorer/networks/{network}/blocks",
    "get /api/explorer/networks/{network}/blocks/{number}",
    "get /api/explorer/networks/{network}/transactions",
    "get /api/explorer/networks/{network}/transactions/{hash}",
    "get /api/explorer/presets",
    "get /api/explorer/requests",
    "get /api/explorer/results/{id}",
    "get /api/explorer/results/{id}/chainData",
    "get /api/explorer/search",
    "get /api/faucet/accounts",
    "get /api/info",
    "get /api/me",
    "get /api/networks",
    "get /api/people",
    "get /api/presetProblems",
    "get /api/presets",
    "get /api/readiness",
    "get /api/requests",
    "get /api/requests/{id}",
    "get /api/schedules",
    "get /api/schedules/{scheduleId}",
    "get /api/schedules/{scheduleId}/runs",
    "get /api/secrets",
    "get /api/secretsKey",
    "get /api/sessions",
    "get /api/triggers",
    "get /api/triggers/{triggerId}",
    "get /api/triggers/{triggerId}/runs",
    "get /api/usage",
    "get /api/verify",
    "get /api/vrfv2/consumers",
    "get /api/webhooks",
    "get /api/webhooks/{webhookId}",
    "get /api/webhooks/{webhookId}/attempts",
    "get /api/webhooks/{webhookId}/attempts/{attemptId}",
    "patch /api/dapps/{dappId}",
    "patch /api/dapps/{dappId}/keys/{keyId}",
    "patch /api/dapps/{dappId}/members/{personId}",
    "patch /api/people/{personId}",
    "patch /api/schedules/{scheduleId}",
    "patch /api/triggers/{triggerId}",
    "patch /api/webhooks/{webhookId}",
    "post /api/dapps",
    "post /api/dapps/{dappId}/invitations",
    "post /api/dapps/{dappId}/keys",
    "post /api/dapps/{dappId}/keys/{keyId}/rotate",
    "post /api/faucet",
    "post /api/oracleFunctions/runFunction",
    "post /api/oracleFunctions/simulate",
    "post /api/schedules",
    "post /api/schedules/{scheduleId}/run",
    "post /api/secretsSigner",
    "post /api/triggers",
    "post /api/vrfv2/addConsumer",
    "post /api/vrfv2/presets",
    "post /api/vrfv2/requestRandomNumber",
    "post /api/webhooks",
    "post /api/webhooks/{webhookId}/replay",
    "post /api/webhooks/{webhookId}/rotate",
    "post /api/webhooks/{webhookId}/test",
    "put /api/secrets/{name}",
  ]);
});

test("every operation that takes a key lists 404, for an operator who names a dapp that does not exist", () => {
  const lacking = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ security, responses }) => security?.length !== 0 && !Object.hasOwn(responses, "404"));
  expect(lacking.map(({ operationId }) => operationId)).toEqual([]);
});

test("it names every error code", () => {
  for (const code of Object.keys(ERROR_TABLE)) expect(text).toContain(`\`${code}\``);
});

test("has examples of its own operations and of no others", () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(Object.keys(examples).toSorted()).toEqual(
    operations.map(({ operationId }) => operationId).toSorted(),
  );
});

test("every JSON response has examples, and they have its schema", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "api");
  const wrong = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, responses }]) =>
      Object.entries(responses).flatMap(([status, { content }]) => {
        const { example, examples = {} } = content!["application/json"]!;
        const values = [
          ...(example === undefined ? [] : [example]),
          ...Object.values(examples).map((one) => one.value),
        ];
        const at = `api#/paths/${path.replaceAll("/", "~1")}/${method}/responses/${status}/content/application~1json/schema`;
        const validate = ajv.compile({ $ref: at });
        const name = `${operationId} ${status}`;
        if (values.length === 0) return [`${name} has none`];
        return values
          .filter((value) => !validate(value))
          .map(() => `${name}: ${ajv.errorsText(validate.errors)}`);
      }),
    ),
  );
  expect(wrong).toEqual([]);
});

test("real answers have the schemas that it promises", async () => {
  const { call } = await startHarness();
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "api");
  const calls = [
    ["post", "/api/vrfv2/presets", "/api/vrfv2/presets", 200],
    ["post", "/api/vrfv2/presets", "/api/vrfv2/presets?network=x", 400],
    ["post", "/api/vrfv2/requestRandomNumber", "/api/vrfv2/requestRandomNumber", 200],
    [
      "post",
      "/api/oracleFunctions/runFunction",
      "/api/oracleFunctions/runFunction?network=fuji&source=x",
      200,
    ],
    ["post", "/api/oracleFunctions/simulate", "/api/oracleFunctions/simulate?source=x", 200],
    ["post", "/api/faucet", `/api/faucet?network=sepolia&address=${CONSUMER}`, 200],
    ["delete", "/api/dapps/{dappId}", "/api/dapps/dapp_1", 200],
    ["get", "/api/dryRuns", "/api/dryRuns", 200],
    ["get", "/api/dryRuns/{id}", `/api/dryRuns/dry_${"0".repeat(26)}`, 200],
    ["get", "/api/dryRuns/{id}", "/api/dryRuns/dry_1", 404],
    ["get", "/api/networks", "/api/networks", 200],
    ["get", "/api/presets", "/api/presets", 200],
    ["get", "/api/requests", "/api/requests", 200],
    ["get", "/api/verify", `/api/verify?network=sepolia&tx=${KNOWN_TX}`, 200],
    ["get", "/api/verify", `/api/verify?network=sepolia&tx=0x${"12".repeat(32)}`, 404],
  ] as const;
  for (const [method, path, url, status] of calls) {
    const reply = await call(method.toUpperCase(), url);
    expect([url, reply.status]).toEqual([url, status]);
    const pointer = `#/paths/${path.replaceAll("/", "~1")}/${method}/responses/${status}/content/application~1json/schema`;
    const validate = ajv.compile({ $ref: `api${pointer}` });
    expect([url, validate(JSON.parse(reply.text)), validate.errors]).toEqual([url, true, null]);
  }
});

test("the examples of its bodies are answered 200", async () => {
  const { call } = await startHarness();
  const { requestBody } = document.paths["/api/vrfv2/presets"]?.["post"] ?? {};
  const examples = Object.entries(requestBody?.content["application/json"]?.examples ?? {});
  expect(examples.map(([name]) => name).toSorted()).toEqual(["coinflip", "lotto", "nDice", "range"]);
  for (const [name, { value }] of examples) {
    const reply = await call("POST", `/api/vrfv2/presets?preset=${name}`, { body: value });
    expect([name, reply.status, reply.data["err"]]).toEqual([name, 200, "0x"]);
  }
});
