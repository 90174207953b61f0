import type * as zlib from "node:zlib";
import { readOptions, trailingData } from "./compression.ts";
import { type Converter, convert, free } from "./converter.ts";
import { type ReadMember, createMemberReader } from "./gzipMember.ts";
import { library } from "./library.ts";
import type { Native } from "./native.ts";

/** Streams that a run may have open at once; most kinds take up to 0.5 MB of this process. */
const MAX_STREAMS = 64;
/** Of the kinds that take up to 40 MB, and the bits of Brotli's window with which they do: 24 bits take more than 100 MB. */
const MAX_LARGE_STREAMS = 8;
const MAX_WINDOW_BITS = 22;
const LARGE = ["brotliCompress", "zstdCompress"];

/** The highest way to flush of a conversion, Z_BLOCK, EMIT_METADATA or ZSTD_e_end: at any other Node ends the process. */
function lastFlushOf(operation: string): number {
  return operation.startsWith("brotli") ? 3 : operation.startsWith("zstd") ? 2 : 5;
}

interface OpenConverter extends Converter {
  readonly isLarge: boolean;
  readonly lastFlush: number;
  readonly readMember: ReadMember | undefined;
}

const CREATE = {
  gzip: "createGzip",
  gunzip: "createGunzip",
  /** One member of gzip, as the platform's own stream takes it. */
  gunzipMember: "createInflateRaw",
  deflate: "createDeflate",
  inflate: "createInflate",
  deflateRaw: "createDeflateRaw",
  inflateRaw: "createInflateRaw",
  unzip: "createUnzip",
  brotliCompress: "createBrotliCompress",
  brotliDecompress: "createBrotliDecompress",
  zstdCompress: "createZstdCompress",
  zstdDecompress: "createZstdDecompress",
} as const;

/** The compression streams of one run, which convert each piece as it comes. */
export interface CompressionStreams {
  readonly natives: Readonly<Record<string, Native>>;
  /** Frees all of them. */
  readonly close: () => void;
}

export function createCompressionStreams(): CompressionStreams {
  const open = new Map<number, OpenConverter>();
  let next = 1;

  function end(id: number): void {
    const converter = open.get(id);
    if (converter !== undefined) free(converter);
    open.delete(id);
  }
  function find(id: unknown): OpenConverter {
    const converter = open.get(Number(id));
    if (converter === undefined) throw new TypeError("resource is closed");
    return converter;
  }

  return {
    natives: {
      /** `{operation, …options}` → the stream's number. */
      compressionOpen: (header) => {
        const operation = String(header["operation"]);
        const create = Object.hasOwn(CREATE, operation)
          ? CREATE[operation as keyof typeof CREATE]
          : undefined;
        if (create === undefined) throw new TypeError("Unsupported format");
        if (open.size >= MAX_STREAMS)
          throw new TypeError(`more than ${MAX_STREAMS} compression streams are open`);
        const isLarge = LARGE.includes(operation);
        if (isLarge && [...open.values()].filter((each) => each.isLarge).length >= MAX_LARGE_STREAMS)
          throw new TypeError(`more than ${MAX_LARGE_STREAMS} streams of Brotli and Zstandard are open`);
        // What follows the end is seen in what was read, but after members of gzip, of which there may be more.
        const isGzip = operation === "gunzip" || operation === "unzip";
        const options = readOptions(isGzip ? header : { ...header, rejectGarbageAfterEnd: undefined });
        const windowBits = (options as zlib.BrotliOptions).params?.[
          library.zlib.constants.BROTLI_PARAM_LGWIN
        ];
        if (Number(windowBits) > MAX_WINDOW_BITS)
          throw new RangeError(`a stream of Brotli has a window of at most ${MAX_WINDOW_BITS} bits here`);
        const made = library.zlib[create](options) as unknown as Converter;
        const converter = Object.assign(made, {
          isLarge,
          lastFlush: lastFlushOf(operation),
          readMember: operation === "gunzipMember" ? createMemberReader(made) : undefined,
        });
        // A failed conversion both throws and emits its error.
        converter.on("error", () => {});
        open.set(next, converter);
        return String(next++);
      },
      /** `{id, flush, isLast}` and the next piece → its output. After the last piece or an error the stream is closed. `isStrict` refuses what follows the end. */
      compressionWrite: ({ id, flush, isLast, isStrict }, piece) => {
        const converter = find(id);
        const way = Number(flush);
        if (!Number.isInteger(way) || way < 0 || way > converter.lastFlush)
          throw new RangeError("there is no such way to flush");
        try {
          const output = converter.readMember?.(piece, isLast === true) ?? convert(converter, piece, way);
          if (
            converter.readMember === undefined &&
            isStrict === true &&
            converter.bytesWritten < piece.length
          )
            throw trailingData();
          if (isLast === true) end(Number(id));
          return output;
        } catch (error) {
          end(Number(id));
          throw error;
        }
      },
      /** `{id}` → how many bytes of the last piece were read. */
      compressionRead: ({ id }) => String(find(id).bytesWritten),
      /** `{id, level, strategy}`: changes how the next pieces are compressed. */
      compressionParams: ({ id, level, strategy }) => {
        find(id)._handle?.params?.(Number(level), Number(strategy));
        return "";
      },
      /** `{id}`: starts a stream anew. */
      compressionReset: ({ id }) => {
        find(id)._handle?.reset();
        return "";
      },
      /** `{id}`: frees a stream that was given up. */
      compressionClose: ({ id }) => {
        end(Number(id));
        return "";
      },
    },
    close: () => {
      for (const id of open.keys()) end(id);
    },
  };
}
