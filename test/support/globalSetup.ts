import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { buildBrowser } from "../../src/browser/build.ts";
import { compileContracts } from "../../src/chainlink/contracts/compile.ts";
import { BUNDLES, bundlePrograms } from "./bundle.ts";

/** What V8 has compiled, in a folder for each version of it. */
const COMPILED = path.resolve("node_modules/.cache/compile");
/** File system in memory. */
const MEMORY = "/dev/shm";
/** A whole run's temporary files take a quarter of it at a time. */
const ROOM_BYTES = 4 * 2 ** 30;
/** How long bundles and compiled code are kept. */
const KEPT_MS = 3 * 86_400_000;

/** Folder in memory for the run's temporary files. */
let temporary: string | undefined;

/**
 * Builds contracts, pages, and the programs that tests start, from the sources on disk. Runs once for each project; after the
 * first there is nothing to do.
 */
export async function setup(project: TestProject): Promise<void> {
  await Promise.all([compileContracts(), buildBrowser()]);
  if (project.name === "unit" || process.env["BUNDLED_PROGRAMS"] !== undefined) return;
  process.env["BUNDLED_PROGRAMS"] = await bundlePrograms();
  if (hasMemory()) {
    process.env["TMPDIR"] = temporary = mkdtempSync(path.join(MEMORY, "tyche-tests-"));
    // PostgreSQL and the sandbox's processes run as other users.
    chmodSync(temporary, 0o755);
  }
  mkdirSync(COMPILED, { recursive: true });
  for (const folder of [BUNDLES, ...readdirSync(COMPILED).map((name) => path.join(COMPILED, name))])
    removeOld(folder);
}

/** Removes the run's temporary files. */
export function teardown(): void {
  if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
}

/** Whether temporary files have room in memory: hundreds of databases and data directories are made, and none outlives the run. */
function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const isExecutable = !new RegExp(`^\\S+ ${MEMORY} \\S+ \\S*noexec`, "m").test(
      readFileSync("/proc/mounts", "utf8"),
    );
    return isExecutable && bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Removes what earlier sources left: every change of the sources adds some. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const { mtimeMs = Infinity } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(file, { recursive: true, force: true });
  }
}
