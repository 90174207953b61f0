import type * as Sucrase from "sucrase";
import type { Place } from "./syntaxFailure.ts";

/** Wraps a source for sucrase, so that `await` and `return` are allowed in it, as they are in the run. */
const HEAD = "async () => {\n";
const TAIL = "\n}";

/** A source without its types. */
export interface ErasedSource {
  readonly code: string;
  /** Maps a place in `code` to its column in the caller's text, both from 1. Lines are the same. */
  readonly columnOf: (line: number, column: number) => number;
}

/** Where a source stops being TypeScript; null if unknown. */
export interface EraseFailure {
  readonly failedAt: Place | null;
}

/**
 * Returns the source without its TypeScript types, or the place where it stops being TypeScript.
 * Runs outside every isolate, so only the parent's timer bounds it: sucrase is linear on hostile input.
 */
export function eraseTypes(source: string): ErasedSource | EraseFailure {
  const sucrase = require("sucrase") as typeof Sucrase;
  try {
    const { code, sourceMap } = sucrase.transform(HEAD + source + TAIL, {
      transforms: ["typescript"],
      disableESTransforms: true,
      keepUnusedImports: true,
      filePath: "source.ts",
      sourceMapOptions: { compiledFilename: "source.js" },
    });
    if (!code.startsWith(HEAD) || !code.endsWith(TAIL)) return { failedAt: null };
    const mappings = sourceMap?.mappings ?? "";
    return {
      code: code.slice(HEAD.length, code.length - TAIL.length),
      columnOf: (line, column) => originalColumn(mappings, line, column),
    };
  } catch (error) {
    const { loc } = error as { readonly loc?: Place };
    return { failedAt: loc === undefined ? null : { line: loc.line - 1, column: loc.column } };
  }
}

/**
 * Source map v3: lines split by `;`, segments by `,`, each a base64 VLQ of column, file, line and original column.
 */
function originalColumn(mappings: string, line: number, column: number): number {
  const lines = mappings.split(";");
  let original = 0;
  // Original columns are relative to the previous segment, across lines; the head is line 0 of the map.
  for (let at = 0; at <= line && at < lines.length; at++) {
    let generated = 0;
    let best = column - 1;
    for (const segment of (lines[at] as string).split(",")) {
      if (segment === "") continue;
      const fields = decodeVlq(segment);
      generated += fields[0] ?? 0;
      original += fields[3] ?? 0;
      if (generated <= column - 1) best = original + (column - 1 - generated);
    }
    if (at === line) return best + 1;
  }
  return column;
}

function decodeVlq(segment: string): number[] {
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const values: number[] = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = DIGITS.indexOf(character);
    value += (digit & 31) << shift;
    if ((digit & 32) !== 0) shift += 5;
    else {
      values.push((value & 1) === 1 ? -(value >> 1) : value >> 1);
      value = 0;
      shift = 0;
    }
  }
  return values;
}
