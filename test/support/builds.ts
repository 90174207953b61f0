import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { buildBrowser } from "../../src/browser/build.ts";
import { compileContracts } from "../../src/chainlink/contracts/compile.ts";
import { BUNDLES, bundlePrograms } from "./bundle.ts";

/** What V8 has compiled, in a folder for each version of it. */
const COMPILED = path.resolve("node_modules/.cache/compile");
/** How long bundles and compiled code are kept. */
const KEPT_MS = 3 * 86_400_000;

/**
 * Builds contracts, pages, and the programs that tests start, from the sources on disk. Runs once for each project; after the
 * first there is nothing to do.
 */
export async function setup(project: TestProject): Promise<void> {
  await Promise.all([compileContracts(), buildBrowser()]);
  if (project.name === "unit" || process.env["BUNDLED_PROGRAMS"] !== undefined) return;
  process.env["BUNDLED_PROGRAMS"] = await bundlePrograms();
  mkdirSync(COMPILED, { recursive: true });
  for (const folder of [BUNDLES, ...readdirSync(COMPILED).map((name) => path.join(COMPILED, name))])
    removeOld(folder);
}

/** Removes what earlier sources left: every change of the sources adds some. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const { mtimeMs = Infinity } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(file, { recursive: true, force: true });
  }
}
