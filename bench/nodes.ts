/**
 * What does it cost that the oracle's nodes don't trust each other?
 *
 * Question: functions through an oracle in one process with four keys, and through four nodes in processes of their own, each with a key, journal
 * and sandbox, that agree by messages: how many per second with many in flight, and how long does a single one take? How long does a single
 * preset take, whose proof comes from one more process, and a function that reads a secret, for which each of the four opens it with two others'
 * shares at first and keeps it then? Everything is real and on this machine; each side has an Anvil with one block per
 * second, its own contracts and its own service, and they take turns. An answer to another call counts as failed. Left out: distance between
 * the nodes, which adds a round trip to each of the protocol's four phases.
 *
 * Run: `npm run bench:nodes`, with `-- --json FILE` for JSON too, `-- --in-flight N` (100), `-- --seconds N` (10) for a turn, `-- --turns N` (4),
 * `-- --block-seconds N` (1).
 */
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { startIntervalAnvil } from "../test/external/support/chain.ts";
import { prepareOperators, startNode } from "../test/external/support/nodes.ts";
import { deployByCommands, NETWORK, prepareParties } from "../test/external/support/world.ts";
import { findFreePorts } from "../test/support/freePorts.ts";
import { startOracleProcess, startTycheProcess, type OracleChild } from "../test/support/tyche.ts";
import { runLoad, type LoadCall, type LoadResult } from "./support/load.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { formatTable, parseReportTarget, writeReport } from "./support/report.ts";

const IN_FLIGHT = numberAfter("--in-flight", 100);
const TURN_MS = 1_000 * numberAfter("--seconds", 10);
const TURNS = numberAfter("--turns", 4);
const BLOCK_SECONDS = numberAfter("--block-seconds", 1);
const LONE_CALLS = 5;
const START_TIMEOUT_MS = 240_000;

/** One of the two oracles, with the service that uses it. */
interface Side {
  readonly name: string;
  load(inFlight: number, calls?: number): Promise<LoadResult>;
  /** Calls a function that reads a secret a number of times, one after the other. */
  secrets(calls: number): Promise<LoadResult>;
  /** Calls a preset a number of times, one after the other. */
  presets(calls: number): Promise<LoadResult>;
  /** Returns the processor time of the oracle's processes so far, in ms. */
  oracleCpuMs(): number;
}

interface Turn {
  readonly lone: LoadResult;
  readonly secret: LoadResult;
  readonly preset: LoadResult;
  readonly load: LoadResult;
  readonly oracleCpuMs: number;
}

const closers: (() => Promise<unknown> | void)[] = [];
try {
  const sides = [await openOneProcess(), await openFourNodes()];
  for (const side of sides) {
    await side.load(20, 100);
    await side.presets(1);
    await side.secrets(1);
  }
  process.stderr.write("measuring\n");
  const machine = readMachine();
  const turns: Turn[][] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const results: Turn[] = [];
    for (const side of sides) {
      const lone = await side.load(1, LONE_CALLS);
      const secret = await side.secrets(LONE_CALLS);
      const preset = await side.presets(LONE_CALLS);
      const before = side.oracleCpuMs();
      const load = await side.load(IN_FLIGHT);
      results.push({
        lone,
        secret,
        preset,
        load,
        oracleCpuMs: (side.oracleCpuMs() - before) / load.requests,
      });
    }
    turns.push(results);
  }
  report(sides, turns, machine);
} finally {
  for (const close of closers.toReversed()) await close();
}

async function openOneProcess(): Promise<Side> {
  const chain = await startIntervalAnvil({ blockSeconds: BLOCK_SECONDS });
  closers.push(() => chain.close());
  const [port] = await findFreePorts(1);
  const parties = prepareParties(chain, { network: { oracleUrl: `http://127.0.0.1:${port}` } });
  closers.push(() => parties.remove());
  await deployByCommands(parties);
  const oracle = await startOracleProcess({ ...parties.oracle, PORT: String(port) });
  closers.push(() => oracle.stop());
  return await openSide("one process", parties.service, [oracle.pid]);
}

async function openFourNodes(): Promise<Side> {
  const chain = await startIntervalAnvil({ blockSeconds: BLOCK_SECONDS });
  closers.push(() => chain.close());
  const operators = await prepareOperators(chain, 4, { direct: true });
  closers.push(() => operators.remove());
  await operators.deploy();
  const processes: OracleChild[] = [];
  for (const env of [...operators.nodes, operators.vrf]) {
    const node = await startNode(env);
    closers.push(() => node.stop());
    processes.push(node);
  }
  for (const { url } of processes.slice(0, -1)) {
    while ((await (await fetch(`${url}/readyz`)).text()).includes("the key for secrets"))
      await setTimeout(500);
  }
  const { code, output } = await operators.run(["network", "secrets", NETWORK, "--yes"]);
  if (code !== 0) throw new Error(output);
  return await openSide(
    "four nodes",
    operators.service,
    processes.map(({ pid }) => pid),
  );
}

async function openSide(
  name: string,
  { TYCHE_DATA_DIR: dataDir, ...env }: Readonly<Record<string, string>>,
  pids: readonly number[],
): Promise<Side> {
  const service = await startTycheProcess({ dataDir: dataDir!, env, timeoutMs: START_TIMEOUT_MS });
  closers.push(() => service.stop());
  const stored = await service.call("PUT", "/api/secrets/API_KEY", {
    body: { network: NETWORK, value: "the-value-of-a-secret" },
  });
  if (stored.status !== 200) throw new Error(JSON.stringify(stored.data));
  const run = (inFlight: number, calls: number | undefined, call: (index: number) => LoadCall) => {
    let begun = 0;
    return runLoad({
      url: service.url,
      headers: { authorization: service.apiKey },
      inFlight,
      durationMs: calls === undefined ? TURN_MS : 600_000,
      call: () => call((begun += 1)),
      isEnough: async () => calls !== undefined && begun >= calls,
    });
  };
  const callFunction = (args: readonly string[], more: object): LoadCall => ({
    path: "/api/oracleFunctions/runFunction",
    body: { network: NETWORK, source: "return Functions.encodeString(args[0])", args, ...more },
  });
  return {
    name,
    load: (inFlight, calls) => run(inFlight, calls, (index) => callFunction([String(index)], {})),
    secrets: (calls) => run(1, calls, (index) => callFunction([String(index)], { secrets: ["API_KEY"] })),
    presets: (calls) =>
      run(1, calls, () => ({
        path: `/api/vrfv2/presets?network=${NETWORK}&preset=range`,
        body: { min: "1", max: "6" },
      })),
    oracleCpuMs: () => pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0),
  };
}

function report(
  sides: readonly Side[],
  turns: readonly Turn[][],
  machine: ReturnType<typeof readMachine>,
): void {
  const of = (side: number, read: (turn: Turn) => number): number =>
    median(turns.map((turn) => read(turn[side]!)));
  const ratio = (read: (turn: Turn) => number): string =>
    median(turns.map(([one, four]) => read(four!) / read(one!))).toFixed(2);
  const rows: readonly (readonly [string, (turn: Turn) => number])[] = [
    [`functions/s, ${IN_FLIGHT} in flight`, ({ load }) => load.requestsPerSecond],
    [`p50 of those, ms`, ({ load }) => load.p50Ms],
    ["one alone, p50, ms", ({ lone }) => lone.p50Ms],
    ["one with a secret alone, p50, ms", ({ secret }) => secret.p50Ms],
    ["per one without", ({ secret, lone }) => secret.p50Ms / lone.p50Ms],
    ["one preset alone, p50, ms", ({ preset }) => preset.p50Ms],
    ["processor time of the oracle, ms a function", ({ oracleCpuMs }) => oracleCpuMs],
    ["failed", (turn) => loadsOf(turn).reduce((sum, { failed }) => sum + failed, 0)],
  ];
  const table = formatTable(
    ["", ...sides.map(({ name }) => name), "ratio"],
    rows.map(([name, read]) => [
      name,
      of(0, read).toFixed(2),
      of(1, read).toFixed(2),
      name === "failed" ? "" : ratio(read),
    ]),
  );
  const failures = turns.flat().flatMap((turn) => loadsOf(turn).map(({ firstFailure }) => firstFailure));
  const text = [
    describeMachine(machine),
    table,
    ...new Set(failures.filter((one) => one !== undefined)),
  ].join("\n");
  writeReport(parseReportTarget(process.argv.slice(2)), { text, data: { machine, turns } });
  if (failures.some((one) => one !== undefined)) process.exitCode = 1;
}

function loadsOf({ lone, secret, preset, load }: Turn): readonly LoadResult[] {
  return [lone, secret, preset, load];
}

/** Returns the processor time of a process and of its children (the sandbox), in ms. */
function cpuMsOf(pid: number): number {
  const TICK_MS = 10;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return children.reduce((sum, child) => (child === "" ? sum : sum + cpuMsOf(Number(child))), own);
}

/** Returns the median; for an even number of values, the mean of the middle two. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2;
}

function numberAfter(option: string, otherwise: number): number {
  const at = process.argv.indexOf(option);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}
