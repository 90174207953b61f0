import * as zlib from "node:zlib";
import type { Native } from "./native.ts";

/** Longest output of one call, in bytes: a small input can expand to gigabytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const OPERATIONS = {
  gzip: zlib.gzipSync,
  gunzip: zlib.gunzipSync,
  deflate: zlib.deflateSync,
  inflate: zlib.inflateSync,
  deflateRaw: zlib.deflateRawSync,
  inflateRaw: zlib.inflateRawSync,
  unzip: zlib.unzipSync,
  brotliCompress: zlib.brotliCompressSync,
  brotliDecompress: zlib.brotliDecompressSync,
} as const;

/** The platform's compression: the operation's name without `Sync`, bytes → bytes. */
export const zlibNatives: Readonly<Record<string, Native>> = Object.fromEntries(
  Object.entries(OPERATIONS).map(([name, operation]): [string, Native] => [
    name,
    ({ level }, body) =>
      operation(body, {
        maxOutputLength: MAX_OUTPUT_BYTES,
        ...(typeof level === "number" && { level }),
      }),
  ]),
);
