import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { HostileCost } from "./hostileParent.ts";
import { anyProgram, FLOODS, type HostileProgram } from "./hostileProgram.ts";
import { measureHostile } from "./measureHostile.ts";

/** For each program; the longer it is, the less a restart matters. */
const TIME_MS = 800;
/** What a child may cost, in units of about 10 µs: at once, for each run, and for each ms. */
const UNITS = { atOnce: 256, perRun: 16, perMs: 1.5 };
/** Bytes read from a child's standard output before they are counted: a chunk, and a piece of one. */
const UNCOUNTED_BYTES = 65_536 + 4_096;
/** Bytes read from a child's standard error: 256 K characters of up to four bytes, and a chunk. */
const STDERR_BYTES = 4 * 256 * 1_024 + 65_536;
/** Children that a pool for one run at a time starts at once, and the time until it may start one more. */
const STARTS = { atOnce: 5, intervalMs: 300 };
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;

/** Most bytes of a program's output that cost one unit: a frame costs two and one for each KB. */
function bytesPerUnit({ steps, repeat }: HostileProgram): number {
  const [step] = steps;
  const isFlood = steps.length === 1 && repeat === undefined && step?.to !== "stderr";
  if (!isFlood || step === undefined) return 1_024;
  const frameBytes = 9 + step.header.length + (step.bodyBytes ?? step.body?.length ?? 0) + 10;
  return frameBytes / (2 + frameBytes / 1_024);
}

/** Returns what a program exceeded: what its parent had to read, or to keep in memory. */
function excessesOf(program: HostileProgram, cost: HostileCost): readonly string[] {
  const { wallMs, runs, children, readBytes, growthBytes } = cost;
  const units = UNITS.atOnce * (children + 1) + UNITS.perRun * runs + UNITS.perMs * wallMs;
  const toStderr = program.steps.some(({ to }) => to === "stderr") ? STDERR_BYTES : 0;
  const maxBytes = (children + 1) * (UNCOUNTED_BYTES + toStderr) + units * bytesPerUnit(program);
  return [
    readBytes > maxBytes ? [`read ${readBytes} bytes, at most ${Math.round(maxBytes)}`] : [],
    growthBytes > MAX_GROWTH_BYTES ? [`took ${growthBytes} bytes of memory`] : [],
  ].flat();
}

test("a child in an attacker's hands can't make its parent read, start or keep more than its share, whatever it writes", async () => {
  // Different programs each time; a failure's message contains the seed.
  const seed = Date.now() % 1_000_000;
  const programs = [...FLOODS, ...fc.sample(anyProgram, { seed, numRuns: 12 })];
  const costs = await measureHostile(programs, TIME_MS);
  expect(costs).toHaveLength(programs.length);
  const excesses = programs.flatMap((program, at) =>
    excessesOf(program, costs[at] as HostileCost).map((excess) => ({ seed, at, program, excess })),
  );
  expect(excesses).toEqual([]);
  const sum = (of: (cost: HostileCost) => number) => costs.reduce((total, cost) => total + of(cost), 0);
  const maxChildren = STARTS.atOnce + 1 + sum(({ wallMs }) => wallMs) / STARTS.intervalMs;
  expect(sum(({ children }) => children)).toBeLessThanOrEqual(maxChildren);
});
