import { library } from "./library.ts";

/** What Node's streams of `node:zlib` share, with the synchronous conversion that its own `…Sync` functions use. */
export interface Converter {
  readonly bytesWritten: number;
  readonly _processChunk: (piece: Uint8Array, flush: number) => Uint8Array;
  _handle: {
    close: () => void;
    readonly params?: (level: number, strategy: number) => void;
    readonly reset: () => void;
  } | null;
  readonly on: (event: "error", listener: () => void) => void;
}

/** Converts one piece. Node frees the converter's memory after a synchronous conversion, so until `free` it is shown a `close` that doesn't. */
export function convert(converter: Converter, piece: Uint8Array, flush: number): Uint8Array {
  const { ZstdCompress, constants } = library.zlib;
  // Deno ends a frame after its data, and so it doesn't record how many they are.
  if (converter instanceof ZstdCompress && flush === constants.ZSTD_e_end && piece.length > 0)
    return Buffer.concat([
      convert(converter, piece, constants.ZSTD_e_continue),
      convert(converter, Buffer.alloc(0), flush),
    ]);
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

/** Frees a converter's memory. */
export function free(converter: Converter): void {
  converter._handle?.close();
  converter._handle = null;
}
