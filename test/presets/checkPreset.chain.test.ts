import { expect, test } from "vitest";
import { checkDistributions } from "../../src/presets/checkDistributions.ts";
import { checkExamples, checkWords } from "../../src/presets/checkPreset.ts";
import { loadPreset } from "../../src/presets/loadPreset.ts";
import type { Preset } from "../../src/presets/preset.ts";
import { formatPresetProblem } from "../../src/presets/presetProblem.ts";
import { exampleDefinition, makeFolder, writePreset, ZERO_WORD } from "./folders.ts";
import { runHere } from "./runHere.ts";

async function load(source: string, change: Record<string, unknown> = {}): Promise<Preset> {
  const folder = await makeFolder();
  await writePreset(folder, "echo", { definition: { ...exampleDefinition("echo"), ...change }, source });
  return loadPreset(folder, "echo");
}

/** Loads a preset without parameters that returns an integer. */
function loadNumber(source: string, change: Record<string, unknown>): Promise<Preset> {
  return load(source, {
    parameters: { type: "object", properties: {} },
    args: [],
    returnType: "uint256",
    maxResultBytes: undefined,
    examples: [{ params: {}, word: ZERO_WORD, parsedResult: "0" }],
    ...change,
  });
}

const tenOutcomes = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [index, 1]));

test("a preset that keeps its word", async () => {
  const preset = await load("return Functions.encodeString(args[0].repeat(args[1]))");
  expect(await checkExamples(preset, runHere)).toEqual([]);
  expect(await checkWords(preset, runHere)).toEqual([]);
});

test("another result than the example's, with the example's place", async () => {
  const preset = await load("return Functions.encodeString('b')");
  const [problem] = await checkExamples(preset, runHere);
  expect(formatPresetProblem(problem!)).toMatch(/^echo\/preset\.json:\d+:5: example 1: gives "b", not "aa"$/);
});

test("a result larger than the bound", async () => {
  const preset = await load("return Functions.encodeString('bbb')");
  expect(await checkExamples(preset, runHere)).toMatchObject([
    { reason: expect.stringContaining("the result takes 3 bytes or more, not at most 2") },
  ]);
});

test.each([
  ["bytes(text) - 1000", 0],
  ["0 - times", 0],
  ["times * 1000000000000", 1_000_000],
])("a result larger than the bound %s, of which the sandbox gets what it takes", async (bound, most) => {
  const preset = await load("return new Uint8Array(1000001)", { maxResultBytes: bound });
  const limits: number[] = [];
  const problems = await checkExamples(preset, (request) => {
    limits.push(request.limits.maxResponseBytes);
    return runHere(request);
  });
  expect(limits).toEqual([most + 1]);
  expect(problems).toHaveLength(1);
});

test("a source that throws, with the place in the text that its author wrote", async () => {
  const preset = await load("// a comment\n\nthrow Error('no')");
  const [problem] = await checkExamples(preset, runHere);
  expect(formatPresetProblem(problem!)).toMatch(
    /^echo\/source\.js:3:7: example 1: with the word 0x0+ the source fails: no$/,
  );
});

test("a word that makes the source throw", async () => {
  const source = "if (bytesArgs[0].startsWith('0xf')) throw Error('no'); return Functions.encodeString('aa')";
  const preset = await load(source);
  expect(await checkExamples(preset, runHere)).toEqual([]);
  expect(await checkWords(preset, runHere)).toHaveLength(1);
});

test("a fair source passes", async () => {
  const preset = await loadNumber("return Functions.encodeUint256(BigInt(bytesArgs[0]) % 10n)", {
    distributions: [{ params: {}, outcomes: tenOutcomes }],
  });
  expect(await checkDistributions(preset, runHere)).toEqual([]);
});

test("a wrong distribution says of each outcome how often it came, and was expected", async () => {
  const source = "return Functions.encodeUint256(BigInt(bytesArgs[0]) % 4n === 0n ? 1n : 0n)";
  const wanted = /; "0" [0-9]+ times, not 1000; "1" [0-9]+ times, not 1000$/;
  const outcomes = await loadNumber(source, { distributions: [{ params: {}, outcomes: { 0: 1, 1: 1 } }] });
  expect(await checkDistributions(outcomes, runHere, { draws: 2_000 })).toMatchObject([
    { reason: expect.stringMatching(wanted) },
  ]);
  const bounds = await loadNumber(source, { distributions: [{ params: {}, bounds: ["0", "1", "4"] }] });
  expect(await checkDistributions(bounds, runHere, { draws: 2_000 })).toMatchObject([
    { reason: expect.stringMatching(/; from 0 to below 1 [0-9]+ times, not 500; from 1 to below 4 /) },
  ]);
});

test("a wrong distribution says which outcome came as often as expected", async () => {
  const distributions = [{ params: {}, outcomes: { 0: 1, 1: 1, 2: 2 } }];
  const preset = await loadNumber("return Functions.encodeUint256(0n)", { distributions });
  // Exact counts take a source that counts its own draws.
  const counts = { counts: [250, 0, 750], stray: null, failure: null };
  const source = `return Functions.encodeString(${JSON.stringify(JSON.stringify(counts))})`;
  const runCounts: typeof runHere = (request) => runHere({ ...request, source });
  expect(await checkDistributions(preset, runCounts, { draws: 1_000 })).toMatchObject([
    {
      reason: expect.stringMatching(
        /; "0" 250 times, as expected; "1" 0 times, not 250; "2" 750 times, not 500$/,
      ),
    },
  ]);
});

test("one byte modulo 10 is found", async () => {
  const preset = await loadNumber("return Functions.encodeUint256((BigInt(bytesArgs[0]) & 255n) % 10n)", {
    distributions: [{ params: {}, outcomes: tenOutcomes }],
  });
  expect(await checkDistributions(preset, runHere)).toMatchObject([
    { reason: expect.stringContaining("are not spread as declared") },
  ]);
});

test("a word modulo 3 * 2^254 is found", async () => {
  const bounds = [0n, 1n, 2n, 3n].map((third) => String(third * 2n ** 254n));
  const preset = await loadNumber("return Functions.encodeUint256(BigInt(bytesArgs[0]) % (3n << 254n))", {
    distributions: [{ params: {}, bounds }],
  });
  expect(await checkDistributions(preset, runHere, { draws: 2_000 })).toMatchObject([
    { reason: expect.stringContaining("are not spread as declared") },
  ]);
});

test("a result that is not declared", async () => {
  const preset = await loadNumber("return Functions.encodeUint256(BigInt(bytesArgs[0]) % 11n)", {
    distributions: [{ params: {}, outcomes: tenOutcomes }],
  });
  expect(await checkDistributions(preset, runHere, { draws: 2_000 })).toMatchObject([
    { reason: expect.stringContaining('the result "10" is not declared') },
  ]);
});

test("an outcome that is no value of the preset, with its place", async () => {
  const draws = { draws: 1_000 };
  const texts = await load("return Functions.encodeString('legendary')", {
    maxResultBytes: "9",
    value: { type: "string", enum: ["common", "rare", "epic"] },
    distributions: [{ params: { text: "a" }, outcomes: { common: 1, legendary: 1 } }],
  });
  const [problem] = await checkDistributions(texts, runHere, draws);
  expect(formatPresetProblem(problem!)).toMatch(
    /^echo\/preset\.json:\d+:22: distribution 1: the outcome "legendary": the value must be one of/,
  );
  const numbers = await loadNumber("return Functions.encodeUint256(BigInt(bytesArgs[0]) % 12n)", {
    value: { type: "string", maxLength: 1 },
    distributions: [{ params: {}, bounds: ["0", "6", "12"] }],
  });
  expect(await checkDistributions(numbers, runHere, draws)).toMatchObject([
    { reason: expect.stringContaining('distribution 1: the outcome "11": the value ') },
  ]);
});

test("weights are honoured", async () => {
  const source = "return Functions.encodeUint256(BigInt(bytesArgs[0]) % 4n === 0n ? 1n : 0n)";
  const fair = { params: {}, outcomes: { "0": 3, "1": 1 } };
  const preset = await loadNumber(source, {
    distributions: [fair],
    examples: [{ params: {}, word: ZERO_WORD, parsedResult: "1" }],
  });
  expect(await checkDistributions(preset, runHere, { draws: 20_000 })).toEqual([]);
});

test("the draws that are done are counted over all distributions", async () => {
  const fair = { params: {}, outcomes: tenOutcomes };
  const preset = await loadNumber("return Functions.encodeUint256(BigInt(bytesArgs[0]) % 10n)", {
    distributions: [fair, fair],
  });
  const told: string[] = [];
  const onDraws = (done: number, total: number): void => void told.push(`${done} of ${total}`);
  expect(await checkDistributions(preset, runHere, { draws: 20_000, onDraws })).toEqual([]);
  expect(told).toEqual(["10000 of 40000", "20000 of 40000", "30000 of 40000", "40000 of 40000"]);
});
