import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { HostileCost } from "./hostileParent.ts";
import { anyProgram, FLOODS, HOSTILE_CHILD, type HostileProgram } from "./hostileProgram.ts";

const PARENT = fileURLToPath(new URL("hostileParent.ts", import.meta.url));
/** For each program; the longer it is, the less a restart matters. */
const TIME_MS = 800;

/** Runs programs one after the other in a process of their own and returns what each one cost it. */
async function measure(programs: readonly HostileProgram[]): Promise<readonly HostileCost[]> {
  const folder = mkdtempSync(join(tmpdir(), "tyche-hostile-"));
  chmodSync(folder, 0o755);
  try {
    const script = join(folder, "child.cjs");
    writeFileSync(script, HOSTILE_CHILD, { mode: 0o644 });
    const parent = spawn(process.execPath, ["--no-node-snapshot", PARENT, script, String(TIME_MS)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    parent.stdin.end(JSON.stringify(programs));
    return JSON.parse(await text(parent.stdout)) as readonly HostileCost[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("behaviour: a child in an attacker's hands costs less than 5 % of a core and 64 MB, whatever it writes", async () => {
  // Different programs each time; a failure's message contains the seed.
  const seed = Date.now() % 1_000_000;
  const made = fc.sample(anyProgram, { seed, numRuns: 12 });
  const costs = await measure([...FLOODS, ...made]);
  expect(costs).toHaveLength(FLOODS.length + made.length);
  const sum = (of: (cost: HostileCost) => number) => costs.reduce((total, cost) => total + of(cost), 0);
  const share = sum(({ cpuMs }) => cpuMs) / sum(({ wallMs }) => wallMs);
  const isWithin = share < 0.05 && costs.every(({ growthBytes }) => growthBytes < 64 * 1024 * 1024);
  expect(isWithin ? "" : JSON.stringify({ seed, share, costs }, null, 1)).toBe("");
});
