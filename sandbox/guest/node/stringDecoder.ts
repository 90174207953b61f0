import { encodingOf } from "../buffer/encodings.ts";
import { nodeError, wrongArgument } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";

type Buffer = Uint8Array & { toString(encoding?: string): string };
interface BufferType {
  from(buffer: ArrayBufferLike, at: number, length: number): Buffer;
  concat(parts: readonly Uint8Array[]): Buffer;
}

/** Creates `node:string_decoder`: what the bytes of a piece begin but don't finish is kept for the next piece. */
export function createStringDecoder({ load }: Internals): Readonly<Record<string, unknown>> {
  const { Buffer } = load("buffer") as unknown as { Buffer: BufferType };
  const states = new WeakMap<object, { pending: Uint8Array; needed: number }>();

  class StringDecoder {
    encoding: string;
    constructor(encoding: unknown = undefined) {
      this.encoding = encodingOf(encoding);
      states.set(this, { pending: new Uint8Array(0), needed: 0 });
    }
    write(piece: unknown): string {
      if (typeof piece === "string") return piece;
      if (!ArrayBuffer.isView(piece))
        throw wrongArgument("buf", "an instance of Buffer, TypedArray, or DataView", piece);
      const state = stateOf(this);
      const given = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const bytes = state.pending.length > 0 ? Buffer.concat([state.pending, given]) : given;
      const { length } = bytes;
      const kept = unfinished(bytes, this.encoding);
      state.pending = bytes.slice(length - kept.length);
      state.needed = kept.needed;
      return Buffer.from(bytes.buffer, bytes.byteOffset, length - kept.length).toString(this.encoding);
    }
    end(piece: unknown = undefined): string {
      const text = piece === undefined ? "" : this.write(piece);
      const state = stateOf(this);
      const { pending } = state;
      // Half a UTF-16 unit is dropped.
      const length = this.encoding === "utf16le" ? pending.length & ~1 : pending.length;
      states.set(this, { pending: new Uint8Array(0), needed: 0 });
      return text + Buffer.from(pending.buffer, pending.byteOffset, length).toString(this.encoding);
    }
    text(piece: Uint8Array, offset = 0): string {
      states.set(this, { pending: new Uint8Array(0), needed: 0 });
      return this.write(piece.subarray(offset));
    }
    get lastChar(): Uint8Array {
      const bytes = new Uint8Array(4);
      bytes.set(stateOf(this).pending.subarray(0, 4));
      return Buffer.from(bytes.buffer, 0, 4);
    }
    get lastNeed(): number {
      return stateOf(this).needed;
    }
    get lastTotal(): number {
      const { pending, needed } = stateOf(this);
      return pending.length + needed;
    }
  }
  const stateOf = (decoder: object): { pending: Uint8Array; needed: number } => {
    const state = states.get(decoder);
    if (state !== undefined) return state;
    throw nodeError("ERR_INVALID_THIS", 'Value of "this" must be of type StringDecoder', TypeError);
  };
  return { StringDecoder, default: { StringDecoder } };
}

/** Returns how many last bytes begin a character or group that they don't finish, and how many it lacks. */
function unfinished(bytes: Uint8Array, encoding: string): { length: number; needed: number } {
  const { length } = bytes;
  const none = { length: 0, needed: 0 };
  switch (encoding) {
    case "base64":
    case "base64url":
      return length % 3 === 0 ? none : { length: length % 3, needed: 3 - (length % 3) };
    case "utf16le": {
      if (length % 2 === 1) return { length: 1, needed: 1 };
      return length > 0 && ((bytes[length - 1] as number) & 0xfc) === 0xd8 ? { length: 2, needed: 2 } : none;
    }
    case "utf8":
      for (let at = length - 1; at >= 0 && at > length - 4; at--) {
        const lead = bytes[at] as number;
        if ((lead & 0xc0) === 0x80) continue;
        const total =
          lead >= 0xf0 && lead < 0xf8
            ? 4
            : lead >= 0xe0 && lead < 0xf0
              ? 3
              : lead >= 0xc0 && lead < 0xe0
                ? 2
                : 1;
        const held = length - at;
        return held < total ? { length: held, needed: total - held } : none;
      }
      return none;
    default:
      return none;
  }
}
