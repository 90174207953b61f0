import { existsSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { loadArtifacts } from "../../../src/chainlink/contracts/artifacts.ts";
import { compileContracts } from "../../../src/chainlink/contracts/compile.ts";
import { cacheFileOf, readCompilationUnits } from "../../../src/chainlink/contracts/compilerInput.ts";

/** EIP-170: a larger contract can't be deployed. Creation code is longer than the code it deploys. */
const MAX_CODE_BYTES = 24_576;

test("nothing is compiled again while nothing has changed", async () => {
  expect(await compileContracts()).toEqual([]);
});

test("the key of a unit follows from its sources, and from nothing else", () => {
  const [first, second] = [readCompilationUnits(), readCompilationUnits()];
  expect(first).toEqual(second);
  expect(new Set(first.map(({ key }) => key)).size).toBe(first.length);
  for (const unit of first)
    expect(existsSync(cacheFileOf(unit)) && statSync(cacheFileOf(unit)).size).toBeGreaterThan(0);
});

test("the units differ in nothing but compiler, target and contracts", () => {
  const settings = readCompilationUnits().map(({ name, compiler, input }) => {
    const { settings } = JSON.parse(input) as {
      readonly settings: { readonly evmVersion: string; readonly optimizer: unknown };
    };
    return [name, compiler, settings.evmVersion, settings.optimizer];
  });
  const optimizer = { enabled: true, runs: 200 };
  expect(settings).toEqual([
    ["vrf", "solc-0.8.6", "berlin", optimizer],
    ["vrf-v2-plus", "solc-0.8.19", "paris", optimizer],
    ["functions", "solc-0.8.19", "paris", optimizer],
    ["tyche", "solc-0.8.19", "paris", optimizer],
  ]);
});

test("every contract fits the code limit", () => {
  for (const [name, { bytecode }] of Object.entries(loadArtifacts())) {
    expect([name, bytecode.length / 2 - 1 < MAX_CODE_BYTES + 2_000]).toEqual([name, true]);
  }
});
