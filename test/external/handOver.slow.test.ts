import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTycheProcess, type OracleChild, type TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { prepareOperators, startNode, type SeveralOperators } from "./support/nodes.ts";
import { PRIVATE_SOURCE, startPrivateApi } from "./support/privateApi.ts";
import { NETWORK } from "./support/world.ts";

const PATIENCE_MS = 240_000;
const WAIT = { timeout: PATIENCE_MS, interval: 100 };
/** Leaves, and is dead by then. */
const LEAVER = 3;
const NEWCOMER = 4;
const TOKEN = "tok_77c1-very/private+value";

let api: Awaited<ReturnType<typeof startPrivateApi>>;
let chain: StrangersChain;
let operators: SeveralOperators;
let tyche: TycheProcess;
const nodes: OracleChild[] = [];

beforeAll(async () => {
  chain = await startIntervalAnvil();
  api = await startPrivateApi(TOKEN);
  operators = await prepareOperators(chain, 5);
  await operators.deploy(NEWCOMER);
  for (const env of operators.nodes) nodes.push(await startNode(allow(env)));
  await vi.waitUntil(
    async () => (await Promise.all([0, 1, 2, LEAVER].map(warningsOf))).join() === ",,,",
    WAIT,
  );
  await operators.run(["network", "secrets", NETWORK, "--yes"]);
  tyche = await startService();
}, 600_000);
afterAll(async () => {
  await Promise.all([tyche, ...nodes].map((one) => one?.stop("SIGKILL")));
  await chain?.close();
  api?.close();
  await operators?.remove();
});

const allow = (env: Readonly<Record<string, string>>) => ({ ...env, TYCHE_ALLOW_HOSTS: api.host });

function startService(): Promise<TycheProcess> {
  const { TYCHE_DATA_DIR, ...env } = operators.service;
  return startTycheProcess({ dataDir: TYCHE_DATA_DIR!, env: allow(env), timeoutMs: PATIENCE_MS });
}

/** Returns what a node warns of about the key for secrets, and about what it has yet to take over. */
async function warningsOf(index: number): Promise<string> {
  // A connection that is kept ends in a reset when the node is killed.
  const readiness = await fetch(`${nodes[index]!.url}/readyz`, { headers: { connection: "close" } });
  const { networks } = (await readiness.json()) as { networks: Record<string, { warnings?: string[] }> };
  return (
    networks[NETWORK]!.warnings?.filter((text) => /key for secrets|hold of secrets/.test(text)).join() ??
    "starting"
  );
}

async function restart(index: number, env: Readonly<Record<string, string>>): Promise<void> {
  await nodes[index]!.stop("SIGKILL");
  nodes[index] = await startNode(allow(env));
}

const askPrivateApi = () =>
  tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: NETWORK, source: PRIVATE_SOURCE, args: [api.url], secrets: ["API_KEY"] },
  });

test(
  "a node is replaced, though it is dead and the new one is killed meanwhile, and a stored secret is read as before",
  async () => {
    const stored = { network: NETWORK, value: TOKEN };
    expect(await tyche.call("PUT", "/api/secrets/API_KEY", { body: stored })).toMatchObject({ status: 200 });
    await nodes[LEAVER]!.stop("SIGKILL");
    const members = [NEWCOMER, 0, 1, 2];
    const output = await operators.reconfigure(members);
    await operators.run(["network", "fund", NETWORK, "--coin", "10"]);
    const digest = /"handKeyOnTo": "(0x[0-9a-f]{64})"/.exec(output)![1]!;
    for (const index of [0, 1]) await restart(index, operators.letHandOn(index, digest));
    const url = operators.proxy.urls[2]!;
    await vi.waitUntil(async () => {
      const warnings = (await warningsOf(NEWCOMER)).split("; ");
      return warnings.some((one) => one.startsWith(url) && one.includes("has not agreed"));
    }, WAIT);
    expect(await warningsOf(2)).toContain(`set handKeyOnTo of the network to ${digest}`);
    await restart(NEWCOMER, operators.nodes[NEWCOMER]!);
    await restart(2, operators.letHandOn(2, digest));
    await vi.waitUntil(async () => (await Promise.all(members.map(warningsOf))).join() === ",,,", WAIT);
    const published = await operators.run(["network", "secrets", NETWORK, "--yes"]);
    expect(published.output).toContain("the key is published");
    await tyche.stop();
    tyche = await startService();
    const { data } = await tyche.call("GET", `/api/secrets?network=${NETWORK}`);
    expect(data.items).toMatchObject([{ name: "API_KEY", outdated: false }]);
    // Without this one, the new node's share is needed, of what it took over: two are too few to get it from now.
    await nodes[2]!.stop("SIGKILL");
    expect(await askPrivateApi()).toMatchObject({ data: { parsedResult: "let in" } });
    await expect(operators.reconfigure([0, 1, 2, NEWCOMER])).resolves.toContain("take over the key");
    await Promise.all([0, 1].map((index) => nodes[index]!.stop("SIGKILL")));
    await expect(operators.reconfigure([1, 0, 2, NEWCOMER])).rejects.toThrow("run this again with --new-key");
    const renewed = operators.reconfigure([1, 0, 2, NEWCOMER], ["--new-key"]);
    await expect(renewed).resolves.toContain("generate another key");
    for (const one of [tyche, ...nodes]) expect(one.output()).not.toContain(TOKEN);
  },
  2 * PATIENCE_MS,
);
