/**
 * How many of our files does one call of a preset enter?
 *
 * Question: how much of the code must be held in mind to follow a coinflip from the HTTP request to its answer. The service runs in this process on
 * one embedded chain, with its oracle, and is warm: ten presets have gone through it. V8's precise coverage then counts which functions run while one
 * more preset does; a file counts if one of its functions ran. Left out: the sandbox's child processes, and files that hold only types or constants,
 * because no function of theirs is called. What runs periodically beside the call (balances, checkpoints) is left in, so the figure is of the fewest
 * of five calls.
 *
 * Run: `node bench/enteredFiles.ts`, which prints the number; `-- --list` the files as well.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { readConfig, startTyche } from "../src/app/index.ts";

const ROOT = path.resolve(import.meta.dirname, "..");
const WARM_UP_CALLS = 10;
const COUNTED_CALLS = 5;

const { values } = parseArgs({ options: { list: { type: "boolean", default: false } } });
const dataDir = mkdtempSync(path.join(tmpdir(), "tyche-entered-"));

writeFileSync(
  path.join(dataDir, "tyche.json"),
  JSON.stringify({ port: 0, networks: { sepolia: { embedded: true } } }),
);
const { config } = readConfig({ dataDir, environment: {} });
const tyche = await startTyche({ dataDir, config, log: pino({ level: "silent" }) });
const session = new Session();
session.connect();
try {
  for (let i = 0; i < WARM_UP_CALLS; i += 1) await callPreset();
  await session.post("Profiler.enable");
  let fewest: readonly string[] | undefined;
  for (let i = 0; i < COUNTED_CALLS; i += 1) {
    const files = await filesEnteredBy(callPreset);
    if (fewest === undefined || files.length < fewest.length) fewest = files;
  }
  if (values.list) for (const file of fewest!) console.log(file);
  console.log(`one coinflip enters ${fewest!.length} files of src and sandbox/host`);
} finally {
  session.disconnect();
  await tyche.close();
  rmSync(dataDir, { recursive: true, force: true });
}

async function callPreset(): Promise<void> {
  const response = await fetch(`${tyche.localUrl}/api/vrfv2/presets?network=sepolia&preset=coinflip`, {
    method: "POST",
    headers: { authorization: tyche.apiKey, "content-type": "application/json" },
    body: "{}",
  });
  const { data } = (await response.json()) as { data: { success: boolean } };
  if (!data.success) throw new Error("the preset failed");
}

async function filesEnteredBy(run: () => Promise<void>): Promise<readonly string[]> {
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await run();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  return result
    .filter(({ functions }) =>
      functions.some(
        ({ functionName, ranges }) => functionName !== "" && ranges.some(({ count }) => count > 0),
      ),
    )
    .map(({ url }) => path.relative(ROOT, url.replace("file://", "")))
    .filter((file) => file.startsWith("src/") || file.startsWith("sandbox/host/"))
    .toSorted();
}
