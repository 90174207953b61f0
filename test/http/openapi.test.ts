import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, expect, test } from "vitest";
import { ERROR_TABLE } from "../../src/http/errorTable.ts";
import { KNOWN_TX } from "./exampleVerifier.ts";
import { startHarness } from "./harness.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}
interface DescribedOperation {
  readonly operationId: string;
  readonly description: string;
  readonly responses: Readonly<Record<string, { readonly content?: Record<string, { schema: object }> }>>;
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly examples?: Record<string, { value: object }> }>>;
  };
}

let text = "";
let document: Document;
beforeAll(async () => {
  const { call, server } = await startHarness();
  ({ text } = await call("GET", "/openapi.json", { key: null }));
  document = JSON.parse(text) as Document;
  await server.close();
});

test("default: the document is valid OpenAPI 3.1", async () => {
  const outcome = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
  expect(outcome).toMatchObject({ valid: true });
});

test("behaviour: it describes every operation under /api", () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(described.sort()).toEqual([
    "get /api/networks",
    "get /api/presets",
    "get /api/requests",
    "get /api/requests/{id}",
    "get /api/verify",
    "post /api/oracleFunctions/runFunction",
    "post /api/oracleFunctions/simulate",
    "post /api/vrfv2/addConsumer",
    "post /api/vrfv2/presets",
    "post /api/vrfv2/requestRandomNumber",
  ]);
});

test("behaviour: it names every error code", () => {
  for (const code of Object.keys(ERROR_TABLE)) expect(text).toContain(`\`${code}\``);
});

test("behaviour: real answers have the schemas that it promises", async () => {
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

test("behaviour: the examples of its bodies are answered 200", async () => {
  const { call } = await startHarness();
  const { requestBody } = document.paths["/api/vrfv2/presets"]?.["post"] ?? {};
  const examples = Object.entries(requestBody?.content["application/json"]?.examples ?? {});
  expect(examples.map(([name]) => name)).toEqual(["coinflip", "range", "lotto", "nDice"]);
  for (const [name, { value }] of examples) {
    const reply = await call("POST", "/api/vrfv2/presets", { body: value });
    expect([name, reply.status, reply.data["err"]]).toEqual([name, 200, "0x"]);
  }
});
