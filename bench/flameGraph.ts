/**
 * Where does the service spend its own time?
 *
 * Question: which code of the service's process (HTTP, journal, dispatch, oracle) runs on the processor while presets go through one embedded chain,
 * with 200 or `--in-flight` of them in flight. V8's sampling profiler runs in the service; its samples from the start of the load to its end are
 * drawn as a flame graph, and totalled by function (ours) or package (others'). Left out: the service's worker threads, and Anvil and the sandbox's
 * processes, whose time `npm run bench:anvil` reports.
 *
 * Run: `npm run bench:flame`, which writes `docs/flame.svg`; `-- --in-flight 1 FILE` writes another one.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startTycheProcess } from "../test/support/tyche.ts";
import { buildFrames, drawFlameGraph, sumSelf, type CpuProfile } from "./support/flame.ts";
import { runLoad } from "./support/load.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { formatTable } from "./support/report.ts";

const WARM_UP_MS = 10_000;
const DURATION_MS = 15_000;
const LARGEST = 25;
const call = () => ({
  path: "/api/vrfv2/presets?network=sepolia&preset=nDice",
  body: { numFaces: "20", numDice: "10" },
});

const { values, positionals } = parseArgs({
  options: { "in-flight": { type: "string", default: "200" } },
  allowPositionals: true,
});
const inFlight = Number(values["in-flight"]);
const target = positionals[0] ?? join(import.meta.dirname, "../docs/flame.svg");
const folder = mkdtempSync(join(tmpdir(), "tyche-flame-"));
try {
  const tyche = await startTycheProcess({
    env: { NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=500 --cpu-prof-dir=${folder}` },
  });
  const load = { url: tyche.url, headers: { authorization: tyche.apiKey }, call, inFlight };
  await runLoad({ ...load, durationMs: WARM_UP_MS });
  const from = now();
  const { requests, failed } = await runLoad({ ...load, durationMs: DURATION_MS });
  const to = now();
  await tyche.stop();
  if (failed > 0) throw new Error(`${failed} of ${requests} presets failed`);
  const root = buildFrames(readProfile(tyche.pid), from, to);
  const each = (us: number): string => (us / 1_000 / requests).toFixed(3);
  const title = `The service's main thread, ${inFlight} presets in flight: ${each(root.us)} ms of processor time each`;
  writeFileSync(target, drawFlameGraph(root, title));
  const rows = sumSelf(root)
    .slice(0, LARGEST)
    .map(([name, us]) => [name, each(us), ((us / root.us) * 100).toFixed(1)]);
  console.log(
    [
      describeMachine(readMachine()),
      title,
      "",
      formatTable(["own time of", "ms a preset", "%"], rows),
      "",
      target,
    ].join("\n"),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Microseconds of the monotonic clock, which the profiler uses too. */
function now(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** Reads the profile of a process's main thread: the one with the lowest thread id. */
function readProfile(pid: number): CpuProfile {
  const [file] = readdirSync(folder)
    .filter((name) => name.split(".")[3] === String(pid))
    .toSorted();
  if (file === undefined) throw new Error(`process ${pid} left no profile`);
  return JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile;
}
