// A process with a pool whose children are hostile: it gives them run after run and reports what they cost it.
// Arguments: the child's script, the time for each program in ms. Standard input: a list of programs as JSON.
import type { ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { createChildLauncher } from "../../../sandbox/host/launch.ts";
import { createPool } from "../../../sandbox/host/pool.ts";
import { createSandboxNetwork } from "../../../sandbox/index.ts";
import type { HostileProgram } from "./hostileProgram.ts";

/** The cost of a program for this process. */
export interface HostileCost {
  readonly name: string;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Maximum memory above what the process used before. */
  readonly growthBytes: number;
  /** Bytes that it read from its children. */
  readonly readBytes: number;
  readonly runs: number;
  readonly children: number;
}

const [script = "", timeMs = ""] = process.argv.slice(2);
const programs = JSON.parse(await text(process.stdin)) as readonly HostileProgram[];
/** Much less than a source usually gets: this gives more weight to a child's start, and to what it may do at once. */
const RUN_TIME_MS = 700;
/** Pause between runs, as callers don't send them faster: quick answers are no attack. */
const PAUSE_MS = 20;

const launcher = createChildLauncher();
let launched: ChildProcess[] = [];
function launch(path: string): ChildProcess {
  const child = launcher.launch(path);
  launched.push(child);
  return child;
}

const network = createSandboxNetwork({ allowModules: ["npm:ms"] });
const pool = createPool(
  { concurrency: 1, hostCalls: network.hostCalls },
  { launcher: { ...launcher, launch }, build: async () => script },
);

async function endure(program: HostileProgram, forMs: number): Promise<HostileCost> {
  const source = JSON.stringify(program);
  const readBefore = countReadBytes();
  const beganMs = performance.now();
  const cpu = process.cpuUsage();
  const started = pool.stats().started;
  // The kernel tracks the peak (proc(5), `clear_refs`): polling every 10 ms would cost more than most programs do.
  writeFileSync("/proc/self/clear_refs", "5");
  const beforeBytes = process.memoryUsage.rss();
  let runs = 0;
  for (; performance.now() - beganMs < forMs; runs++) {
    const result = await pool
      .run({ source, limits: { timeoutMs: RUN_TIME_MS } })
      .catch((error: { readonly code: string }) => error);
    if ("code" in result && result.code !== "sandbox_unavailable") throw new Error(result.code);
    await sleep(PAUSE_MS);
  }
  const { user, system } = process.cpuUsage(cpu);
  const children = pool.stats().started - started;
  return {
    name: program.name,
    wallMs: performance.now() - beganMs,
    cpuMs: (user + system) / 1_000,
    growthBytes: readPeakBytes() - beforeBytes,
    readBytes: countReadBytes() - readBefore,
    runs,
    children,
  };
}

/** Bytes read from all children so far. */
let gone = 0;
function countReadBytes(): number {
  const read = (children: readonly ChildProcess[]) =>
    children
      .flatMap(({ stdout, stderr }) => [stdout, stderr] as readonly (Socket | null)[])
      .reduce((total, pipe) => total + (pipe?.bytesRead ?? 0), 0);
  gone += read(launched.filter(({ stdout }) => stdout?.destroyed));
  launched = launched.filter(({ stdout }) => !stdout?.destroyed);
  return gone + read(launched);
}

function readPeakBytes(): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
}

await pool.ready();
// Warms up: code is compiled and the heap grows before anything is measured.
for (const program of programs) await endure(program, 1);
const costs: HostileCost[] = [];
for (const program of programs) costs.push(await endure(program, Number(timeMs)));
console.log(JSON.stringify(costs));
await pool.close();
network.close();
