/**
 * Does one dapp's crowd get in another's way?
 *
 * Question: how a service with its four chains handles 200 dapps that call at once, each with its own keys and subscriptions, as soon as they
 * exist; 200 presets, each called; and 5,001 calls of one dapp on a chain that mines nothing for a while, beside another dapp's calls on the same
 * chain and elsewhere. Each accepted request must be fulfilled, and the checker of `test/faults`, which reads the chain with ethers, compares the
 * API's answers with it. Left out: other loads at the same time.
 *
 * Run: `node bench/crowds.ts [--dapps 200] [--presets 200] [--calls 5001]`
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openDappTools } from "../src/app/tools/dappTools.ts";
import { checkChain, type CheckedNetwork, type CheckedRequest } from "../test/faults/chainChecker.ts";
import { makeDataDir, removeDataDir, startTycheProcess, type Answer } from "../test/support/tyche.ts";
import { describeMachine, readMachine } from "./support/machine.ts";

const { values } = parseArgs({
  options: {
    dapps: { type: "string", default: "200" },
    presets: { type: "string", default: "200" },
    calls: { type: "string", default: "5001" },
  },
});
const [STRUCK, OTHER] = ["sepolia", "fuji"] as const;
const PLUGINS = path.resolve(import.meta.dirname, "../plugins");
const END_TIMEOUT_MS = 240_000;
/** Calls in flight, over all dapps. */
const AT_ONCE = 32;
const CALLS_OF_ANOTHER = 20;

interface Caller {
  readonly apiKey: string;
  readonly ids: string[];
}

const folder = makeDataDir();
const dataDir = path.join(folder, "data");
const config = path.join(folder, "tyche.json");
const pluginsDir = path.join(folder, "plugins");
const presets = Array.from({ length: Number(values.presets) }, (_, i) => `range${i}`);
for (const name of presets) {
  mkdirSync(path.join(pluginsDir, name), { recursive: true });
  cpSync(path.join(PLUGINS, "range/source.js"), path.join(pluginsDir, name, "source.js"));
  const preset = JSON.parse(readFileSync(path.join(PLUGINS, "range/preset.json"), "utf8"));
  writeFileSync(path.join(pluginsDir, name, "preset.json"), JSON.stringify({ ...preset, name }));
}
writeFileSync(config, JSON.stringify({ pluginsDir, http: { rateLimit: 1_000_000, maxConcurrent: 10_000 } }));

const say = (line: string): void => console.log(line);
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const body = { min: "1", max: "1000000" };

say(describeMachine(readMachine()));
const began = performance.now();
const tyche = await startTycheProcess({ dataDir, env: { TYCHE_CONFIG: config }, timeoutMs: 120_000 });
say(`${presets.length} presets: ready after ${seconds(began)}`);

/** Presets are loaded one after the other while the service is already serving. */
const presetsBegan = performance.now();
for (;;) {
  const { data } = await tyche.call("GET", "/api/presets");
  if (data.items.length === presets.length) break;
  if (performance.now() - presetsBegan > END_TIMEOUT_MS)
    throw new Error(`${data.items.length} presets are served`);
  await sleep(100);
}
say(`all of them served ${seconds(presetsBegan)} after that`);

/** Works through a list, {@link AT_ONCE} items at a time. */
async function inTurn<T>(list: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = list.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const one of left) await work(one);
    }),
  );
}

async function submit(caller: Caller, network: string, preset: string): Promise<Answer> {
  const answer = await tyche.call("POST", `/api/vrfv2/presets?network=${network}&preset=${preset}`, {
    headers: { authorization: caller.apiKey, prefer: "respond-async, wait=0" },
    body,
  });
  const id = answer.headers.get("tyche-request-id");
  if (answer.status === 202 && id !== null) caller.ids.push(id);
  return answer;
}

/** Waits until requests have ended and returns their records. */
async function ended(caller: Caller, ids: readonly string[]): Promise<CheckedRequest[]> {
  const records: CheckedRequest[] = [];
  const deadline = Date.now() + END_TIMEOUT_MS;
  await inTurn(ids, async (id) => {
    for (;;) {
      const { data } = await tyche.call("GET", `/api/requests/${id}`, {
        headers: { authorization: caller.apiKey },
      });
      if (["fulfilled", "failed"].includes(data.state)) return void records.push(data);
      if (Date.now() > deadline) throw new Error(`${id} is ${data.state}: ${data.why}`);
      await sleep(100);
    }
  });
  const failed = records.filter(({ state }) => state !== "fulfilled");
  if (failed.length > 0) throw new Error(`${failed.length} failed: ${JSON.stringify(failed[0])}`);
  return records;
}

const rpc = async (network: CheckedNetwork, method: string, params: readonly unknown[]): Promise<void> => {
  const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  await fetch(network.rpcUrl, { method: "POST", headers, body: request });
};

try {
  const all: CheckedRequest[] = [];
  const own: Caller = { apiKey: tyche.apiKey, ids: [] };

  let since = performance.now();
  await inTurn(presets, async (preset) => {
    const { status, data } = await submit(own, STRUCK, preset);
    if (status !== 202) throw new Error(`${preset} was answered ${status}: ${data.err}`);
  });
  all.push(...(await ended(own, own.ids)));
  say(`each of ${presets.length} presets called: ${all.length} fulfilled within ${seconds(since)}`);

  const tools = await openDappTools(dataDir);
  const dapps: Caller[] = [];
  for (let i = 0; i < Number(values.dapps); i += 1) {
    const { key } = await tools.dapps.create(`crowd ${i}`, ["presets", "functions"]);
    dapps.push({ apiKey: key.apiKey, ids: [] });
  }
  await tools.close();
  since = performance.now();
  await inTurn(dapps, async (dapp) => {
    // A running service takes up to a second to recognise a new key.
    for (let answer = await submit(dapp, STRUCK, presets[0]!); answer.status !== 202;) {
      if (answer.status !== 401)
        throw new Error(`a new dapp was answered ${answer.status}: ${answer.data.err}`);
      await sleep(100);
      answer = await submit(dapp, STRUCK, presets[0]!);
    }
    await submit(dapp, OTHER, presets[1]!);
    all.push(...(await ended(dapp, dapp.ids)));
  });
  say(`${dapps.length} new dapps, a call each on two networks: all fulfilled within ${seconds(since)}`);

  const { data } = await tyche.call("GET", "/api/networks");
  const networks = data.items as CheckedNetwork[];
  const struck = networks.find(({ name }) => name === STRUCK)!;
  await rpc(struck, "evm_setAutomine", [false]);
  const before = own.ids.length;
  const refusals = new Map<string, number>();
  since = performance.now();
  await inTurn(Array.from({ length: Number(values.calls) }), async () => {
    const { status, data: refused } = await submit(own, STRUCK, presets[0]!);
    if (status !== 202)
      refusals.set(`${status} ${refused.code}`, (refusals.get(`${status} ${refused.code}`) ?? 0) + 1);
  });
  const open = own.ids.slice(before);
  say(
    `${values.calls} calls of one dapp while nothing is mined: ${open.length} accepted, ${JSON.stringify(Object.fromEntries(refusals))}, in ${seconds(since)}`,
  );
  const another = dapps[0]!;
  const [mine, elsewhere]: [string[], number[]] = [[], []];
  for (let i = 0; i < CALLS_OF_ANOTHER; i += 1) {
    const { status, data: refused } = await submit(another, STRUCK, presets[0]!);
    if (status !== 202) throw new Error(`another dapp was answered ${status}: ${refused.err}`);
    mine.push(another.ids.at(-1)!);
    const called = performance.now();
    const answer = await tyche.call("POST", `/api/vrfv2/presets?network=${OTHER}&preset=${presets[0]!}`, {
      headers: { authorization: another.apiKey },
      body,
    });
    if (answer.status !== 200)
      throw new Error(`elsewhere it was answered ${answer.status}: ${answer.data.err}`);
    another.ids.push(answer.headers.get("tyche-request-id")!);
    elsewhere.push(performance.now() - called);
  }
  all.push(
    ...(await ended(
      another,
      another.ids.slice(2).filter((id) => !mine.includes(id)),
    )),
  );
  await rpc(struck, "evm_setAutomine", [true]);
  since = performance.now();
  all.push(...(await ended(another, mine)));
  const first = seconds(since);
  all.push(...(await ended(own, open)));
  const median = elsewhere.toSorted((a, b) => a - b)[CALLS_OF_ANOTHER / 2]!;
  say(
    `another dapp beside it: ${CALLS_OF_ANOTHER} calls accepted there, ${CALLS_OF_ANOTHER} answered elsewhere (median ${median.toFixed(0)} ms); once mined, its own within ${first}, all ${open.length} within ${seconds(since)}`,
  );

  let breaches = 0;
  for (const network of networks.filter(({ name }) => name === STRUCK || name === OTHER))
    for (const breach of await checkChain(network, all)) {
      breaches += 1;
      say(`BREACH ${breach}`);
    }
  say(`${all.length} requests, all fulfilled; ${breaches} of them or their chains differ from what was told`);
  process.exitCode = breaches === 0 ? 0 : 1;
} finally {
  await tyche.stop();
  removeDataDir(folder);
}
