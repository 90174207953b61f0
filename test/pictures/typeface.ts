/**
 * Writes the outlines that pictures of results are drawn with, `src/web/typeface/outlines.json.br`, from the fonts that come with the Chromium of
 * the tests. Usage: `npm run pictures`
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync } from "node:zlib";
import { readOpenSans } from "./openSans.ts";

const FILE = path.resolve(import.meta.dirname, "../../src/web/typeface/outlines.json.br");
/**
 * First and last code points: Latin, Greek and Cyrillic, typographic marks, and signs of currencies. Whatever combines with other characters or runs
 * from right to left would need more than outlines side by side.
 */
const RANGES = [
  [0x20, 0x7e],
  [0xa0, 0x24f],
  [0x370, 0x45f],
  [0x490, 0x4ff],
  [0x1e00, 0x1eff],
  [0x2010, 0x2027],
  [0x2030, 0x205e],
  [0x2070, 0x2094],
  [0x20a0, 0x20bf],
  [0x2100, 0x215e],
  [0x2200, 0x2265],
] as const;
/** Units of an outline per em, as `src/web/typeface.ts` reads them. */
const UNITS_PER_EM = 1000;

type Point = readonly [x: number, y: number, isOn: boolean];

const weights = { regular: readFont(readOpenSans("Regular")), bold: readFont(readOpenSans("Bold")) };
writeFileSync(FILE, brotliCompressSync(JSON.stringify(weights)));

/** Reads the advance widths and outlines of a TrueType font by character. */
function readFont(file: Buffer): Record<string, readonly [advance: number, path: string]> {
  const font = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const tables = new Map<string, number>();
  for (let at = 12; at < 12 + 16 * font.getUint16(4); at += 16) {
    const tag = String.fromCharCode(...[0, 1, 2, 3].map((i) => font.getUint8(at + i)));
    tables.set(tag, font.getUint32(at + 8));
  }
  const tableAt = (tag: string): number => tables.get(tag)!;
  const unitsPerEm = font.getUint16(tableAt("head") + 18);
  const scale = (value: number): number => Math.round((value * UNITS_PER_EM) / unitsPerEm);
  const hasLongOffsets = font.getInt16(tableAt("head") + 50) === 1;
  const widths = font.getUint16(tableAt("hhea") + 34);
  const offsetOf = (glyph: number): number =>
    tableAt("glyf") +
    (hasLongOffsets
      ? font.getUint32(tableAt("loca") + 4 * glyph)
      : 2 * font.getUint16(tableAt("loca") + 2 * glyph));
  const contoursOf = (glyph: number): Point[][] =>
    offsetOf(glyph) === offsetOf(glyph + 1) ? [] : readContours(font, offsetOf(glyph), contoursOf);

  const glyphs = readCharacters(font, tableAt("cmap"));
  const characters: Record<string, readonly [number, string]> = {};
  for (const [first, last] of RANGES)
    for (let code = first; code <= last; code++) {
      const glyph = glyphs.get(code) ?? 0;
      const character = String.fromCharCode(code);
      if (glyph === 0 || /[\p{M}\p{Cf}]/u.test(character)) continue;
      const advance = font.getUint16(tableAt("hmtx") + 4 * Math.min(glyph, widths - 1));
      const contours = contoursOf(glyph).map((points) =>
        points.map(([x, y, isOn]): Point => [scale(x), scale(y), isOn]),
      );
      characters[character] = [scale(advance), contours.map(pathOf).join("")];
    }
  return characters;
}

/** Reads the glyph of each code point from the subtable of format 4. */
function readCharacters(font: DataView, cmap: number): Map<number, number> {
  const glyphs = new Map<number, number>();
  for (let i = 0; i < font.getUint16(cmap + 2); i++) {
    const table = cmap + font.getUint32(cmap + 8 + 8 * i);
    if (font.getUint16(table) !== 4) continue;
    const size = font.getUint16(table + 6);
    for (let k = 0; k < size; k += 2) {
      const [end, start, delta] = [14, 16 + size, 16 + 2 * size].map((at) =>
        font.getUint16(table + at + k),
      ) as [number, number, number];
      const at = table + 16 + 3 * size + k;
      const offset = font.getUint16(at);
      for (let code = start; code <= end && code < 0xffff; code++) {
        const glyph = offset === 0 ? code : font.getUint16(at + offset + 2 * (code - start));
        if (glyph !== 0) glyphs.set(code, (glyph + delta) & 0xffff);
      }
    }
  }
  return glyphs;
}

/** Reads the contours of a glyph at an offset: its own points, or those of its components where they are placed. */
function readContours(font: DataView, at: number, contoursOf: (glyph: number) => Point[][]): Point[][] {
  const count = font.getInt16(at);
  if (count < 0) return readComponents(font, at + 10, contoursOf);
  const ends = Array.from({ length: count }, (_, i) => font.getUint16(at + 10 + 2 * i));
  const total = ends.at(-1)! + 1;
  let position = at + 10 + 2 * count;
  position += 2 + font.getUint16(position);
  const flags: number[] = [];
  while (flags.length < total) {
    const flag = font.getUint8(position++);
    const repeats = (flag & 8) === 0 ? 0 : font.getUint8(position++);
    for (let i = 0; i <= repeats; i++) flags.push(flag);
  }
  const readAxis = (short: number, same: number): number[] => {
    let value = 0;
    return flags.map((flag) => {
      if ((flag & short) !== 0)
        value += (flag & same) === 0 ? -font.getUint8(position++) : font.getUint8(position++);
      else if ((flag & same) === 0) {
        value += font.getInt16(position);
        position += 2;
      }
      return value;
    });
  };
  const xs = readAxis(2, 16);
  const ys = readAxis(4, 32);
  const points = flags.map((flag, i): Point => [xs[i]!, ys[i]!, (flag & 1) === 1]);
  return ends.map((end, i) => points.slice(i === 0 ? 0 : ends[i - 1]! + 1, end + 1));
}

function readComponents(font: DataView, at: number, contoursOf: (glyph: number) => Point[][]): Point[][] {
  const flags = font.getUint16(at);
  const [hasWords, hasOffset, hasScale, hasMore] = [1, 2, 8 | 64 | 128, 32].map((bit) => (flags & bit) !== 0);
  if (!hasOffset || hasScale)
    throw new Error(`a component with flags ${flags}, which this script doesn't read`);
  const [dx, dy] = hasWords
    ? [font.getInt16(at + 4), font.getInt16(at + 6)]
    : [font.getInt8(at + 4), font.getInt8(at + 5)];
  const placed = contoursOf(font.getUint16(at + 2)).map((points) =>
    points.map(([x, y, isOn]): Point => [x + dx, y + dy, isOn]),
  );
  return hasMore ? [...placed, ...readComponents(font, at + (hasWords ? 8 : 6), contoursOf)] : placed;
}

/** Writes a contour as the data of an SVG path: `M` to a point of it, from there relative `l`ines and `q`uadratic curves. */
function pathOf(points: readonly Point[]): string {
  // Between two control points, the outline passes their middle.
  const passed = points.flatMap(([x, y, isOn], i): Point[] => {
    const [beforeX, beforeY, isBeforeOn] = points.at(i - 1)!;
    const middle: Point = [Math.round((x + beforeX) / 2), Math.round((y + beforeY) / 2), true];
    return [...(isOn || isBeforeOn ? [] : [middle]), [x, y, isOn]];
  });
  const start = passed.findIndex(([, , isOn]) => isOn);
  const [first, ...rest] = [...passed.slice(start), ...passed.slice(0, start + 1)];
  let [fromX, fromY] = first!;
  let path = `M${fromX} ${fromY}`;
  let curve = "";
  for (const [x, y, isOn] of rest) {
    const step = `${x - fromX} ${y - fromY}`;
    if (!isOn) curve = `q${step} `;
    else {
      path += `${curve === "" ? "l" : curve}${step}`;
      curve = "";
      [fromX, fromY] = [x, y];
    }
  }
  return path;
}
