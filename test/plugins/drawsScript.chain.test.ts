import { execFileSync } from "node:child_process";
import path from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandboxPool, type SandboxPool } from "../../sandbox/index.ts";
import { decodeResult } from "../../src/domain/decodeResult.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { loadPreset } from "../../src/presets/loadPreset.ts";
import { parsePresetParams } from "../../src/presets/presetParams.ts";

const root = path.resolve(import.meta.dirname, "../..");
const script = path.join(root, "docs/draws.py");

let pool: SandboxPool;
beforeAll(() => {
  pool = createSandboxPool({});
});
afterAll(() => pool.close());

interface Case {
  readonly preset: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly word: string;
}

const wordOf = fc
  .oneof(
    { weight: 4, arbitrary: fc.uint8Array({ minLength: 32, maxLength: 32 }) },
    fc.constantFrom(new Uint8Array(32), new Uint8Array(32).fill(255)),
  )
  .map(toHexText);

const MIN_INT256 = -(2n ** 255n);
const spanOf = fc.oneof(
  fc.bigInt(1n, 1_000n),
  // Spans just above half of all words: nearly every other word is rejected, so the key stream is needed.
  fc.constantFrom(2n ** 255n + 1n, 2n ** 256n, 3n * 2n ** 254n),
);
const caseOf: fc.Arbitrary<Case> = fc.oneof(
  fc.record({ preset: fc.constant("coinflip"), params: fc.constant({}), word: wordOf }),
  fc.record({
    preset: fc.constant("range"),
    params: spanOf.map((span) => ({ min: String(MIN_INT256), max: String(MIN_INT256 + span - 1n) })),
    word: wordOf,
  }),
  fc.record({
    preset: fc.constant("nDice"),
    params: fc.record({
      numFaces: fc.oneof(fc.bigInt(2n, 100n), fc.bigInt(2n, 2n ** 256n - 1n)).map(String),
      numDice: fc.integer({ min: 1, max: 100 }),
    }),
    word: wordOf,
  }),
  fc.record({
    preset: fc.constant("lotto"),
    params: fc
      .tuple(
        fc.array(fc.string({ unit: "grapheme", maxLength: 8 }), { minLength: 1, maxLength: 120 }),
        fc.nat(),
      )
      .map(([list, any]) => ({ list, numberOfWinners: 1 + (any % list.length) })),
    word: wordOf,
  }),
);

/** Reads `[preset, word, ...arguments]` lists as JSON from standard input and writes the results as JSON. */
const DRIVER = `
import json, sys
sys.path.insert(0, sys.argv[1])
from draws import coinflip, range_, n_dice, lotto
run = {
    "coinflip": lambda word: coinflip(word),
    "range": lambda word, low, high: range_(word, int(low), int(high)),
    "nDice": lambda word, faces, dice: n_dice(word, int(faces), int(dice)),
    "lotto": lambda word, winners, entries: lotto(word, int(winners), json.loads(entries)),
}
print(json.dumps([run[preset](int(word, 16), *args) for preset, word, *args in json.load(sys.stdin)]))
`;

test("docs/draws.py gives the results of the presets in the sandbox", async () => {
  const cases = fc.sample(caseOf, { seed: 20_261_122, numRuns: 400 });
  const names = [...new Set(cases.map(({ preset }) => preset))];
  expect(names.sort()).toEqual(["coinflip", "lotto", "nDice", "range"]);
  const presets = new Map(
    await Promise.all(
      names.map(async (name) => [name, await loadPreset(path.join(root, "plugins"), name)] as const),
    ),
  );
  const prepared = cases.map(({ preset: name, params, word }) => {
    const preset = presets.get(name)!;
    return { name, preset, word, args: parsePresetParams(preset, params).args };
  });
  const given = await Promise.all(
    prepared.map(async ({ preset, word, args }) => {
      const request = { source: preset.source, args, bytesArgs: [word as `0x${string}`] };
      const outcome = await pool.run({ ...request, limits: { maxResponseBytes: 16_384 } });
      return outcome.ok ? decodeResult(outcome.bytes, preset.returnType) : outcome.error;
    }),
  );
  const input = JSON.stringify(prepared.map(({ name, word, args }) => [name, word, ...args]));
  const output = execFileSync("python3", ["-B", "-c", DRIVER, path.dirname(script)], {
    input,
    encoding: "utf8",
  });
  expect(JSON.parse(output)).toEqual(given);
});

test("docs/draws.py takes a preset and its arguments from the command line", () => {
  const python = (...args: string[]): string =>
    execFileSync("python3", ["-B", script, ...args], { encoding: "utf8" }).trimEnd();
  expect(python("coinflip", "0x03")).toBe("1");
  expect(python("range", "0x0b", "-1", "8")).toBe("0");
  expect(python("nDice", "0x05", "6", "2")).toBe("[6,1]");
  expect(python("lotto", "0x01", "2", "Ann", "Bob", "Cid")).toBe("Winners: Bob, Ann");
  // The API and `tyche verify` print words in decimal.
  expect(python("range", "11", "-1", "8")).toBe("0");
});
