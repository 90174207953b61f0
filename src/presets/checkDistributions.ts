import type { PresetProblem } from "../api/types.ts";
import type { Hex } from "viem";
import { decodeResult } from "../domain/decodeResult.ts";
import { pointerTo } from "../lib/parseJson.ts";
import { describeFailure, draw, explainValue, type Failure } from "./checkPreset.ts";
import { chiSquarePValue } from "./chiSquare.ts";
import type { Preset, RunSource } from "./preset.ts";
import type { PresetDistribution } from "./presetDefinition.ts";
import { parsePresetParams } from "./presetParams.ts";

/**
 * Probability that a perfectly fair preset fails one of its distributions. The seeds are fixed, so the probability is over the choice
 * of seeds, not over runs. At most 20 distributions bring a preset's total to at most 2e-7.
 */
export const FALSE_ALARM_PROBABILITY = 1e-8;

/** Draws for each distribution: enough to detect the bias of one byte modulo 10 (26 : 25) in more than 99 of 100 cases. */
export const DEFAULT_DRAWS = 300_000;
/** Words in one run: keeps it far below a run's time limit. */
const DRAWS_PER_RUN = 10_000;
/** Room for the counts of 5,000 outcomes. */
const MAX_COUNTS_BYTES = 100_000;

export interface DistributionOptions {
  /** Words for each distribution. Default 300,000. */
  readonly draws?: number;
  /** Selects the words: an integer from 0 to 2^32 - 1. Default 1. */
  readonly seed?: number;
  /** Called as the draws proceed with how many are done, over all distributions. */
  readonly onDraws?: (done: number, total: number) => void;
}

/**
 * Draws many results of a preset with pseudo-random words and compares them with the distributions that it declares, by a chi-square
 * test. Returns the problems found: an outcome that is no value of the preset, a result that is not declared, a word that makes the source
 * throw, or counts that a source with the declared distribution would produce with a probability below {@link FALSE_ALARM_PROBABILITY}. Rejects only if `run` does.
 */
export async function checkDistributions(
  preset: Preset,
  run: RunSource,
  options: DistributionOptions = {},
): Promise<PresetProblem[]> {
  const problems: PresetProblem[] = [];
  const { draws = DEFAULT_DRAWS, onDraws } = options;
  const distributions = preset.definition.distributions ?? [];
  for (const [index, distribution] of distributions.entries()) {
    const onDone = (done: number): void => onDraws?.(index * draws + done, distributions.length * draws);
    const failure =
      findWrongOutcome(preset, distribution) ??
      (await checkDistribution(preset, run, { ...options, distribution, onDone }));
    if (failure === undefined) continue;
    const { within = "" } = failure;
    const part = { title: `distribution ${index + 1}`, pointer: `/distributions/${index}${within}` };
    problems.push(describeFailure(preset, part, failure));
  }
  return problems;
}

interface DistributionFailure extends Failure {
  /** JSON Pointer from the distribution to what is wrong. Default: the distribution itself. */
  readonly within?: string;
}

function failing(reason: string): DistributionFailure {
  return { ok: false, reason };
}

/** Finds an outcome that is no value of the preset: of bounds, the least and the greatest result are tried. */
function findWrongOutcome(
  preset: Preset,
  { params: given, outcomes, bounds = [] }: PresetDistribution,
): DistributionFailure | undefined {
  const { params } = parsePresetParams(preset, given);
  const ends = [BigInt(bounds[0] ?? 0), BigInt(bounds.at(-1) ?? 0) - 1n].map(String);
  for (const outcome of outcomes === undefined ? ends : Object.keys(outcomes)) {
    const problem = explainValue(preset, outcome, params);
    if (problem === undefined) continue;
    const within = outcomes === undefined ? "/bounds" : pointerTo(outcome, "/outcomes");
    return { ...failing(`the outcome ${JSON.stringify(outcome)}: ${problem}`), within };
  }
  return undefined;
}

interface Counted {
  readonly counts: readonly number[];
  readonly stray: string | null;
  readonly failure: { readonly word: Hex; readonly message: string } | null;
}

async function checkDistribution(
  preset: Preset,
  run: RunSource,
  {
    distribution,
    draws = DEFAULT_DRAWS,
    seed = 1,
    onDone,
  }: DistributionOptions & {
    readonly distribution: PresetDistribution;
    readonly onDone: (done: number) => void;
  },
): Promise<DistributionFailure | undefined> {
  const { args } = parsePresetParams(preset, distribution.params);
  const weights = weightsOf(distribution);
  const smallest = (Math.min(...weights) / weights.reduce((a, b) => a + b, 0)) * draws;
  if (!(smallest >= 5))
    return failing(
      `some outcome is expected ${smallest.toFixed(1)} times in ${draws} draws; the test needs 5`,
    );
  const outcomes =
    distribution.outcomes && Object.keys(distribution.outcomes).map((text) => encode(text, preset));
  const isSigned = preset.returnType === "int256";
  const target = JSON.stringify({ outcomes, bounds: distribution.bounds, isSigned });
  const totals = weights.map(() => 0);
  for (let done = 0, part = 0; done < draws; done += DRAWS_PER_RUN, part += 1) {
    const words = Math.min(DRAWS_PER_RUN, draws - done);
    const outcome = await run({
      source: DRAW_HARNESS,
      args: [
        preset.source,
        JSON.stringify(args),
        String((seed + part * 0x1_0001) % 2 ** 32),
        String(words),
        target,
      ],
      bytesArgs: [],
      limits: { maxResponseBytes: MAX_COUNTS_BYTES },
    });
    if (!outcome.ok) return failing(`the draws fail: ${outcome.error.message}`);
    const { counts, stray, failure } = JSON.parse(new TextDecoder().decode(outcome.bytes)) as Counted;
    if (failure !== null) {
      // Alone, the word shows where in the text that the author wrote.
      const drawn = await draw(preset, run, { params: distribution.params, word: failure.word });
      return drawn.ok ? failing(`with the word ${failure.word} the source fails: ${failure.message}`) : drawn;
    }
    if (stray !== null) return failing(`the result ${decode(stray, preset)} is not declared`);
    for (const [index, count] of counts.entries()) totals[index] = (totals[index] as number) + count;
    onDone(done + words);
  }
  const probability = chiSquarePValue(totals, weights);
  if (probability >= FALSE_ALARM_PROBABILITY) return undefined;
  return failing(
    `${draws} draws are not spread as declared: chance alone would do this with a probability of ` +
      `${probability.toExponential(1)}; ${describeCounts(distribution, { weights, totals, draws })}`,
  );
}

/** Most outcomes that a message names. */
const MAX_NAMED = 20;

/** Says how often each outcome came, and how often it was expected. */
function describeCounts(
  { outcomes, bounds = [] }: PresetDistribution,
  {
    weights,
    totals,
    draws,
  }: { readonly weights: number[]; readonly totals: number[]; readonly draws: number },
): string {
  const names =
    outcomes === undefined
      ? bounds.slice(1).map((end, index) => `from ${bounds[index]} to below ${end}`)
      : Object.keys(outcomes).map((text) => JSON.stringify(text));
  const sum = weights.reduce((a, b) => a + b, 0);
  const counts = names.slice(0, MAX_NAMED).map((name, index) => {
    const expected = Math.round((draws * weights[index]!) / sum);
    return `${name} ${totals[index]} times, ${totals[index] === expected ? "as expected" : `not ${expected}`}`;
  });
  const more = names.length - counts.length;
  return counts.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function weightsOf({ outcomes, bounds }: PresetDistribution): number[] {
  if (outcomes !== undefined) return Object.values(outcomes);
  const edges = (bounds ?? []).map(BigInt);
  return edges.slice(1).map((edge, index) => Number(edge - (edges[index] as bigint)));
}

/** Returns the bytes of the result that decodes to `text`, as hex without `0x`. */
function encode(text: string, { returnType }: Preset): string {
  if (returnType === "string") return Buffer.from(text).toString("hex");
  return BigInt.asUintN(256, BigInt(text)).toString(16).padStart(64, "0");
}

/** Returns a result as its reader would see it, or its bytes if it can't be decoded. */
function decode(hex: string, { returnType }: Preset): string {
  const isDecodable = returnType === "string" || hex.length <= 64;
  return isDecodable ? JSON.stringify(decodeResult(Buffer.from(hex, "hex"), returnType)) : `0x${hex}`;
}

/**
 * A source that runs another source with many words. `args` are that source, its own `args` (strings) as JSON text, a seed below 2^32,
 * the number of words, and what to count as JSON text: `{"outcomes": [hex, …]}`, results as bytes, or
 * `{"bounds": ["0", …], "isSigned": boolean}`, results as integers.
 * Returns `{"counts": [number, …], "stray": hex | null, "failure": {"word", "message"} | null}` as JSON text; a stray result is
 * none of those to count. It runs where sources run, so that a thousand draws cost as much as one run.
 * The words come from xoshiro128** (Blackman, Vigna: "Scrambled Linear Pseudorandom Number Generators"), seeded by splitmix32.
 */
const DRAW_HARNESS = String.raw`
const [source, presetArgs, seed, draws, target] = args;
const sourceArgs = JSON.parse(presetArgs);
const { outcomes, bounds, isSigned } = JSON.parse(target);
const AsyncFunction = (async () => {}).constructor;
const run = new AsyncFunction("args", "bytesArgs", "Functions", source);

let mixed = Number(seed);
const state = Array.from({ length: 4 }, () => {
  mixed = (mixed + 0x9e3779b9) | 0;
  let z = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return z ^ (z >>> 15);
});
const rotate = (x, k) => (x << k) | (x >>> (32 - k));
const next = () => {
  const result = Math.imul(rotate(Math.imul(state[1], 5), 7), 9) >>> 0;
  const shifted = state[1] << 9;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = rotate(state[3], 11);
  return result;
};

let find;
if (outcomes) {
  const indexes = new Map(outcomes.map((outcome, index) => [outcome, index]));
  find = (hex) => indexes.get(hex) ?? -1;
} else {
  const edges = bounds.map(BigInt);
  find = (hex) => {
    const unsigned = BigInt("0x" + (hex || "0"));
    const value = isSigned ? BigInt.asIntN(256, unsigned) : unsigned;
    return value >= edges.at(-1) ? -1 : edges.findLastIndex((edge) => value >= edge);
  };
}

const digits = Array.from({ length: 256 }, (_, byte) => (byte + 256).toString(16).slice(1));
const toHex = (bytes) => {
  let hex = "";
  for (let index = 0; index < bytes.length; index += 1) hex += digits[bytes[index]];
  return hex;
};

const drawn = new Uint8Array(32);
const parts = new DataView(drawn.buffer);
const counts = (outcomes ?? bounds.slice(1)).map(() => 0);
let stray = null;
let failure = null;
for (let draw = 0; draw < Number(draws) && failure === null; draw += 1) {
  for (let part = 0; part < 8; part += 1) parts.setUint32(part * 4, next());
  const word = "0x" + toHex(drawn);
  try {
    const hex = toHex(new Uint8Array(await run([...sourceArgs], [word], Functions)));
    const index = find(hex);
    if (index < 0) stray ??= hex;
    else counts[index] += 1;
  } catch (error) {
    failure = { word, message: String(error) };
  }
}
return Functions.encodeString(JSON.stringify({ counts, stray, failure }));
`;
