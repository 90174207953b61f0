import type * as zlib from "node:zlib";
import { type Converter, convert, free } from "./converter.ts";
import { library } from "./library.ts";
import type { Native } from "./native.ts";

/** Longest output of one call, in bytes: a small input can expand to gigabytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const OPERATIONS = {
  gzip: "gzipSync",
  gunzip: "gunzipSync",
  deflate: "deflateSync",
  inflate: "inflateSync",
  deflateRaw: "deflateRawSync",
  inflateRaw: "inflateRawSync",
  unzip: "unzipSync",
  brotliCompress: "brotliCompressSync",
  brotliDecompress: "brotliDecompressSync",
  zstdCompress: "zstdCompressSync",
  zstdDecompress: "zstdDecompressSync",
} as const;

/** The options that the guest may set, besides `maxOutputLength` and `params`. */
const OPTIONS = [
  "flush",
  "finishFlush",
  "windowBits",
  "level",
  "memLevel",
  "strategy",
  "rejectGarbageAfterEnd",
  "pledgedSrcSize",
] as const;

/** Constants with other values in Deno. */
const DENO_CONSTANTS = {
  ZLIB_VERNUM: 0x12b0,
  ZSTD_c_nbWorkers: 240,
  ZSTD_c_jobSize: 241,
  ZSTD_c_overlapLog: 242,
};

/** The `params` that a source may set, by operation: the others can make a call take a gigabyte. */
const PARAMS: Readonly<Record<string, readonly (keyof typeof zlib.constants)[]>> = {
  brotliCompress: [
    "BROTLI_PARAM_MODE",
    "BROTLI_PARAM_QUALITY",
    "BROTLI_PARAM_LGWIN",
    "BROTLI_PARAM_LGBLOCK",
    "BROTLI_PARAM_SIZE_HINT",
    "BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING",
  ],
  zstdCompress: [
    "ZSTD_c_compressionLevel",
    "ZSTD_c_strategy",
    "ZSTD_c_contentSizeFlag",
    "ZSTD_c_checksumFlag",
  ],
};
const MAX_ZSTD_LEVEL = 19;
const MAX_BROTLI_PARAM = 9;

function readParams(operation: string, params: unknown): Record<number, number> {
  const { constants } = library.zlib;
  const allowed = (PARAMS[operation] ?? []).map((name) => constants[name]);
  return Object.fromEntries(
    Object.entries(params as object).map(([key, value]) => {
      const isTooHigh =
        operation === "zstdCompress" &&
        Number(key) === constants.ZSTD_c_compressionLevel &&
        Number(value) > MAX_ZSTD_LEVEL;
      if (!(Number(key) <= MAX_BROTLI_PARAM) && operation.startsWith("brotli"))
        throw Object.assign(new RangeError(`${key} is not a valid Brotli parameter`), {
          code: "ERR_BROTLI_INVALID_PARAM",
        });
      if (!allowed.includes(Number(key)) || isTooHigh)
        throw new RangeError(`node:zlib: parameter ${key} can't be ${value} in this sandbox`);
      return [Number(key), value as number];
    }),
  );
}

/** Reads the options of an operation; a dictionary is given in base64. */
export function readOptions(
  header: Readonly<Record<string, unknown>>,
): Omit<zlib.ZlibOptions, "dictionary"> & { readonly dictionary?: Buffer } {
  const { chunkSize, dictionary, maxOutputLength = MAX_OUTPUT_BYTES, operation, params } = header;
  const isTooLong = typeof maxOutputLength === "number" && maxOutputLength > MAX_OUTPUT_BYTES;
  return {
    ...Object.fromEntries(
      OPTIONS.filter((name) => header[name] !== undefined).map((name) => [name, header[name]]),
    ),
    ...(typeof dictionary === "string" && { dictionary: Buffer.from(dictionary, "base64") }),
    ...(params !== undefined && { params: readParams(String(operation), params) }),
    // Node refuses a wrong one; a large one would only take memory.
    ...(chunkSize !== undefined &&
      !(typeof chunkSize === "number" && chunkSize >= 64) && { chunkSize: chunkSize as number }),
    maxOutputLength: isTooLong ? MAX_OUTPUT_BYTES : (maxOutputLength as number),
  };
}

/** Creates the error for what follows the end of compressed data. */
export const trailingData = (): Error =>
  Object.assign(new TypeError("trailing data after the end of the stream"), {
    code: "ERR_TRAILING_JUNK_AFTER_STREAM_END",
  });

/** The platform's compression. */
export const zlibNatives: Readonly<Record<string, Native>> = {
  /** `{operation, …options}` and bytes → bytes. */
  zlib: (header, body) => {
    const { operation: name } = header;
    const operation = Object.hasOwn(OPERATIONS, String(name))
      ? OPERATIONS[name as keyof typeof OPERATIONS]
      : undefined;
    if (operation === undefined) throw new TypeError("unknown function of node:zlib");
    if (header["rejectGarbageAfterEnd"] === true && operation !== "zstdCompressSync") {
      // Older versions of Node know the option of streams alone.
      const { buffer, engine } = library.zlib[operation](body, {
        ...readOptions(header),
        info: true,
      }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
      if (/inflate|unzip|decompress/i.test(operation) && engine.bytesWritten < body.length)
        throw trailingData();
      return buffer;
    }
    if (operation !== "zstdCompressSync") return library.zlib[operation](body, readOptions(header));
    const { zlib } = library;
    const converter = zlib.createZstdCompress(readOptions(header)) as unknown as Converter;
    try {
      return convert(converter, body, zlib.constants.ZSTD_e_end);
    } finally {
      free(converter);
    }
  },
  crc32: ({ value }, body) => String(library.zlib.crc32(body, Number(value))),
  /** Without those that Deno lacks, with the values that it has otherwise, and in its order. */
  zlibConstants: () => {
    // `codes` is missing in the types.
    const { constants, codes } = library.zlib as typeof zlib & { readonly codes: object };
    const { ZSTD_DECOMPRESS, ...others } = constants;
    const known = Object.entries(others)
      .filter(([name]) => !/^ZSTD_(?:error|CLEVEL)/.test(name))
      .flatMap((entry) =>
        entry[0] === "ZSTD_COMPRESS" ? [entry, ["ZSTD_DECOMPRESS", ZSTD_DECOMPRESS]] : [entry],
      );
    const isStrategy = ([name]: readonly unknown[]): boolean => /^ZSTD_[a-z]+2?$/.test(String(name));
    const ordered = [...known.filter((entry) => !isStrategy(entry)), ...known.filter(isStrategy)];
    return JSON.stringify({ constants: { ...Object.fromEntries(ordered), ...DENO_CONSTANTS }, codes });
  },
};
