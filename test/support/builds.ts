import { rmSync } from "node:fs";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { buildBrowser } from "../../src/browser/build.ts";
import { compileContracts } from "../../src/chainlink/contracts/compile.ts";
import { bundle } from "./bundle.ts";

/**
 * Builds contracts, pages, and the `tyche` that tests start, from the sources on disk. Runs once for each project; after the
 * first there is nothing to do.
 */
export async function setup(project: TestProject): Promise<(() => void) | undefined> {
  await Promise.all([compileContracts(), buildBrowser()]);
  if (project.name === "unit" || process.env["BUNDLED_TYCHE"] !== undefined) return undefined;
  const file = await bundle("src/app/tyche.ts");
  process.env["BUNDLED_TYCHE"] = file;
  return () => rmSync(path.dirname(file), { recursive: true });
}
