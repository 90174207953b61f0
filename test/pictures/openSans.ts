import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { brotliDecompressSync } from "node:zlib";

const ARCHIVE = path.resolve(import.meta.dirname, "../../node_modules/@sparticuz/chromium/bin/fonts.tar.br");

/** Reads a TrueType font of Open Sans, which comes with the Chromium of the tests. */
export function readOpenSans(weight: "Regular" | "Bold"): Buffer {
  return execFileSync("tar", ["-xO", `fonts/Open_Sans/OpenSans-${weight}.ttf`], {
    input: brotliDecompressSync(readFileSync(ARCHIVE)),
    maxBuffer: 2 ** 24,
  });
}
