import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createSandboxPool, type SandboxPool } from "../../../sandbox/index.ts";

/** A file of a suite: the body of an async function that calls `report(name, failure)` once for each of its tests. */
export interface SuiteFile {
  /** Path in the suite, with its variant. */
  readonly name: string;
  /** Row of the table that it counts in. */
  readonly row: string;
  readonly source: string;
  readonly args: readonly string[];
}

/** What a test did by its name: `""` when it passed, otherwise the first line of its failure. */
type Outcomes = ReadonlyMap<string, string>;

const DENO = fileURLToPath(new URL("../../../node_modules/.bin/deno", import.meta.url));
/** One file's time, in ms. */
const TIMEOUT_MS = 120_000;
/** Name under which a run that failed is kept. */
const END = "runs to its end";
/** Marks the lines of output that `report` prints. */
const MARK = "\u0001suite:";
const REPORT = `const report = ((print, stringify, slice) => (name, failure) => print(${JSON.stringify(MARK)} + stringify([name, slice(failure, 0, 300)])))(
  console.log.bind(console), JSON.stringify, Function.prototype.call.bind(String.prototype.slice));\n`;

/**
 * Runs each file in Deno and in the sandbox and prints how many tests pass in each, by row, and with `show` the tests that pass only in Deno.
 * The tests counted are those that either of the two has reported; a file that ends before its end is shown, its end isn't counted.
 */
export async function compareSuites(files: readonly SuiteFile[], options: { show: boolean }): Promise<void> {
  const pool = createSandboxPool({ concurrency: 1 });
  const folder = mkdtempSync(join(tmpdir(), "tyche-suite-"));
  const rows = new Map<string, { tests: number; deno: number; ours: number; lost: number }>();
  for (const file of files) {
    const [deno, ours] = await Promise.all([runInDeno(file, folder), runInSandbox(file, pool)]);
    const row = rows.get(file.row) ?? { tests: 0, deno: 0, ours: 0, lost: 0 };
    rows.set(file.row, row);
    const passes = (outcomes: Outcomes, name: string): boolean => outcomes.get(name) === "";
    if (options.show && ours.has(END)) console.log(`${file.name} | ${END}: ${ours.get(END)}`);
    for (const name of new Set([...deno.keys(), ...ours.keys()])) {
      if (name === END) continue;
      row.tests++;
      if (passes(deno, name)) row.deno++;
      if (passes(ours, name)) row.ours++;
      if (!passes(deno, name) || passes(ours, name)) continue;
      row.lost++;
      if (options.show) console.log(`${file.name} | ${name}: ${ours.get(name) ?? "not reported"}`);
    }
  }
  await pool.close();
  rmSync(folder, { recursive: true });
  console.log(
    "| suite | tests | Deno passes | the sandbox passes | passes only in Deno |\n|---|---|---|---|---|",
  );
  for (const [name, { tests, deno, ours, lost }] of rows)
    console.log(`| ${name} | ${tests} | ${deno} | ${ours} | ${lost} |`);
}

async function runInSandbox({ source, args }: SuiteFile, pool: SandboxPool): Promise<Outcomes> {
  const result = await pool.run({
    source: `${REPORT}${source}\nreturn new Uint8Array(1);`,
    args,
    limits: { timeoutMs: TIMEOUT_MS, memoryLimitMb: 512, maxConsoleBytes: 1_048_576 },
  });
  const failure = result.ok ? undefined : (result.error.detail ?? result.error.message);
  return readOutcomes(result.console, failure);
}

function runInDeno({ source, args }: SuiteFile, folder: string): Promise<Outcomes> {
  const path = join(folder, "suite.js");
  writeFileSync(
    path,
    `const args = ${JSON.stringify(args)};\n${REPORT}await (async () => {\n${source}\n})();\nDeno.exit(0);`,
  );
  const { promise, resolve } = Promise.withResolvers<Outcomes>();
  const child = spawn(DENO, ["run", "--no-prompt", "--no-config", path], {
    env: {
      PATH: "",
      HOME: folder,
      DENO_DIR: join(folder, "cache"),
      NO_COLOR: "1",
      TZ: "UTC",
      DENO_NO_UPDATE_CHECK: "1",
    },
    stdio: ["ignore", "pipe", "ignore"],
    timeout: TIMEOUT_MS,
  });
  const parts: Buffer[] = [];
  child.stdout.on("data", (part: Buffer) => parts.push(part));
  child.on("close", (code) =>
    resolve(readOutcomes(Buffer.concat(parts).toString(), code === 0 ? undefined : `exit code ${code}`)),
  );
  return promise;
}

function readOutcomes(output: string, failure: string | undefined): Outcomes {
  const outcomes = new Map<string, string>();
  for (const line of output.split("\n")) {
    if (!line.startsWith(MARK)) continue;
    const [name, text] = JSON.parse(line.slice(MARK.length)) as [string, string];
    // Two tests of one name in a file: both must pass.
    outcomes.set(name, outcomes.get(name) || text);
  }
  if (failure !== undefined) outcomes.set(END, failure);
  return outcomes;
}
