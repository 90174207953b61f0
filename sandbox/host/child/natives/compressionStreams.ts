import * as zlib from "node:zlib";
import type { Native } from "./native.ts";

/** Streams that a run may have open at once; the largest kind takes some 0.5 MB of this process. */
const MAX_STREAMS = 64;
/** Longest output for one piece of input, in bytes: a small piece can expand to gigabytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** What Node's streams of `node:zlib` share, with the synchronous conversion that its own `…Sync` functions use. */
interface Converter {
  readonly bytesWritten: number;
  readonly _processChunk: (piece: Uint8Array, flush: number) => Uint8Array;
  _handle: { close: () => void } | null;
  readonly on: (event: "error", listener: () => void) => void;
}

/** Converts one piece. Node frees the converter's memory after a synchronous conversion, so until `free` it is shown a `close` that doesn't. */
function convert(converter: Converter, piece: Uint8Array, flush: number): Uint8Array {
  const handle = converter._handle;
  if (handle === null) throw new TypeError("resource is closed");
  const { close } = handle;
  handle.close = () => {};
  try {
    return converter._processChunk(piece, flush);
  } finally {
    handle.close = close;
    converter._handle = handle;
  }
}

function free(converter: Converter): void {
  converter._handle?.close();
  converter._handle = null;
}

const ZLIB = { maxOutputLength: MAX_OUTPUT_BYTES };
const BROTLI = {
  maxOutputLength: MAX_OUTPUT_BYTES,
  params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 6, [zlib.constants.BROTLI_PARAM_LGWIN]: 22 },
};
const CREATE: Readonly<Record<string, () => unknown>> = {
  gzip: () => zlib.createGzip(ZLIB),
  deflate: () => zlib.createDeflate(ZLIB),
  "deflate-raw": () => zlib.createDeflateRaw(ZLIB),
  brotli: () => zlib.createBrotliCompress(BROTLI),
  gunzip: () => zlib.createGunzip(ZLIB),
  inflate: () => zlib.createInflate(ZLIB),
  "inflate-raw": () => zlib.createInflateRaw(ZLIB),
  unbrotli: () => zlib.createBrotliDecompress({ maxOutputLength: MAX_OUTPUT_BYTES }),
};

/** The compression streams of one run, which convert each piece as it comes. */
export interface CompressionStreams {
  readonly natives: Readonly<Record<string, Native>>;
  /** Frees all of them. */
  readonly close: () => void;
}

export function createCompressionStreams(): CompressionStreams {
  const open = new Map<number, { readonly converter: Converter; readonly kind: string }>();
  let next = 1;

  function end(id: number): void {
    const stream = open.get(id);
    if (stream !== undefined) free(stream.converter);
    open.delete(id);
  }

  return {
    natives: {
      /** `{kind}` → the stream's number. */
      compressionOpen: ({ kind }) => {
        const create = Object.hasOwn(CREATE, String(kind)) ? CREATE[String(kind)] : undefined;
        if (create === undefined) throw new TypeError("Unsupported format");
        if (open.size >= MAX_STREAMS)
          throw new TypeError(`more than ${MAX_STREAMS} compression streams are open`);
        const converter = create() as Converter;
        // A failed conversion both throws and emits its error.
        converter.on("error", () => {});
        open.set(next, { converter, kind: String(kind) });
        return String(next++);
      },
      /** `{id, isLast}` and the next piece → its output. After the last piece or an error the stream is closed. */
      compressionWrite: ({ id, isLast }, piece) => {
        const stream = open.get(Number(id));
        if (stream === undefined) throw new TypeError("resource is closed");
        const { converter, kind } = stream;
        const { BROTLI_OPERATION_FINISH, BROTLI_OPERATION_FLUSH, Z_FINISH, Z_SYNC_FLUSH } = zlib.constants;
        const [flush, finish] = kind.endsWith("brotli")
          ? [BROTLI_OPERATION_FLUSH, BROTLI_OPERATION_FINISH]
          : // Deno doesn't notice when deflated data end too early.
            [Z_SYNC_FLUSH, kind.startsWith("inflate") ? Z_SYNC_FLUSH : Z_FINISH];
        try {
          const output = convert(converter, piece, isLast === true ? finish : flush);
          if (converter.bytesWritten < piece.length)
            throw new TypeError("trailing data after the end of the stream");
          if (isLast === true) end(Number(id));
          return output;
        } catch (error) {
          end(Number(id));
          throw error;
        }
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
