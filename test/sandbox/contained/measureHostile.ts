import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { HostileCost } from "./hostileParent.ts";
import { HOSTILE_CHILD, type HostileProgram } from "./hostileProgram.ts";

const PARENT = fileURLToPath(new URL("hostileParent.ts", import.meta.url));

/** Runs programs one after the other in a process of their own, each for `timeMs`, and returns what each one cost it. */
export async function measureHostile(
  programs: readonly HostileProgram[],
  timeMs: number,
): Promise<readonly HostileCost[]> {
  const folder = mkdtempSync(join(tmpdir(), "tyche-hostile-"));
  chmodSync(folder, 0o755);
  try {
    const script = join(folder, "child.cjs");
    writeFileSync(script, HOSTILE_CHILD, { mode: 0o644 });
    const parent = spawn(process.execPath, [PARENT, script, String(timeMs)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    parent.stdin.end(JSON.stringify(programs));
    return JSON.parse(await text(parent.stdout)) as readonly HostileCost[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
