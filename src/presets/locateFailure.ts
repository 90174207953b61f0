import type { TextPosition } from "../lib/parseJson.ts";
import type { Preset, PresetRunOutcome, RunSource } from "./preset.ts";

/** Most frames that are examined: V8 keeps 10, and a source may write anything into its stacks. */
const MAX_FRAMES = 50;

/**
 * Finds how a run of a preset failed in the text that its author wrote: the error's text, and the place in `source.js` that threw. The code that
 * ran is one minified line, in which statements are merged, names are short, and V8's own positions are coarse, so the author's text runs once
 * more with the same request. An error inside an imported module gets the place of the call that led there. `undefined` if nothing was thrown, or
 * the second run ends otherwise. Rejects if `run` does.
 */
export async function locateFailure(
  { written }: Preset,
  run: RunSource,
  {
    request,
    error,
  }: {
    readonly request: Omit<Parameters<RunSource>[0], "source">;
    readonly error: (PresetRunOutcome & { readonly ok: false })["error"];
  },
): Promise<{ readonly message: string; readonly position?: TextPosition } | undefined> {
  if (error.line === undefined) return undefined;
  const again = await run({ ...request, source: written.source });
  // V8 quotes the code in some of its texts, so these may differ.
  if (again.ok || again.error.line === undefined || again.error.kind !== error.kind) return undefined;
  const position = placeInSource(again.error, written.preludeLines);
  return { message: again.error.message, ...(position === undefined ? {} : { position }) };
}

/** Returns where in its author's text a linked source threw: after the modules that it imports, which take the first `preludeLines` lines. */
export function placeInSource(
  { line, column = 1, stack = "" }: (PresetRunOutcome & { readonly ok: false })["error"],
  preludeLines: number,
): TextPosition | undefined {
  const frames = [...stack.matchAll(/\bsource\.js:(\d{1,9}):(\d{1,9})/g)].slice(0, MAX_FRAMES);
  const places = frames.map(([, row, at]) => ({ line: Number(row), column: Number(at) }));
  if (line !== undefined) places.unshift({ line, column });
  const place = places.find((candidate) => candidate.line > preludeLines);
  return place && { line: place.line - preludeLines, column: place.column };
}
