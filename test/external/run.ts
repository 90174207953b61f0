/**
 * `npm run soak:nodes -- [nodes] [functions]`: an oracle of several operators (default 7), each a process of its own, runs functions
 * (default 40) four at a time: with all nodes, and again after f of them were killed. Every function must get its own result.
 */
import { existsSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { faultyNodesOf } from "../../src/chainlink/quorum.ts";
import { startTycheProcess, type OracleChild, type TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil } from "./support/chain.ts";
import { prepareOperators, startNode } from "./support/nodes.ts";
import { NETWORK } from "./support/world.ts";

const AT_ONCE = 4;
const START_TIMEOUT_MS = 600_000;
const [count = 7, functions = 40] = process.argv.slice(2).map(Number);

const chain = await startIntervalAnvil({ blockSeconds: 1 });
const operators = await prepareOperators(chain, count, { direct: true });
const nodes: OracleChild[] = [];
let vrf: OracleChild | undefined;
let tyche: TycheProcess | undefined;
try {
  await timed("keys, cards and deployment", () => operators.deploy());
  // One by one: simultaneous starts are slower on a few cores.
  await timed(`start of ${count} nodes`, async () => {
    for (const node of operators.nodes) nodes.push(await startNode(node));
  });
  vrf = await startNode(operators.vrf);
  const { TYCHE_DATA_DIR, ...env } = operators.service;
  tyche = await startTycheProcess({ dataDir: TYCHE_DATA_DIR!, env, timeoutMs: START_TIMEOUT_MS });
  await runAll("all nodes");
  reportMemory();
  const faulty = faultyNodesOf(count);
  await Promise.all(nodes.slice(0, faulty).map((node) => node.stop("SIGKILL")));
  await runAll(`${faulty} of ${count} killed`);
} finally {
  await Promise.all([tyche, vrf, ...nodes].map(async (one) => await one?.stop("SIGKILL")));
  await chain.close();
  await operators.remove();
}

async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  const result = await work();
  say(`${what}: ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  return result;
}

/** Runs all functions, a few at a time, and prints how long each took; throws if one gets another's result. */
async function runAll(what: string): Promise<void> {
  const times: number[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < functions) {
      const word = `${what} ${(next += 1)}`;
      const begun = performance.now();
      const { data } = await tyche!.call("POST", "/api/oracleFunctions/runFunction", {
        body: { network: NETWORK, source: "return Functions.encodeString(args[0])", args: [word] },
      });
      if (data.parsedResult !== word) throw new Error(`${word}: ${JSON.stringify(data)}`);
      times.push(performance.now() - begun);
    }
  };
  await timed(`${what}: ${functions} functions`, () => Promise.all(Array.from({ length: AT_ONCE }, lane)));
  times.sort((a, b) => a - b);
  const at = (share: number): string =>
    `${(times[Math.floor(share * (times.length - 1))]! / 1_000).toFixed(1)} s`;
  say(`${what}: median ${at(0.5)}, 95 of 100 within ${at(0.95)}, longest ${at(1)}`);
}

/** Prints the memory of the nodes' processes, and of their sandbox processes separately. */
function reportMemory(): void {
  const own = nodes.map(({ pid }) => residentMb(pid)).toSorted((a, b) => a - b);
  const sandboxes = nodes.map(({ pid }) =>
    childrenOf(pid).reduce((sum, child) => sum + residentMb(child), 0),
  );
  const all = [...own, ...sandboxes].reduce((sum, one) => sum + one, 0);
  say(
    `memory: a node ${own[0]} to ${own.at(-1)} MB, its sandbox ${Math.min(...sandboxes)} to ${Math.max(...sandboxes)} MB; all ${count} nodes ${all} MB`,
  );
}

function residentMb(pid: number): number {
  const file = `/proc/${pid}/status`;
  const kilobytes = existsSync(file) ? /VmRSS:\s+(\d+)/.exec(readFileSync(file, "utf8"))?.[1] : undefined;
  return Math.round(Number(kilobytes ?? 0) / 1_024);
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter(Boolean)
    .map(Number);
  return [...children, ...children.flatMap((child) => childrenOf(child))];
}

function say(line: string): void {
  console.log(`${new Date().toISOString()} load ${loadavg()[0]!.toFixed(1)} | ${line}`);
}
