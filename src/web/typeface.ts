import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { once } from "../lib/memo.ts";
import type { Picture } from "./picture.ts";

/** How a text is set. */
export interface Setting {
  readonly weight: "regular" | "bold";
  /** Pixels per em. */
  readonly size: number;
}

/** Each character with its advance width and its outline, in thousandths of an em; the y axis points up. */
type Characters = Readonly<Record<string, readonly [advance: number, path: string]>>;

const FILE = new URL("./typeface/outlines.json.br", import.meta.url);

/**
 * Open Sans, whose license is beside the file: Latin, Greek and Cyrillic, typographic marks and signs of currencies, the same in each weight.
 * `npm run pictures` writes it.
 */
const getTypeface = once(
  () =>
    JSON.parse(brotliDecompressSync(readFileSync(FILE)).toString()) as Record<Setting["weight"], Characters>,
);

/** Whether a text can be drawn. */
export function isDrawable(text: string): boolean {
  const { regular } = getTypeface();
  return Array.from(text).every((character) => Object.hasOwn(regular, character));
}

/** Returns the width of a drawable text in pixels. */
export function measure(text: string, { weight, size }: Setting): number {
  const characters = getTypeface()[weight];
  let advances = 0;
  for (const character of text) advances += characters[character]![0];
  return (advances * size) / 1000;
}

/** Draws a line of drawable text from `x` on the baseline `y`. */
export function drawText(
  picture: Picture,
  text: string,
  { x, y, color, ...setting }: Setting & { readonly x: number; readonly y: number; readonly color: number },
): void {
  const characters = getTypeface()[setting.weight];
  const scale = setting.size / 1000;
  let left = x;
  for (const character of text) {
    const [advance, path] = characters[character]!;
    picture.fill(path, { x: left, y, scaleX: scale, scaleY: -scale, color });
    left += advance * scale;
  }
}
