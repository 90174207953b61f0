import { Buffer, asBuffer } from "../buffer/buffer.ts";
import { createEncodings, encodingOf } from "../buffer/encodings.ts";
import { createMethods } from "../buffer/methods.ts";
import { createStatics } from "../buffer/statics.ts";
import type { Internals } from "../internals.ts";

const INSPECTED_BYTES = 50;

/** Node's `Buffer`: feross/buffer with Node's encodings, errors and inspection. */
export default function bufferChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const { load } = internals;
  const { prototype } = Buffer;
  const encodings = createEncodings(internals);
  const { encode, decode, decodeUtf8 } = encodings;

  Object.assign(Buffer, createStatics(encodings));
  Object.defineProperty(Buffer, "name", { value: "Buffer" });

  for (const [name, value] of Object.entries(createMethods(encodings))) {
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true, enumerable: true });
  }
  for (const symbol of [Symbol.for("Deno.privateCustomInspect"), Symbol.for("nodejs.util.inspect.custom")]) {
    Object.defineProperty(prototype, symbol, {
      configurable: true,
      value(this: Uint8Array): string {
        const shown = Array.from(this.subarray(0, INSPECTED_BYTES), (byte) =>
          byte.toString(16).padStart(2, "0"),
        ).join(" ");
        const left = this.length - INSPECTED_BYTES;
        return `<Buffer ${shown}${left > 0 ? ` ... ${left} more byte${left > 1 ? "s" : ""}` : ""}>`;
      },
    });
  }
  const constants = { MAX_LENGTH: 9_007_199_254_740_991, MAX_STRING_LENGTH: 536_870_888 };
  const { Blob, File } = load("file");
  const names = {
    Buffer,
    SlowBuffer: Buffer,
    constants,
    kMaxLength: constants.MAX_LENGTH,
    kStringMaxLength: constants.MAX_STRING_LENGTH,
    INSPECT_MAX_BYTES: INSPECTED_BYTES,
    isUtf8,
    isAscii: (bytes: Uint8Array) => bytes.every((byte) => byte < 0x80),
    Blob,
    File,
    atob: (text: string) => (load("text")["atob"] as (text: string) => string)(text),
    btoa: (text: string) => (load("text")["btoa"] as (text: string) => string)(text),
    transcode: (bytes: Uint8Array, from: string, to: string) =>
      asBuffer(encode(forEncoding(decode(bytes, encodingOf(from)), encodingOf(to)), encodingOf(to))),
  };
  /** Replaces the characters that an encoding of single bytes lacks. */
  function forEncoding(text: string, encoding: string): string {
    const most = encoding === "latin1" ? 0xff : encoding === "ascii" ? 0x7f : Number.POSITIVE_INFINITY;
    return Array.from(text, (character) =>
      (character.codePointAt(0) as number) > most ? "?" : character,
    ).join("");
  }
  function isUtf8(bytes: Uint8Array): boolean {
    return !decodeUtf8(bytes).includes("\ufffd");
  }
  return { ...names, default: names };
}
