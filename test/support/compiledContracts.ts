import { buildBrowser } from "../../src/browser/build.ts";
import { compileContracts } from "../../src/chainlink/contracts/compile.ts";

/** Runs before all tests: they find contracts and pages built from the sources on disk. */
export async function setup(): Promise<void> {
  await Promise.all([compileContracts(), buildBrowser()]);
}
