import { readdirSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSandboxPool, type SandboxPool } from "../../sandbox/index.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { checkDistributions } from "../../src/presets/checkDistributions.ts";
import { checkExamples, checkWords, EXTREME_WORDS } from "../../src/presets/checkPreset.ts";
import { loadPreset } from "../../src/presets/loadPreset.ts";
import type { Preset } from "../../src/presets/preset.ts";
import { parsePresetParams } from "../../src/presets/presetParams.ts";

/** The longest source considered worth its gas on chain. */
const MAX_SOURCE_BYTES = 1_000;
/** Random words per example, in addition to the extreme ones. */
const RANDOM_WORDS = 20;

const folder = path.resolve(import.meta.dirname, "../../plugins");
const words: readonly Hex[] = [
  ...EXTREME_WORDS,
  ...fc
    .sample(fc.uint8Array({ minLength: 32, maxLength: 32 }), { seed: 20_240_501, numRuns: RANDOM_WORDS })
    .map(toHexText),
];

let pool: SandboxPool;
beforeAll(() => {
  pool = createSandboxPool({});
});
afterAll(() => pool.close());

describe.each(readdirSync(folder))("%s", (name) => {
  let preset: Preset;
  beforeAll(async () => {
    preset = await loadPreset(folder, name);
  });

  test("the folder holds preset.json and source.js and nothing else", () => {
    expect(readdirSync(path.join(folder, name)).sort()).toEqual(["preset.json", "source.js"]);
  });

  test("every example gives exactly its result", async () => {
    expect(await checkExamples(preset, pool.run)).toEqual([]);
  });

  test("no word makes it throw, or give more than its worst case", async () => {
    expect(await checkWords(preset, pool.run, words)).toEqual([]);
  });

  // Seeded, so the outcome is the same each time; a fair preset fails with a probability below 1e-8 for each distribution.
  test("results are distributed as declared", async () => {
    expect(preset.definition.distributions).not.toEqual([]);
    expect(await checkDistributions(preset, pool.run)).toEqual([]);
  });

  test("every parameter is described, and examples try more combinations than there are parameters", () => {
    const { properties } = preset.definition.parameters;
    for (const schema of Object.values(properties)) expect(schema.description).toBeTypeOf("string");
    const distinct = new Set(
      preset.examples.map(({ params }) => JSON.stringify(parsePresetParams(preset, params).args)),
    );
    expect(distinct.size, "examples with parameters of their own").toBeGreaterThan(
      Object.keys(properties).length,
    );
  });

  test("the source is short on chain", () => {
    expect(preset.sourceBytes).toBeLessThanOrEqual(MAX_SOURCE_BYTES);
  });
});
