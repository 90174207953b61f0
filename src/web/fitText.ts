import { cut } from "../lib/cut.ts";
import { measure, type Setting } from "./typeface.ts";

/** Height of a line, in em. */
export const LINE_HEIGHT = 1.25;

/** Longest text that is set: more has no room. */
const MAX_CHARACTERS = 200;
/** Where an entry of a list is cut that has no room in a line; a random number has 78 digits. */
const MAX_ENTRY = 36;
/** Longer entries have a line each. */
const MAX_INLINE_ENTRY = 22;
/** More entries have no room. */
export const MAX_ENTRIES = 30;

/** Room for a text: its width and height in pixels, and the sizes that it may have, the largest first. */
interface Room {
  readonly weight: Setting["weight"];
  readonly sizes: readonly number[];
  readonly width: number;
  readonly height: number;
}

/** A text as it is set. */
export interface FittedText extends Setting {
  readonly text: string;
  readonly lines: readonly string[];
}

/** Sets a drawable text as large as it fits, with `…` for what has no room. */
export function fitText(text: string, room: Room): FittedText {
  const shorter = Array.from({ length: MAX_CHARACTERS }, (_, i) => cut(text, MAX_CHARACTERS - i));
  return fitFirst(shorter, room);
}

/** Sets a drawable list as large as it fits; what has no room is counted. `total`: how many entries there are with those not given. */
export function fitList(entries: readonly string[], total: number, room: Room): FittedText {
  const smallest = { weight: room.weight, size: room.sizes.at(-1)! };
  const fitting = entries.map((entry) =>
    entry.length <= MAX_ENTRY || measure(entry.slice(0, MAX_CHARACTERS), smallest) <= room.width
      ? cut(entry, MAX_CHARACTERS)
      : cut(entry, MAX_ENTRY),
  );
  const separator = entries.some(({ length }) => length > MAX_INLINE_ENTRY) ? "\n" : "\u00A0· ";
  const shorter = fitting.map((_, i) => {
    const shown = fitting.slice(0, fitting.length - i);
    const rest = total - shown.length;
    // A line ends between entries.
    return [...shown, ...(rest === 0 ? [] : [`and ${rest} more`])]
      .map((one) => one.replaceAll(" ", "\u00A0"))
      .join(separator);
  });
  return fitFirst(shorter, room);
}

/** Sets the first of several texts that fits, in its largest size; breaks words only if they have no room in any. */
function fitFirst(texts: readonly string[], { weight, sizes, width, height }: Room): FittedText {
  for (const text of texts)
    for (const breaksWords of [false, true]) {
      const linesOf = (size: number): readonly string[] | undefined => {
        const lines = wrap(text, { weight, size }, { width, breaksWords });
        return lines !== undefined && lines.length * size * LINE_HEIGHT <= height ? lines : undefined;
      };
      // Most that doesn't fit does so in no size.
      if (linesOf(sizes.at(-1)!) === undefined) continue;
      const size = sizes.find((one) => linesOf(one) !== undefined)!;
      const setting = { weight, size };
      return { text, ...setting, lines: balance(linesOf(size)!, text, setting, { width, breaksWords }) };
    }
  throw new Error(`no room of ${width} × ${height} pixels for a character`);
}

interface Wrapping {
  readonly width: number;
  /** Whether a word that is wider than a line is broken. */
  readonly breaksWords: boolean;
}

/** Breaks a text into lines; `undefined` if a word has no room. */
function wrap(
  text: string,
  setting: Setting,
  { width, breaksWords }: Wrapping,
): readonly string[] | undefined {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    // Room that is left in the last line.
    let left = 0;
    for (const [i, word] of paragraph.split(" ").entries()) {
      const taken = measure(` ${word}`, setting);
      if (i > 0 && taken <= left) {
        lines[lines.length - 1] += ` ${word}`;
        left -= taken;
        continue;
      }
      const pieces = breakWord(word, width, setting);
      if (pieces.length > 1 && !breaksWords) return undefined;
      lines.push(...pieces);
      left = width - measure(pieces.at(-1)!, setting);
    }
  }
  return lines.map((line) => line.replace(/\u00A0·$/, ""));
}

/** Breaks a word into pieces that fit a line. */
function breakWord(word: string, width: number, setting: Setting): readonly string[] {
  const pieces = [""];
  let left = width;
  for (const character of word) {
    const taken = measure(character, setting);
    if (taken > left && pieces.at(-1) !== "") {
      pieces.push("");
      left = width;
    }
    pieces[pieces.length - 1] += character;
    left -= taken;
  }
  return pieces;
}

/** Makes the lines of a text about equally long: as narrow as they can be without another one. */
function balance(
  lines: readonly string[],
  text: string,
  setting: Setting,
  { width, breaksWords }: Wrapping,
): readonly string[] {
  if (lines.length === 1) return lines;
  let best = lines;
  for (let narrower = width - 20; narrower > 0; narrower -= 20) {
    const tried = wrap(text, setting, { width: narrower, breaksWords });
    if (tried === undefined || tried.length > lines.length) break;
    best = tried;
  }
  return best;
}
