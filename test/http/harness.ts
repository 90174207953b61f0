import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Writable } from "node:stream";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach } from "vitest";
import type { HttpLimits } from "../../src/config/httpLimits.ts";
import { createCallCounter } from "../../src/lib/rateLimit.ts";
import type { OperatorPart } from "../../src/http/operatorPart.ts";
import { createPublicGuard } from "../../src/http/publicGuard.ts";
import { createLiveSchemas } from "../../src/http/liveSchemas.ts";
import { startHttp, type HttpServer, type StartHttpOptions } from "../../src/http/server.ts";
import type { DappDirectory } from "../../src/dapps/dapps.ts";
import { createChainExplorer } from "../../src/explorer/explorer.ts";
import { createOperatorAccess, MIN_TOKEN_CHARACTERS } from "../../src/people/access.ts";
import { createPeople } from "../../src/people/people.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore } from "../../src/store/store.ts";
import { API_KEY, createExampleService, type ExampleService } from "./exampleService.ts";
import { exampleVerifier } from "./exampleVerifier.ts";

/** For `expect.poll`: a busy machine may take longer than the default of one second; an idle one is done in milliseconds. */
export const PATIENT = { interval: 5 };

export interface Harness {
  readonly service: ExampleService;
  readonly server: HttpServer;
  /** Everything that was logged. */
  readonly logged: () => string;
  /** Sends a request with the API key; a plain object as body is sent as JSON. */
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Reply>;
  /** Sends bytes unchanged over a connection of its own and returns everything received until it closes. */
  readonly raw: (bytes: string | Buffer) => Promise<string>;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly key?: string | null;
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The envelope's `data`. */
  readonly data: Record<string, unknown>;
}

export const OPERATOR_TOKEN = "x".repeat(MIN_TOKEN_CHARACTERS);

const unreachable = (): never => {
  throw new Error("this part is described, not called");
};
let operator: Promise<OperatorPart> | undefined;

/** Creates the operator's part once per file; `operator.service.test.ts` calls its operations on a real service. */
async function describeOperator(): Promise<OperatorPart> {
  const store = await openStore(createSqliteDialect(":memory:"));
  return {
    access: await createOperatorAccess({ operatorToken: OPERATOR_TOKEN, store }),
    people: createPeople(store),
    baseUrl: unreachable,
    dapps: {} as DappDirectory,
    explorer: createChainExplorer(new Map()),
    readConfigVars: unreachable,
    readBalances: unreachable,
    readChainConsumers: unreachable,
  };
}

/** Returns all that the HTTP layer needs to start on a free port in front of an example service. */
export async function describeParts(limits: Partial<HttpLimits>) {
  const counter = createCallCounter();
  return {
    verifier: exampleVerifier,
    operator: await (operator ??= describeOperator()),
    webhooks: {} as StartHttpOptions["webhooks"],
    secrets: {} as StartHttpOptions["secrets"],
    schedules: {} as StartHttpOptions["schedules"],
    logTriggers: {} as StartHttpOptions["logTriggers"],
    gateway: {} as StartHttpOptions["gateway"],
    lateBeacons: {} as StartHttpOptions["lateBeacons"],
    pages: [],
    guardPublic: createPublicGuard({ isLoopback: false, limits, counter }),
    counter,
    registry: new Registry(),
    port: 0,
    limits,
  };
}

const open: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** Starts the HTTP layer on a free port in front of an example service; closes it after the test. */
export async function startHarness(
  options: { readonly limits?: Partial<HttpLimits>; readonly more?: Partial<StartHttpOptions> } = {},
): Promise<Harness> {
  const service = createExampleService();
  let log = "";
  const destination = new Writable({
    write(chunk, _encoding, done) {
      log += String(chunk);
      done();
    },
  });
  const server = await startHttp({
    service,
    schemas: createLiveSchemas(service),
    ...(await describeParts({ closeGraceMs: 100, ...options.limits })),
    log: pino({ level: "debug" }, destination),
    ...options.more,
  });
  open.push(server);
  return {
    service,
    server,
    logged: () => log,
    call: (method, path, callOptions) => call(server.url + path, method, callOptions),
    raw: async (bytes) => {
      const socket = connect(server.port, "127.0.0.1");
      socket.write(bytes);
      return text(socket);
    },
  };
}

async function call(url: string, method: string, options: CallOptions = {}): Promise<Reply> {
  const { body, key = API_KEY, signal } = options;
  const isJson = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === null ? {} : { Authorization: key }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as string) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  const isEnvelope = response.headers.get("Content-Type")?.startsWith("application/json") === true;
  const parsed = isEnvelope && text !== "" ? (JSON.parse(text) as { data?: Reply["data"] }) : {};
  return { status: response.status, headers: response.headers, text, data: parsed.data ?? {} };
}
