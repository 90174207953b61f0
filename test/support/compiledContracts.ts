import { buildBrowser } from "../../src/browser/build.ts";
import { compileContracts } from "../../src/chainlink/contracts/compile.ts";

/** Builds contracts and pages from the sources on disk; runs once before all tests. */
export async function setup(): Promise<void> {
  await Promise.all([compileContracts(), buildBrowser()]);
}
