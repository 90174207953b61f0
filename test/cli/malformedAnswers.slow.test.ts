import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Command } from "commander";
import pc from "picocolors";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { TycheClientError } from "../../src/client/index.ts";
import { registerCall } from "../../src/cli/callCommand.ts";
import { registerClient } from "../../src/cli/clientCommand.ts";
import { registerConsumer } from "../../src/cli/consumerCommand.ts";
import { registerDryRuns } from "../../src/cli/dryRunsCommand.ts";
import { registerFaucet } from "../../src/cli/faucetCommand.ts";
import { registerRequests } from "../../src/cli/requestsCommand.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { registerUsage } from "../../src/cli/usageCommand.ts";
import { registerSchedule } from "../../src/cli/scheduleCommand.ts";
import { registerTrigger } from "../../src/cli/triggerCommand.ts";
import { registerWebhook } from "../../src/cli/webhookCommand.ts";
import examples from "../../src/http/examples.json" with { type: "json" };
import { TycheError } from "../../src/lib/errors.ts";
import { runCli } from "./runCli.ts";

/** A refusal with positions and details that no source can have. */
const REFUSAL = {
  code: "function_failed",
  err: "it threw",
  line: 1.5,
  column: "7",
  details: [null, 7, { path: 7, message: [] }, { path: "", message: "at a" }],
};

const REQUEST = {
  id: "req_1",
  createdAt: "2026-11-01T00:00:00.000Z",
  network: "fuji",
  kind: "preset",
  state: "fulfilled",
  outcome: null,
  error: null,
};

/** Answers of a service that is broken, hostile, or none of Tyche's. */
const BODIES = [
  "[]",
  "null",
  "{}",
  "<!doctype html><title>It works!</title>",
  ...[
    [],
    {},
    { items: null, linked: null },
    { items: {}, linked: [{ network: "fuji", address: "0x", onChain: 7 }] },
    { items: [null], nextCursor: null, older: null },
    { items: [{}], nextCursor: null, older: null },
    { items: [], nextCursor: 7, older: 7 },
    { items: "7", id: 7, transactionHash: 7, transactionHashes: "7" },
    { id: null, transactionHash: null, transactionHashes: [7] },
    { id: "req_1", state: "fulfilled", timeline: null, outcome: null, error: null },
    { id: "req_1", state: "fulfilled", timeline: [null], outcome: {}, error: {} },
    { items: [{ ...REQUEST, params: null }], nextCursor: null },
    { items: [{ ...REQUEST, params: {}, shown: { as: "coin" } }], nextCursor: null },
    REFUSAL,
    { from: "2026-11-01", to: "2026-11-30", items: [{ day: "2026-11-01", network: null, requests: null }] },
  ].map((data) => JSON.stringify({ data })),
];

/** Answers that have all that a command needs. */
const FIT: Readonly<Record<string, (body: string) => boolean>> = {
  "client generate": (body) => body.includes('"items":[]'),
  "schedule list": (body) => body.includes('"items":[]'),
  "schedule runs sch_1": (body) => body.includes('"items":[]'),
  "trigger list": (body) => body.includes('"items":[]'),
  "trigger runs trg_1": (body) => body.includes('"items":[]'),
  "webhook list": (body) => body.includes('"items":[]'),
  "call random --async": (body) => body.includes('"id":"req_1"'),
};

/** Contents of the event stream that follow a request that the service accepted. */
const STREAMS = [
  "null",
  "[]",
  "{}",
  "<html>",
  '{"data":null}',
  '{"data":[]}',
  '{"data":{}}',
  '{"data":{"randomNumber":7}}',
  '{"data":{"success":true,"randomNumber":[7]}}',
  '{"data":{"success":true,"parsedResult":7,"result":[]}}',
  '{"data":{"seq":1,"at":7,"state":null}}',
];

let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    const url = new URL(request.url!, "http://localhost");
    const [, kind, at, event] = /^\/(body|refused|stream)\/(\d+)\/(\w*)/.exec(url.pathname)!;
    if (kind === "refused") response.statusCode = 422;
    if (kind !== "stream") return response.end(BODIES[Number(at)]);
    if (url.pathname.endsWith("/presets") && request.method === "GET")
      return response.end('{"data":{"items":[]}}');
    if (request.method === "POST") return response.end('{"data":{"id":"req_1"}}');
    response.setHeader("content-type", "text/event-stream");
    response.end(`event: ${event}\ndata: ${STREAMS[Number(at)]}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void server.close());
afterEach(() => {
  process.exitCode = undefined;
});

const baseOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Runs a command, and returns what it threw. */
async function failureOf(words: readonly string[], at: string): Promise<unknown> {
  vi.stubEnv("TYCHE_API_KEY", "tyche_key");
  const ignore = (): void => {};
  const terminal: Terminal = { out: ignore, err: ignore, isTerminal: true, colors: pc.createColors(false) };
  const program = new Command();
  for (const register of [
    registerCall,
    registerClient,
    registerConsumer,
    registerDryRuns,
    registerFaucet,
    registerRequests,
    registerUsage,
    registerSchedule,
    registerTrigger,
    registerWebhook,
  ])
    register(program, terminal);
  try {
    await program.parseAsync([...words, "--url", `${baseOf()}/${at}`], { from: "user" });
    return undefined;
  } catch (error) {
    return error;
  }
}

function isSentence(error: unknown): boolean {
  const isOurs = error instanceof TycheError || error instanceof TycheClientError;
  return isOurs && !error.message.includes("\n");
}

const ADDRESS = `0x${"12".repeat(20)}`;
const HASH = `0x${"12".repeat(32)}`;
const NETWORK = ["--network", "sepolia"];
const SOURCE = import.meta.filename;

// The client asks a service again whose answer is none, which takes a second.
test.concurrent.each([
  { words: ["call", "coinflip"] },
  { words: ["call", "coinflip", "--async"] },
  { words: ["call", "random", "--async"] },
  { words: ["call", "run", SOURCE] },
  { words: ["requests", "list"] },
  { words: ["requests", "list", "--json"] },
  { words: ["requests", "show", "req_1"] },
  { words: ["dry-runs"] },
  { words: ["schedule", "list"] },
  { words: ["schedule", "runs", "sch_1"] },
  { words: ["schedule", "run", "sch_1"] },
  { words: ["trigger", "list"] },
  { words: ["trigger", "runs", "trg_1"] },
  { words: ["webhook", "list"] },
  { words: ["webhook", "add", "https://example.com/"] },
  { words: ["webhook", "log", "wh_1"] },
  { words: ["webhook", "test", "wh_1"] },
  { words: ["usage"] },
  { words: ["usage", "--csv"] },
  { words: ["consumer", "list"] },
  { words: ["consumer", "add", ADDRESS, ...NETWORK] },
  { words: ["consumer", "remove", ADDRESS, ...NETWORK] },
  { words: ["consumer", "requests", ...NETWORK] },
  { words: ["consumer", "wait", HASH, ...NETWORK] },
  { words: ["faucet", ADDRESS, ...NETWORK] },
  { words: ["client", "generate"] },
])("tyche $words says that the answer is not Tyche's, whatever it is", async ({ words }) => {
  const failures = await Promise.all(
    BODIES.map(async (body, i) => ({ body, error: await failureOf(words, `body/${i}/`) })),
  );
  const isFit = FIT[words.join(" ")] ?? (() => false);
  expect(failures.filter(({ body, error }) => !isSentence(error) && !isFit(body))).toEqual([]);
});

test("reads the answer of a later version, which knows more states and members", async () => {
  const [request] = examples.listRequests.answer.items;
  const later = JSON.stringify({
    data: { items: [{ ...request, state: "queued", priority: 1 }], nextCursor: null },
  });
  const service = createServer((_, response) => void response.end(later)).listen(0, "127.0.0.1");
  await once(service, "listening");
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const { code, stdout } = await runCli(["requests", "list"], "", {
    TYCHE_URL: url,
    TYCHE_API_KEY: "tyche_key",
  });
  service.close();
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("queued") });
});

test.each([{ words: ["call", "coinflip"] }, { words: ["requests", "watch", "req_1"] }])(
  "tyche $words says that a stream is not Tyche's, whatever its events hold",
  async ({ words }) => {
    const failures = await Promise.all(
      ["state", "result", "failure"].flatMap((event) =>
        STREAMS.map(async (data, i) => ({
          event,
          data,
          error: await failureOf(words, `stream/${i}/${event}`),
        })),
      ),
    );
    expect(failures.filter(({ error }) => !isSentence(error))).toEqual([]);
  },
);

test("a refusal whose details are malformed is still a sentence", async () => {
  const at = BODIES.findIndex((body) => body.includes("function_failed"));
  const args = ["call", "run", SOURCE, "--network", "sepolia", "--url", `${baseOf()}/refused/${at}/`];
  const { code, stderr } = await runCli(args, "", { TYCHE_API_KEY: "tyche_key" });
  expect({ code, stderr }).toEqual({ code: 1, stderr: "failed: it threw\n  at a\n" });
});

test("the program prints one sentence with what to do, and exits with 1", async () => {
  const at = BODIES.indexOf('{"data":{}}');
  const args = ["dry-runs", "--url", `${baseOf()}/body/${at}`];
  const { code, stdout, stderr } = await runCli(args, "", { TYCHE_API_KEY: "tyche_key" });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    /^error: the answer is not a list of dry runs: \/items is required; http:[^\n]* check --url and TYCHE_URL\n$/,
  );
});
