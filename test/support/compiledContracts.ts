import { compileContracts } from "../../src/chainlink/contracts/compile.ts";

/** Runs before all tests: they find the contracts compiled from the sources on disk. */
export async function setup(): Promise<void> {
  await compileContracts();
}
