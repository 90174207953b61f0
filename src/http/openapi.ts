import { RequestView } from "../api/requests.ts";
import { SimulateResult } from "../api/results.ts";
import type { PresetView } from "../api/types.ts";
import recorded from "./examples.json" with { type: "json" };
import { version } from "../lib/version.ts";
import { ERROR_TABLE, type ErrorCode } from "./errorTable.ts";
import type { LiveSchemas } from "./liveSchemas.ts";
import type { Operation } from "./operation.ts";
import { TYPE } from "../api/common.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";

type Json = Readonly<Record<string, unknown>>;

/** Examples of an operation's responses. `npm run examples` records them. */
interface Example {
  /** `data` of a 200 response. */
  readonly answer: unknown;
  /** `data` of a 202 response. */
  readonly accepted?: unknown;
  /** A 200 response as `text/csv`, if that form exists. */
  readonly csv?: string;
}
const EXAMPLES: Readonly<Record<string, Example>> = recorded;

/** Errors that every operation under `/api` may return. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  "invalid_parameter",
  "unauthenticated",
  "key_expired",
  "forbidden",
  // An operator may name a dapp that does not exist.
  "not_found",
  "rate_limited",
  "internal",
  "overloaded",
];
/** The subset that a call without a key may get. */
const OPEN_ERRORS: readonly ErrorCode[] = ["invalid_parameter", "rate_limited", "internal", "overloaded"];
const BODY_ERRORS: readonly ErrorCode[] = ["malformed_json", "body_too_large", "unsupported_media_type"];
const ASYNC_ERRORS: readonly ErrorCode[] = [
  "not_found",
  "idempotency_conflict",
  "chain_unavailable",
  "request_failed",
  "oracle_timeout",
  "word_withheld",
  "still_pending",
];

/**
 * Builds the OpenAPI 3.1 document from the operations and from the same schemas that validate their parameters, for the current
 * networks and presets.
 */
export function describeApi(operations: readonly Operation[], schemas: LiveSchemas): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method]: describeOperation(operation, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Tyche",
      version,
      summary: "Verifiable random numbers and oracle functions over HTTP.",
      description: describeUse(),
      contact: { name: "The operator of this service" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }],
    tags: [
      {
        name: "Randomness",
        description: "Verifiable random numbers, and presets that turn one into a result.",
      },
      { name: "Functions", description: "Your own JavaScript on the oracle network." },
      { name: "Requests", description: "State and outcome of earlier requests." },
      { name: "Usage", description: "What a dapp has used and spent." },
      { name: "Dapps", description: "The dapp that a key belongs to." },
      { name: "Webhooks", description: "Events that are sent to a dapp's own server." },
      {
        name: "Secrets",
        description: "API keys that functions of a dapp read and nobody else.",
      },
      {
        name: "Triggers",
        description:
          "Requests that the service makes by itself: at certain times, or when contracts emit events.",
      },
      { name: "Catalogue", description: "The installed presets and the networks served." },
      { name: "Explorer", description: "Data from the chains, public: no key is needed." },
      {
        name: "Operator",
        description:
          "The application's operations: dapps, their keys and contracts, and the state of the service. They take the operator token in " +
          "`Authorization`; with the token and the header `Tyche-Dapp`, the other operations act for any dapp.",
      },
      {
        name: "People",
        description:
          "Who signs in to the application, and what they may do there: members of dapps, invitations, sessions and the audit log.",
      },
    ],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "Authorization",
          description: "The dapp's API key, or the operator token, bare or after `Bearer `.",
        },
        operatorToken: {
          type: "apiKey",
          in: "header",
          name: "Authorization",
          description: "The operator token, bare or after `Bearer `. An API key gets 403.",
        },
      },
      schemas: {
        Request: publicSchema({ ...RequestView }),
        Error: errorSchema(),
      },
    },
  };
}

function describeOperation(operation: Operation, schemas: LiveSchemas): Json {
  const { id, tag, summary, description } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...security(operation),
    parameters: [
      ...pathParameters(operation),
      ...queryParameters(operation, schemas),
      ...headerParameters(operation),
    ],
    ...requestBody(operation, schemas),
    responses: responses(operation),
  };
}

/** Returns who may call an operation, if not whoever has an API key. */
function security({ access }: Operation): Json {
  if (access === "everybody") return { security: [] };
  return access === "operator" ? { security: [{ operatorToken: [] }] } : {};
}

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  id: "Identifier of the request: `req_` and 26 characters, or the oracle network's `requestId`.",
  dappId: "Identifier of the dapp, as in the address of its page.",
  attemptId: "Identifier of the attempt: `att_` and 26 characters.",
  webhookId: "Identifier of the webhook: `wh_` and 26 characters.",
  scheduleId: "Identifier of the schedule: `sch_` and 26 characters.",
  triggerId: "Identifier of the log trigger: `trg_` and 26 characters.",
  personId: "Identifier of the person: `person_` and 26 characters.",
  invitationId: "Identifier of the invitation: `inv_` and 26 characters.",
  sessionId: "Identifier of the session: `session_` and 12 hex digits.",
  keyId: "Identifier of the API key: `key_` and 26 characters.",
  name: "Name of the secret: letters, digits and underscores.",
  address: "An address: `0x` and 40 hex digits.",
  network: "Name of a network.",
  hash: "Hash of the transaction: `0x` and 64 hex digits.",
  number: "Number of the block, in decimal.",
};

function pathParameters({ path }: Operation): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    description: PATH_PARAMETERS[name!],
  }));
}

function queryParameters({ placement, request }: Operation, schemas: LiveSchemas): Json[] {
  if (placement === "body") return [];
  const schema: Json = { ...schemas.requests[request] };
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Json>>;
  const required = (schema["required"] ?? []) as readonly string[];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    // A parameter with a default may be omitted.
    required: required.includes(name) && schema["default"] === undefined,
    description: schema["description"],
    schema: publicSchema(schema),
  }));
}

const headerParameter = (name: string, description: string, schema: Json): Json => ({
  name,
  in: "header",
  required: false,
  description,
  schema,
});

function headerParameters({ isAsync, takesIdempotencyKey = isAsync }: Operation): Json[] {
  const pattern = "^[!-~]{1,255}$";
  return [
    ...(takesIdempotencyKey
      ? [
          headerParameter("Idempotency-Key", "Makes the call safe to send again.", {
            type: "string",
            pattern,
          }),
        ]
      : []),
    ...(isAsync
      ? [
          headerParameter(
            "Prefer",
            "`respond-async`, `wait=<seconds>`, or both. A `wait` beyond the service's limit ends at the limit; one that isn't a whole number is refused.",
            { type: "string" },
          ),
        ]
      : []),
  ];
}

function requestBody({ placement, request, example }: Operation, schemas: LiveSchemas): Json {
  if (placement === "query") return {};
  const presets = [...schemas.presets.values()];
  const own: Json = { ...schemas.requests[request] };
  const schema = publicSchema(relaxed(own));
  const content =
    placement === "presets"
      ? {
          // Inlined instead of referenced: openapi-typescript makes members with a default required, except within a request
          // body. An empty choice is not a valid schema: without presets, the body has no members.
          schema:
            presets.length > 0
              ? { anyOf: presets.map(presetSchema) }
              : { type: "object", properties: {}, additionalProperties: false },
          examples: Object.fromEntries(presets.map((preset) => [preset.name, { value: exampleOf(preset) }])),
        }
      : {
          schema,
          example: {
            ...("network" in (schema["properties"] as Json)
              ? { network: [...schemas.networks.keys()][0] }
              : {}),
            ...example,
          },
        };
  const required = placement === "body" && (schema["required"] as readonly string[]).length > 0;
  return { requestBody: { required, content: { "application/json": content } } };
}

function exampleOf(preset: PresetView): Json {
  return { ...preset.examples[0]?.params };
}

/** The preset's own parameters; those of every preset are documented as query parameters. */
function presetSchema({ parameters, title, description }: PresetView): Json {
  return publicSchema(relaxed({ ...parameters, title, description }));
}

/**
 * Returns a schema as callers see it: members with a default are optional. (The validator fills in defaults before it checks.)
 */
function relaxed(schema: Json): Json {
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Json>>;
  const required = ((schema["required"] ?? []) as readonly string[]).filter(
    (name) => properties[name]?.["default"] === undefined,
  );
  return { ...schema, type: "object", required };
}

function responses(operation: Operation): Json {
  const { answer, accepted, csv } = EXAMPLES[operation.id]!;
  const byStatus = new Map<number, ErrorCode[]>();
  const codes = [
    ...(operation.access === "everybody" ? OPEN_ERRORS : COMMON_ERRORS),
    ...(["post", "put", "patch"].includes(operation.method) ? BODY_ERRORS : []),
    ...(operation.isAsync ? ASYNC_ERRORS : []),
    ...operation.errors,
  ];
  for (const code of new Set(codes)) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const errors = [...byStatus].map(([status, codes]) => [
    String(status),
    {
      description: codes.map((code) => `\`${code}\`: ${ERROR_TABLE[code].meaning}`).join(" "),
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Error" },
          examples: Object.fromEntries(codes.map((code) => [code, { value: errorExample(code) }])),
        },
      },
    },
  ]);
  return {
    200: {
      description: "The result.",
      content: {
        "application/json": {
          schema: enveloped(publicSchema({ ...operation.answer })),
          example: { data: answer },
        },
        ...(csv === undefined ? {} : { "text/csv": { schema: { type: "string" }, example: csv } }),
      },
    },
    ...(operation.isAsync ? { 202: acceptance(accepted) } : {}),
    ...Object.fromEntries(errors),
  };
}

function acceptance(data: unknown): Json {
  const schema = enveloped({ $ref: "#/components/schemas/Request" });
  return {
    description: "Accepted (`Prefer: respond-async`); `Location` is the address of the request.",
    headers: { Location: { schema: { type: "string" } } },
    content: { "application/json": { schema, example: { data } } },
  };
}

/** Describes the API in Markdown for language models: the file `/llms.txt` (llmstxt.org). */
export function describeForModels(operations: readonly Operation[], schemas: LiveSchemas): string {
  const calls = operations
    .filter(({ access }) => access !== "operator")
    .map(
      ({ method, path, summary }) =>
        `- \`${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}\`: ${summary}`,
    );
  const presets = [...schemas.presets.values()].map(
    ({ name, description }) => `- \`${name}\`: ${description}`,
  );
  return `# Tyche

> Verifiable random numbers and oracle functions over HTTP: one call with an API key, and each success links to the transaction that proves it.

Send the key in \`Authorization\`. Parameters are JSON in the body of a POST, or in the query. Answers are \`{"data": …}\`; a failed call has \`data.code\` and \`data.err\`, which says what to do. \`Idempotency-Key\` makes a repeated call one call. A draw can't be undone: show \`data.shareUrl\`, and don't draw again because a result is unwelcome.

- [OpenAPI document](/openapi.json): every parameter and answer
- [Reference](/docs): the same to read, with examples in cURL, TypeScript and Python
- [Guides](/docs/README.md): every page of the documentation, as Markdown
- \`npx tyche mcp\`: these calls as tools of the Model Context Protocol

## Presets

\`POST /api/vrfv2/presets?network=…&preset=NAME\`, with the preset's parameters in the body.

${presets.join("\n")}

## Calls

${calls.join("\n")}
`;
}

const INTRODUCTION = [
  "Every answer of the API is an object with one member `data`, errors included.",
  "Each parameter is listed in one place, but a POST accepts it in the query or in the JSON body; if it is in both, the values must be equal. " +
    "Unknown parameters are refused, and all violations are listed at once.",
  "**Waiting.** A call answers when its result is on chain. `Prefer: respond-async` answers 202 at once with the address of the " +
    "request; `Prefer: wait=10` waits for at most that many seconds; `Accept: text/event-stream` streams the states as they come.",
  "**Idempotency.** With an `Idempotency-Key` header, a call may be repeated: it gets the same answer and never sends a second " +
    "transaction.",
  "**Limits.** `RateLimit` and `RateLimit-Policy` headers say how much is left; 429 and 503 carry `Retry-After`.",
  "Pages of any origin may call the API (CORS). Only the key counts; cookies are ignored. If the service listens on a loopback address, " +
    "endpoints that need no key refuse calls from pages of other sites.",
].join("\n\n");

/** Returns the text that `/openapi.json` begins with, in Markdown: what holds for every call, and the table of the errors. */
function describeUse(): string {
  const rows = Object.entries(ERROR_TABLE).map(
    ([code, { status, meaning, remedy }]) => `| \`${code}\` | ${status} | ${meaning} | ${remedy} |`,
  );
  return `${INTRODUCTION}\n\n| Code | Status | Meaning | Remedy |\n|---|---|---|---|\n${rows.join("\n")}`;
}

/** Keywords that map names to schemas, that list schemas, and that hold one schema. */
const MAPS = new Set(["properties", "patternProperties", "$defs"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SINGLES = new Set(["items", "additionalProperties", "not"]);
/** Keywords that constrain numbers, and strings. */
const OF_NUMBERS = ["minimum", "maximum"];
const OF_TEXTS = ["pattern", "minLength", "maxLength"];

/**
 * Rewrites one of our validator's schemas into one that every tool understands: it drops the annotations, and where a whole number
 * may come as an integer or as text it offers a choice of two schemas, so that no `pattern` applies to an integer.
 */
function publicSchema(schema: Json): Json {
  const published: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === EXPECTED || key === TYPE) continue;
    if (MAPS.has(key))
      published[key] = Object.fromEntries(
        Object.entries(value as Record<string, Json>).map(([name, one]) => [name, publicSchema(one)]),
      );
    else if (LISTS.has(key)) published[key] = (value as readonly Json[]).map(publicSchema);
    else if (SINGLES.has(key) && typeof value === "object" && value !== null)
      published[key] = publicSchema(value as Json);
    else published[key] = value;
  }
  return splitTypes(published);
}

function splitTypes(schema: Json): Json {
  const { type, ...rest } = schema;
  if (!Array.isArray(type)) return schema;
  const pick = (keys: readonly string[]): Json =>
    Object.fromEntries(keys.flatMap((key) => (rest[key] === undefined ? [] : [[key, rest[key]]])));
  const shared = Object.fromEntries(
    Object.entries(rest).filter(([key]) => !OF_NUMBERS.includes(key) && !OF_TEXTS.includes(key)),
  );
  const anyOf = (type as readonly string[]).map((one) => ({
    type: one,
    ...pick(one === "string" ? OF_TEXTS : OF_NUMBERS),
  }));
  return { anyOf, ...shared };
}

/** Returns the schema of a response: an object with the single member `data`. */
function enveloped(data: unknown): Json {
  return { type: "object", required: ["data"], additionalProperties: false, properties: { data } };
}

/** Returns an example of an error response. */
function errorExample(code: ErrorCode): Json {
  return { data: { success: false, err: ERROR_TABLE[code].meaning, code } };
}

/** Returns the schema of every error response. */
function errorSchema(): Json {
  const { console, consoleTruncated, timeMs, memoryBytes, httpRequests, line, column, warnings } =
    SimulateResult.properties;
  return enveloped({
    type: "object",
    required: ["success", "err", "code"],
    properties: {
      success: { const: false },
      err: { type: "string", description: "One sentence." },
      code: { enum: Object.keys(ERROR_TABLE), description: "Stable: branch on it." },
      details: {
        type: "array",
        description:
          "For `invalid_parameter`, every violation; for `function_failed`, the cause of `err` if its text doesn't state it.",
        items: {
          type: "object",
          required: ["path", "message"],
          properties: {
            path: { type: "string", description: "JSON Pointer to the parameter." },
            message: { type: "string" },
          },
        },
      },
      id: { type: "string", description: "Identifier of the request, where there is one." },
      shareUrl: {
        type: "string",
        description: "Public page of the request's result, where there is a request.",
      },
      value: { type: "null", description: "Where there is a request: it has no value." },
      statusUrl: { type: "string", description: "Address of the request, where there is one." },
      dryRunUrl: {
        type: "string",
        description:
          "For `function_failed` without a request: the page of the application that shows its dry run to whoever may see the dapp's requests.",
      },
      // What a dry run found that refused its call.
      console,
      consoleTruncated,
      timeMs,
      memoryBytes,
      httpRequests,
      line,
      column,
      warnings,
      correlationId: { type: "string", description: "For `internal`: names the call in the operator's log." },
    },
  });
}
