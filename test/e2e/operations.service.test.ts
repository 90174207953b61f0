import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fromHexText, toHexText } from "../../src/lib/hex.ts";
import { NETWORK_NAMES } from "../../src/networks/profiles.ts";
import { deriveKey } from "../../src/lib/seal.ts";
import { noteBackup } from "../../src/store/backupNote.ts";
import { makeDataDir, removeDataDir, startTycheProcess } from "../support/tyche.ts";
import type { TycheProcess } from "../support/tyche.ts";

let dataDir: string;
let tyche: TycheProcess;
beforeAll(async () => {
  dataDir = makeDataDir();
  tyche = await startTycheProcess({ dataDir, env: { LOG_LEVEL: "trace" } });
});
afterAll(async () => {
  await tyche.stop();
  removeDataDir(dataDir);
});

const readMetrics = async (): Promise<string> => (await fetch(`${tyche.url}/metrics`)).text();

/** Adds up all series of a metric with these labels, written as in the text. */
function sumOf(metrics: string, name: string, ...labels: readonly string[]): number {
  return metrics
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

const logLines = (): Record<string, unknown>[] =>
  tyche
    .output()
    .split("\n")
    // The last one may have come in part only.
    .slice(0, -1)
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

interface Ready {
  readonly ready: boolean;
  readonly networks: Readonly<
    Record<string, { readonly oracle?: Record<"pendingWords" | "pendingFunctions", number> }>
  >;
}
/** Waits until all networks could be read in time, and each oracle knows, a moment later than the service, that nothing is left to do. */
const settle = () =>
  expect
    .poll(async () => {
      const { ready, networks } = (await (await fetch(`${tyche.url}/readyz`)).json()) as Ready;
      const pending = Object.values(networks).flatMap(({ oracle }) => [
        oracle?.pendingWords,
        oracle?.pendingFunctions,
      ]);
      return { ready, pending };
    })
    .toEqual({ ready: true, pending: NETWORK_NAMES.flatMap(() => [0, 0]) });

const sendCoinflip = () => tyche.call("POST", "/api/vrfv2/presets?network=fuji", { body: {} });

test("one preset moves the counters of its way", async () => {
  const before = await readMetrics();
  expect((await sendCoinflip()).status).toBe(200);
  // The service may have seen the word before the oracle has the receipt of its transaction.
  const words = (metrics: string) =>
    sumOf(metrics, "tyche_transactions_total", 'network="fuji"', 'purpose="words"');
  await expect.poll(async () => words(await readMetrics())).toBe(words(before) + 1);
  const after = await readMetrics();
  const grown = (name: string, ...labels: readonly string[]): number =>
    sumOf(after, name, 'network="fuji"', ...labels) - sumOf(before, name, 'network="fuji"', ...labels);
  expect(grown("tyche_requests_received_total", 'kind="preset"')).toBe(1);
  expect(grown("tyche_requests_ended_total", 'state="fulfilled"')).toBe(1);
  expect(grown("tyche_request_duration_seconds_count")).toBe(1);
  for (const stage of ["received", "submitted", "randomness"])
    expect(grown("tyche_request_stage_duration_seconds_count", `stage="${stage}"`)).toBe(1);
  // Word and result come in one transaction.
  expect(grown("tyche_transactions_total", 'purpose="report"')).toBe(0);
  for (const purpose of ["submit", "words"]) {
    expect(grown("tyche_transactions_total", `purpose="${purpose}"`, 'status="succeeded"')).toBe(1);
    expect(grown("tyche_transaction_requests_sum", `purpose="${purpose}"`)).toBe(1);
    expect(grown("tyche_transaction_gas_total", `purpose="${purpose}"`)).toBeGreaterThan(50_000);
  }
  // The dry run, and one for the nodes of this process: the source is pure.
  expect(sumOf(after, "tyche_sandbox_runs_total") - sumOf(before, "tyche_sandbox_runs_total")).toBe(2);
  expect(sumOf(after, "tyche_requests_open")).toBe(0);
});

test("failures are counted by code, of answers and of requests", async () => {
  const before = await readMetrics();
  await tyche.call("POST", "/api/vrfv2/presets?network=nowhere", { body: {} });
  const source = "if (bytesArgs === undefined || Math.random() >= 0) throw Error('no')";
  await tyche.call("POST", "/api/oracleFunctions/runFunction", { body: { network: "fuji", source } });
  // An answer is counted once it has been sent, which its caller may see earlier.
  for (const code of ["invalid_parameter", "function_failed"]) {
    const count = (metrics: string) => sumOf(metrics, "tyche_http_errors_total", `code="${code}"`);
    await expect.poll(async () => count(await readMetrics())).toBe(count(before) + 1);
  }
});

test("the state of every network is there in numbers", async () => {
  await settle();
  const metrics = await readMetrics();
  for (const network of NETWORK_NAMES) {
    const label = `network="${network}"`;
    expect(sumOf(metrics, "tyche_network_ready", label)).toBe(1);
    expect(sumOf(metrics, "tyche_rpc_reachable", label)).toBe(1);
    expect(sumOf(metrics, "tyche_chain_head_block", label)).toBeGreaterThan(0);
    expect(sumOf(metrics, "tyche_account_balance_coins", label, 'account="operator"')).toBeGreaterThan(1);
    expect(sumOf(metrics, "tyche_subscription_lowest_balance_link", label, '"vrf"')).toBeGreaterThan(1);
    expect(sumOf(metrics, "tyche_oracle_lag_seconds", label)).toBe(0);
  }
});

test("the time of the last backup is among the metrics", async () => {
  const readTime = async () => sumOf(await readMetrics(), "tyche_last_backup_timestamp_seconds");
  expect(await readTime()).toBe(Math.floor(statSync(tyche.dataDir).birthtimeMs / 1_000));
  noteBackup(tyche.dataDir, new Date(86_400_000));
  expect(await readTime()).toBe(86_400);
});

test("names, units, help and labels are as Prometheus wants them", async () => {
  const metrics = await readMetrics();
  const types = [...metrics.matchAll(/^# TYPE (tyche_\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]);
  expect(types.length).toBeGreaterThan(25);
  for (const [name, type] of types as [string, string][]) {
    expect(name).toMatch(/^tyche(_[a-z]+)+$/);
    expect(metrics).toMatch(new RegExp(`^# HELP ${name} [A-Z].{10,}\\.$`, "m"));
    // Only counters' names end with _total; times are in seconds; no metric uses a smaller unit.
    expect(name.endsWith("_total")).toBe(type === "counter");
    expect(name).not.toMatch(/_(?:ms|milliseconds|wei|juels|percent)(?:_|$)/);
    expect(/_(?:duration|latency|age|lag|timestamp)_/.test(name)).toBe(name.endsWith("_seconds"));
  }
  for (const [, labels] of metrics.matchAll(/^tyche_[a-z_]+\{(.*)\} /gm))
    expect(labels).toMatch(/^(?:[a-z]+="(?:[^"\\]|\\.)*",?)+$/);
  expect(metrics).toContain("process_cpu_seconds_total");
  expect(metrics).toContain("nodejs_eventloop_lag_seconds");
});

test("readiness tells node, head, balances and oracle of each network", async () => {
  await settle();
  const response = await fetch(`${tyche.url}/readyz`);
  const { ready, networks } = (await response.json()) as Ready;
  expect(response.status).toBe(200);
  expect(ready).toBe(true);
  expect(Object.keys(networks)).toEqual([...NETWORK_NAMES]);
  for (const network of Object.values(networks)) {
    expect(network).toMatchObject({
      ready: true,
      rpcReachable: true,
      blockNumber: expect.any(Number),
      headAgeMs: expect.any(Number),
      operatorBalanceWei: expect.stringMatching(/^\d+$/),
      subscriptions: { count: 1, lowestVrfJuels: expect.any(String), reserveJuels: expect.any(String) },
      oracleLagMs: 0,
      oracle: { caughtUp: true, pendingWords: 0, pendingFunctions: 0 },
    });
    // Services of other tests may hold the default RPC ports.
    const { warnings } = network as { warnings: string[] };
    expect(warnings.filter((warning) => !/^port \d+ is taken/.test(warning))).toEqual([]);
  }
});

test("one id leads from the call through every state to the oracle's lines", async () => {
  const { headers } = await sendCoinflip();
  const id = headers.get("tyche-request-id");
  const ownLines = () => logLines().filter(({ request }) => request === id);
  await expect
    .poll(ownLines)
    .toContainEqual(expect.objectContaining({ msg: "request", requestId: expect.any(String), status: 200 }));
  const own = ownLines();
  expect(own.filter(({ msg }) => msg === "request state").map(({ state }) => state)).toEqual([
    "received",
    "submitted",
    "randomness",
  ]);
  const ended = own.find(({ msg }) => msg === "request ended")!;
  expect(ended).toMatchObject({ state: "fulfilled", ms: expect.any(Number) });
  expect(ended["presetRequestId"]).toMatch(/^0x[0-9a-f]{64}$/);
  expect(logLines()).toContainEqual(expect.objectContaining({ requestId: ended["vrfRequestId"] }));
});

test("no line of the log holds a key or what is derived from one", async () => {
  const { apiKey, call } = { apiKey: tyche.apiKey, call: tyche.call.bind(tyche) };
  // Keys where they don't belong: in the wrong place, of the wrong kind, in echoed input.
  await call("POST", `/api/vrfv2/presets?network=${apiKey}`, { body: { preset: apiKey } });
  await call("GET", `/api/requests/${apiKey}?cursor=${apiKey}`);
  await call("GET", `/${apiKey}`).catch(() => {});
  await call("POST", "/api/vrfv2/presets", { body: {}, headers: { "X-Request-Id": apiKey } });
  await call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "fuji", source: `throw Error("${apiKey}")` },
  });
  await call("POST", "/api/vrfv2/presets", { body: {}, headers: { authorization: `${apiKey}x` } });
  const masterKey = readFileSync(path.join(dataDir, "master-key"), "utf8").trim();
  const master = fromHexText(`0x${masterKey}`);
  const roles = ["deployer", "operator", "vrf sender", "vrf"];
  for (let i = 0; i < 4; i += 1) roles.push(`signer ${i}`, `transmitter ${i}`);
  const derived = NETWORK_NAMES.flatMap((name) => roles.map((role) => deriveKey(master, `${role}/${name}`)));
  derived.push(deriveKey(master, "api keys"));
  const operatorToken = readFileSync(path.join(dataDir, "operator-token"), "utf8").trim();
  const secrets = [
    apiKey,
    operatorToken,
    ...[master, ...derived].flatMap((key) => [
      toHexText(key).slice(2),
      Buffer.from(key).toString("base64"),
      Buffer.from(key).toString("base64url"),
      String(BigInt(toHexText(key))),
    ]),
  ];
  const lines = tyche
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) for (const secret of secrets) expect(line).not.toContain(secret);
});
