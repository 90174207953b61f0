import type { PresetProblem } from "../api/types.ts";
import type { Hex } from "viem";
import { decodeResult } from "../domain/decodeResult.ts";
import { messageOf } from "../lib/errors.ts";
import type { TextPosition } from "../lib/parseJson.ts";
import { locateFailure } from "./locateFailure.ts";
import type { Preset, RunSource } from "./preset.ts";
import type { PresetExample } from "./presetDefinition.ts";
import { parsePresetParams } from "./presetParams.ts";
import { readValue } from "../domain/presetShow.ts";
import { toHexText } from "../lib/hex.ts";

/** Words that are most likely to break a source. */
export const EXTREME_WORDS: readonly Hex[] = [
  `0x${"0".repeat(64)}`,
  `0x${"0".repeat(63)}1`,
  `0x7${"f".repeat(63)}`,
  `0x8${"0".repeat(63)}`,
  `0x${"f".repeat(64)}`,
];

/** More than any network takes as a result; a bound may be as large as its parameters. */
const MAX_RESULT_BYTES = 1_000_000n;

/** Examples that run at once. */
const MAX_AT_ONCE = 4;

/**
 * Runs every example of a preset: each must give exactly the result it states. Returns the problems found, one for each failing
 * example. After an example that times out, the rest are skipped: twenty of those in each of several hundred folders would keep the
 * sandbox busy for hours. Rejects only if `run` does.
 */
export async function checkExamples(preset: Preset, run: RunSource): Promise<PresetProblem[]> {
  const problems: PresetProblem[] = [];
  for (let first = 0; first < preset.examples.length; first += MAX_AT_ONCE) {
    const found = await Promise.all(
      preset.examples.slice(first, first + MAX_AT_ONCE).map(async (example, offset) => {
        const { params, word } = example;
        const drawn = await draw(preset, run, { params, word });
        const failure = drawn.ok ? compare(drawn, example) : drawn;
        return { failure, index: first + offset };
      }),
    );
    for (const { failure, index } of found)
      if (failure !== undefined) problems.push(describeFailure(preset, exampleAt(index), failure));
    if (found.some(({ failure }) => failure?.isTimeout === true)) break;
  }
  return problems;
}

/**
 * Runs a preset with every word for the parameters of every example: no word may make it throw, or give a result that is larger than
 * the preset's own bound or not of its return type. Default: {@link EXTREME_WORDS}. Returns the problems found, at most one for each
 * example. Rejects only if `run` does.
 */
export async function checkWords(
  preset: Preset,
  run: RunSource,
  words: readonly Hex[] = EXTREME_WORDS,
): Promise<PresetProblem[]> {
  const problems: PresetProblem[] = [];
  for (const [index, { params }] of preset.examples.entries()) {
    const results = await Promise.all(words.map((word) => draw(preset, run, { params, word })));
    const failure = results.find((result) => !result.ok);
    if (failure !== undefined) problems.push(describeFailure(preset, exampleAt(index), failure));
  }
  return problems;
}

interface Drawn {
  readonly ok: true;
  readonly bytes: Uint8Array;
  readonly parsedResult: string;
}

/** What is wrong with a result, or with a run that gave none. */
export interface Failure {
  readonly ok: false;
  readonly reason: string;
  readonly isTimeout?: boolean;
  /** Place in `source.js` where the source threw. */
  readonly position?: TextPosition;
}

function compare({ bytes, parsedResult }: Drawn, example: PresetExample): Failure | undefined {
  if (parsedResult !== example.parsedResult) {
    const reason = `gives ${JSON.stringify(parsedResult)}, not ${JSON.stringify(example.parsedResult)}`;
    return { ok: false, reason };
  }
  const result = toHexText(bytes);
  if (example.result === undefined || result === example.result) return undefined;
  return { ok: false, reason: `gives the bytes ${result}, not ${example.result}` };
}

/** Runs a preset with a word, and compares the result with what the preset says of all of its results. Rejects only if `run` does. */
export async function draw(
  preset: Preset,
  run: RunSource,
  { params: given, word }: Pick<PresetExample, "params" | "word">,
): Promise<Drawn | Failure> {
  const { params, args } = parsePresetParams(preset, given);
  const promised = preset.resultBound.evaluate(params);
  const bound = promised < MAX_RESULT_BYTES ? promised : MAX_RESULT_BYTES;
  // Allows one byte more than promised, so that a result that breaks the promise is seen instead of refused.
  const request = { args, bytesArgs: [word], limits: { maxResponseBytes: Number(bound) + 1 } };
  const outcome = await run({ ...request, source: preset.source });
  if (!outcome.ok) {
    const { error } = outcome;
    const found = error.kind === "timeout" ? undefined : await locateFailure(preset, run, { request, error });
    return {
      ok: false,
      reason: `with the word ${word} the source fails: ${(found ?? error).message}`,
      ...(error.kind === "timeout" ? { isTimeout: true } : {}),
      ...(found?.position === undefined ? {} : { position: found.position }),
    };
  }
  const { bytes } = outcome;
  if (bytes.length > bound) {
    return {
      ok: false,
      reason: `with the word ${word} the result takes ${bytes.length} bytes or more, not at most ${bound}`,
    };
  }
  let parsedResult: string;
  try {
    parsedResult = decodeResult(bytes, preset.returnType);
  } catch (error) {
    return { ok: false, reason: `with the word ${word}: ${messageOf(error)}` };
  }
  const problem = explainValue(preset, parsedResult, params);
  if (problem !== undefined) return { ok: false, reason: `with the word ${word}: ${problem}` };
  return { ok: true, bytes, parsedResult };
}

/** Returns what is wrong with the value of a result; `undefined` if it is as the preset declares. */
export function explainValue(
  { definition: { show }, checkValue }: Preset,
  parsedResult: string,
  params: Readonly<Record<string, unknown>>,
): string | undefined {
  const value = readValue(show, parsedResult, params);
  if (value !== undefined) return checkValue(value);
  // Entries that contain the separator can't always be told apart.
  const isUnclear =
    show?.as === "list" &&
    Object.values(params)
      .flat()
      .some((given) => String(given).includes(show.separator));
  return isUnclear
    ? undefined
    : `the result ${JSON.stringify(parsedResult)} doesn't have the form that "show" describes`;
}

/** @param part what is at fault in `preset.json`: its place is given where none in the source is known. */
export function describeFailure(
  { name, written }: Preset,
  part: { readonly title: string; readonly pointer: string },
  { reason, position }: Failure,
): PresetProblem {
  const place =
    position === undefined
      ? { file: `${name}/preset.json`, ...written.positionOf(part.pointer) }
      : { file: `${name}/source.js`, ...position };
  return { preset: name, ...place, reason: `${part.title}: ${reason}` };
}

function exampleAt(index: number): { readonly title: string; readonly pointer: string } {
  return { title: `example ${index + 1}`, pointer: `/examples/${index}` };
}
