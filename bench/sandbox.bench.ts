/**
 * How much faster is the sandbox than what it emulates?
 *
 * Question: one dice source (20 faces, 10 dice, one 32-byte word) through this sandbox and through functions-toolkit's
 * `simulateScript` with real Deno, in one run on one machine: latency one at a time, runs per second two at a time, and
 * where the sandbox's time goes. Both return the same bytes, checked once. Left out: the source's own computation and
 * waiting, and imports, which cost both the same or depend on the network.
 *
 * Run: `node bench/sandbox.bench.ts`
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import ivm from "isolated-vm";
import { Bench } from "tinybench";
import { createSandboxPool, type RunRequest, type RunResult, type SandboxPool } from "../sandbox/index.ts";

const WORD = `0x${"a5".repeat(32)}` as const;
const DICE: RunRequest = {
  source: `const [faces, count] = [BigInt(args[0]), Number(args[1])];
let word = BigInt(bytesArgs[0]);
const rolls = [];
for (let i = 0; i < count; i++) {
  rolls.push(word % faces + 1n);
  word /= faces;
}
return Functions.encodeString('[' + rolls.join(',') + ']');`,
  args: ["20", "10"],
  bytesArgs: [WORD],
};
const COLD_STARTS = 10;
const LANES = 2;
const RUNS_PER_LANE = 4;
const TURNS = 5;

type Simulate = (input: object) => Promise<{ responseBytesHexstring?: string; errorString?: string }>;

const { simulateScript } = createRequire(import.meta.url)(
  "@chainlink/functions-toolkit/dist/simulateScript/simulateScript.js",
) as { simulateScript: Simulate };

const home = mkdtempSync(join(tmpdir(), "tyche-bench-"));
process.env["PATH"] =
  `${fileURLToPath(new URL("../node_modules/.bin", import.meta.url))}${delimiter}${process.env["PATH"] ?? ""}`;
Object.assign(process.env, {
  TMPDIR: home,
  DENO_DIR: join(home, "deno"),
  DENO_NO_UPDATE_CHECK: "1",
  NO_COLOR: "1",
});

const coldStartMs = await measureColdStarts();
const pool = createSandboxPool();
await pool.ready();

async function ours(more: Partial<RunRequest> = {}): Promise<RunResult> {
  const result = await pool.run({ ...DICE, ...more });
  if (!result.ok) throw new Error(result.error.message);
  return result;
}
const theirs = () => simulateScript({ source: DICE.source, args: DICE.args, bytesArgs: DICE.bytesArgs });

const expected = (await theirs()).responseBytesHexstring;
for (const result of [await ours(), await ours({ group: "bench" }), await ours({ sharesContext: true })]) {
  const hex = result.ok ? `0x${Buffer.from(result.bytes).toString("hex")}` : "";
  if (hex !== expected) throw new Error(`results differ: ${hex}, expected ${expected}`);
}

console.log(
  `node ${process.version}, ${availableParallelism()} cores, ${process.platform} ${process.arch}\n`,
);

const SANDBOX = "sandbox, an isolate per run";
const GROUP = "sandbox, a context per run in its group's isolate";
const SHARED = "sandbox, a pure source in its own shared context";
const TOOLKIT = "functions-toolkit simulateScript with Deno";

const single = new Bench({
  name: "one at a time",
  time: 3_000,
  iterations: 30,
  warmupIterations: 5,
  warmupTime: 300,
});
single.add(SANDBOX, () => ours());
single.add(GROUP, () => ours({ group: "bench" }));
single.add(SHARED, () => ours({ sharesContext: true }));
single.add(TOOLKIT, theirs);
await single.run();

/** One iteration is `LANES` concurrent lanes of `RUNS_PER_LANE` runs each, one after the other. */
const lanes = (run: () => Promise<unknown>) => async () => {
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (let count = 0; count < RUNS_PER_LANE; count++) await run();
    }),
  );
};
/** Runs per second two at a time, in turns, so that other load on the machine affects all sides alike. */
const rates: ReadonlyMap<string, number>[] = [];
for (let turn = 0; turn < TURNS; turn++) {
  const double = new Bench({
    name: "two at a time",
    time: 1_000,
    iterations: 4,
    warmupIterations: 1,
    warmupTime: 100,
  });
  double.add(
    SANDBOX,
    lanes(() => ours()),
  );
  double.add(
    GROUP,
    lanes(() => ours({ group: "bench" })),
  );
  double.add(
    SHARED,
    lanes(() => ours({ sharesContext: true })),
  );
  double.add(TOOLKIT, lanes(theirs));
  await double.run();
  rates.push(
    new Map(
      double.tasks.map(({ name }) => [name, (LANES * RUNS_PER_LANE * 1_000) / latency(double, name).mean]),
    ),
  );
}

const reference = latency(single, TOOLKIT).p50;
console.table(
  [SANDBOX, GROUP, SHARED, TOOLKIT].map((name) => ({
    "": name,
    "p50 ms": latency(single, name).p50.toFixed(3),
    "p99 ms": latency(single, name).p99.toFixed(3),
    "times lower": (reference / latency(single, name).p50).toFixed(1),
    "runs/s at 2": rate(name).toFixed(0),
    "times more": median(rates.map((turn) => turn.get(name)! / turn.get(TOOLKIT)!)).toFixed(1),
  })),
);
console.log(`cold start of the pool, median of ${COLD_STARTS}: ${coldStartMs.toFixed(0)} ms\n`);

console.log("Where the time of one run goes, ms:");
console.table([
  { "": "an isolate per run", ...(await measureParts(pool, {})) },
  { "": "a group's isolate", ...(await measureParts(pool, { group: "bench" })) },
  { "": "a group's isolate, 64 waiting", ...(await measureParts(pool, { group: "bench" }, 64)) },
  { "": "a shared context", ...(await measureParts(pool, { sharesContext: true })) },
  { "": "a shared context, 64 waiting", ...(await measureParts(pool, { sharesContext: true }, 64)) },
]);
console.log(`source: compile and run in the child, as it reports. on the way: the rest of the answer's time, in pipes, event loops and
the queue. CPU: of all processes for one run; in the child it holds, besides the source, making the next isolate or
context and collecting the old one.`);

const floor = measureFloor();
const [isolateMs, contextMs, disposeMs] = floor.map((ms) => ms.toFixed(2));
const most = (LANES * 1_000) / floor.reduce((sum, ms) => sum + ms, 0);
console.log(`\nV8 and isolated-vm alone, ms of processor time: a new isolate ${isolateMs}, an empty context ${contextMs}, dropping both ${disposeMs}. So no code
at all would come to ${most.toFixed(0)} runs/s on ${LANES} cores, ${(most / rate(TOOLKIT)).toFixed(1)} times Deno's.`);

await pool.close();
rmSync(home, { recursive: true, force: true });

function latency(
  bench: Bench,
  name: string,
): { readonly p50: number; readonly p99: number; readonly mean: number } {
  const result = bench.getTask(name)?.result;
  if (result === undefined || !("latency" in result)) throw new Error(`${name} did not finish`);
  return result.latency;
}

/** Median of the turns. */
function rate(name: string): number {
  return median(rates.map((turn) => turn.get(name)!));
}

async function measureColdStarts(): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < COLD_STARTS; count++) {
    const startMs = performance.now();
    const fresh = createSandboxPool();
    await fresh.run(DICE);
    times.push(performance.now() - startMs);
    await fresh.close();
  }
  return median(times);
}

/** Breaks down the time to an answer and measures processor time, over a few hundred runs. */
async function measureParts(
  of: SandboxPool,
  more: Partial<RunRequest>,
  waiting = 1,
): Promise<Record<string, string>> {
  const RUNS = 640;
  for (let count = 0; count < 50; count++) await of.run({ ...DICE, ...more });
  const totals: number[] = [];
  const sources: number[] = [];
  const parentStart = process.cpuUsage();
  const childrenStart = childrenCpuMs();
  for (let done = 0; done < RUNS; done += waiting) {
    await Promise.all(
      Array.from({ length: waiting }, async () => {
        const startMs = performance.now();
        const { timeMs } = await of.run({ ...DICE, ...more });
        totals.push(performance.now() - startMs);
        sources.push(timeMs);
      }),
    );
  }
  const parent = process.cpuUsage(parentStart);
  return {
    answer: median(totals).toFixed(3),
    source: median(sources).toFixed(3),
    "on the way": (median(totals) - median(sources)).toFixed(3),
    "CPU parent": ((parent.user + parent.system) / 1_000 / RUNS).toFixed(3),
    "CPU child": ((childrenCpuMs() - childrenStart) / RUNS).toFixed(3),
  };
}

/** Measures the processor time in ms that a run in an isolate of its own can't avoid: creating the isolate and an empty context, disposing both. */
function measureFloor(): readonly number[] {
  const TIMES = 300;
  const sums = [0, 0, 0];
  const timed = <T>(step: number, work: () => T): T => {
    const start = process.cpuUsage();
    const value = work();
    const { user, system } = process.cpuUsage(start);
    sums[step]! += (user + system) / 1_000 / TIMES;
    return value;
  };
  for (let count = 0; count < TIMES; count++) {
    const isolate = timed(0, () => new ivm.Isolate({ memoryLimit: 128 }));
    timed(1, () => isolate.createContextSync());
    timed(2, () => isolate.dispose());
  }
  return sums;
}

/** Returns the processor time of our child processes so far, ended ones included, in ms, to 10 ms; 0 where the system doesn't report it. */
function childrenCpuMs(): number {
  const TICK_MS = 10;
  if (process.platform !== "linux") return 0;
  const pids = readdirSync("/proc/self/task").flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8").trim().split(" "),
  );
  const ticks = (pid: string, first: number): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return Number(fields[first]) + Number(fields[first + 1]);
  };
  const living = pids.reduce((sum, pid) => (pid === "" ? sum : sum + ticks(pid, 11)), 0);
  return (living + ticks("self", 13)) * TICK_MS;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
