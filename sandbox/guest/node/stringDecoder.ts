import { encodingOf } from "../buffer/encodings.ts";
import { nodeError, unknownEncoding, wrongArgument } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";

type Buffer = Uint8Array & { toString(encoding?: string): string };
interface BufferType {
  alloc(length: number): Buffer;
  from(buffer: ArrayBufferLike, at: number, length: number): Buffer;
  concat(parts: readonly Uint8Array[]): Buffer;
}
/** A decoder's state, as printing shows it: how many bytes of `lastChar` wait for the rest of a character, and how many it lacks. */
interface Decoder {
  encoding: string;
  lastChar: Buffer;
  enc: number;
  flush: (this: Decoder) => string;
  decode: (this: Decoder, piece: Uint8Array) => string;
  [BUFFERED]: number;
  [MISSING]: number;
}

const BUFFERED = Symbol("bufferedBytes");
const MISSING = Symbol("missingBytes");
/** Encodings by the number that a decoder shows; only the first four have characters of several bytes. */
const ENCODINGS = ["utf8", "base64", "base64url", "utf16le", "ascii", "latin1", "hex"];

/** Creates `node:string_decoder`: what the bytes of a piece begin but don't finish is kept for the next piece. */
export function createStringDecoder({ load }: Internals): Readonly<Record<string, unknown>> {
  const { Buffer } = load("buffer") as unknown as { Buffer: BufferType };

  /** Members, whose names the bundler keeps: a decoder that is printed shows them. */
  const functions = {
    decode: function (this: Decoder, piece: Uint8Array): string {
      const given = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const held = this[BUFFERED];
      if (held > 0) this.lastChar.set(given.subarray(0, this[MISSING]), held);
      const bytes = held > 0 ? Buffer.concat([this.lastChar.subarray(0, held), given]) : given;
      const { length, needed } = unfinished(bytes, this.encoding, held > 0 ? held + this[MISSING] : 0);
      const end = bytes.length - length;
      this.lastChar.set(bytes.subarray(end));
      [this[BUFFERED], this[MISSING]] = [length, needed];
      return Buffer.from(bytes.buffer, bytes.byteOffset, end).toString(this.encoding);
    },
    flush: function (this: Decoder): string {
      const { buffer, byteOffset } = this.lastChar;
      // Half a UTF-16 unit is dropped.
      const length = this.encoding === "utf16le" ? this[BUFFERED] & ~1 : this[BUFFERED];
      [this[BUFFERED], this[MISSING]] = [0, 0];
      return Buffer.from(buffer, byteOffset, length).toString(this.encoding);
    },
  };
  function StringDecoder(this: Decoder, encoding: unknown): void {
    if (typeof encoding !== "string" && encoding !== undefined && encoding !== null)
      throw unknownEncoding(encoding);
    this.encoding = encodingOf(encoding || undefined);
    const number = ENCODINGS.indexOf(this.encoding);
    this.lastChar = Buffer.alloc(number < 4 ? 4 : 0);
    this.enc = number;
    this.flush = functions.flush;
    this.decode = functions.decode;
    [this[BUFFERED], this[MISSING]] = [0, 0];
  }
  Object.defineProperties(
    StringDecoder.prototype,
    Object.getOwnPropertyDescriptors({
      write(this: Decoder, piece: unknown): string {
        if (typeof piece === "string") return piece;
        if (!ArrayBuffer.isView(piece))
          throw wrongArgument("buf", "an instance of Buffer, TypedArray, or DataView", piece);
        if (this[BUFFERED] === undefined)
          throw nodeError("ERR_INVALID_THIS", 'Value of "this" must be of type StringDecoder', TypeError);
        return this.decode(piece as Uint8Array);
      },
      end(this: Decoder & { write(piece: unknown): string }, piece: unknown): string {
        return (piece === undefined ? "" : this.write(piece)) + (this[BUFFERED] > 0 ? this.flush() : "");
      },
      text(this: Decoder & { write(piece: unknown): string }, piece: Uint8Array, offset = 0): string {
        [this[BUFFERED], this[MISSING]] = [0, 0];
        return this.write(piece.subarray(offset));
      },
      get lastNeed(): number {
        return (this as unknown as Decoder)[MISSING];
      },
      get lastTotal(): number {
        return (this as unknown as Decoder)[BUFFERED] + (this as unknown as Decoder)[MISSING];
      },
    }),
  );
  return { StringDecoder, default: { StringDecoder } };
}

/**
 * Returns how many last bytes begin a character or group that they don't finish, and how many it lacks. The first `first` bytes are of one
 * that earlier bytes began.
 */
function unfinished(bytes: Uint8Array, encoding: string, first: number): { length: number; needed: number } {
  const { length } = bytes;
  const none = { length: 0, needed: 0 };
  switch (encoding) {
    case "base64":
    case "base64url":
      return length % 3 === 0 ? none : { length: length % 3, needed: 3 - (length % 3) };
    case "utf16le": {
      if (length < first) return { length, needed: first - length };
      if (length % 2 === 1) return { length: 1, needed: 1 };
      // A lead surrogate is held, unless earlier bytes began it.
      return length > first && ((bytes[length - 1] as number) & 0xfc) === 0xd8
        ? { length: 2, needed: 2 }
        : none;
    }
    case "utf8":
      for (let at = length - 1; at >= 0 && at > length - 4; at--) {
        const lead = bytes[at] as number;
        if ((lead & 0xc0) === 0x80) continue;
        const total = lead >= 0xf8 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
        const found = length - at;
        return found < total ? { length: found, needed: total - found } : none;
      }
      return none;
    default:
      return none;
  }
}
