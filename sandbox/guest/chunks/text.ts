import { fromBase64, toBase64 } from "../baseCodes.ts";
import {
  boolean,
  bufferSource,
  conversionError,
  dictionary,
  scalarString,
  string,
  withCode,
} from "../convert.ts";
import { decodeAscii } from "../hostCalls.ts";
import type { Internals } from "../internals.ts";
import * as types from "../types.ts";
import { concatBytes, defineGetters, exposeInterface, printGetters, requireArguments } from "../webIdl.ts";

const NO_BYTES = new Uint8Array(0);
const readOptions = dictionary<{ fatal: boolean; ignoreBOM: boolean }>("TextDecoderOptions", {
  fatal: [boolean, false],
  ignoreBOM: [boolean, false],
});
const readDecodeOptions = dictionary<{ stream: boolean }>("TextDecodeOptions", { stream: [boolean, false] });
const readSource = bufferSource(true);

/** Decodes the next piece of a text; `stream` says that more follows. */
type Decode = (bytes: Uint8Array, stream: boolean) => string;

/** Encoding Standard: `TextEncoder`, `TextDecoder`; HTML: `atob`, `btoa`. */
export default function textChunk({
  encodeUtf8,
  native,
  load,
  exception,
}: Internals): Readonly<Record<string, unknown>> {
  const encodings = () =>
    load("encodings") as {
      readonly encodingOf: (label: string) => string | null;
      readonly createDecoder: (name: string, options: { fatal: boolean; ignoreBOM: boolean }) => Decode;
    };

  class TextEncoder {
    get encoding(): string {
      return "utf-8";
    }
    encode(input: unknown = ""): Uint8Array {
      return encodeUtf8(string(input, "Failed to execute 'encode' on 'TextEncoder'", "Argument 1"));
    }
    encodeInto(source: unknown, destination: Uint8Array): { read: number; written: number } {
      const prefix = "Failed to execute 'encodeInto' on 'TextEncoder'";
      const text = scalarString(source, prefix, "Argument 1");
      if (types.typedArrayName(destination) !== "Uint8Array")
        throw conversionError("is not an Uint8Array object", prefix, "Argument 2");
      const room = destination.length;
      let read = 0;
      let written = 0;
      // A UTF-16 unit takes at least one byte, so nothing behind the first `room` of them fits.
      for (const character of text.slice(0, room)) {
        const bytes = encodeUtf8(character);
        if (written + bytes.length > room) break;
        destination.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }

  class TextDecoder {
    readonly #fields: { readonly encoding: string; readonly fatal: boolean; readonly ignoreBOM: boolean };
    /** Decoder of the stream in progress; undefined between two. */
    #decode: Decode | undefined;
    static fieldsOf(decoder: TextDecoder) {
      return decoder.#fields;
    }
    constructor(label: unknown = "utf-8", options: unknown = undefined) {
      const prefix = "Failed to construct 'TextDecoder'";
      const name = string(label);
      const { fatal, ignoreBOM } = readOptions(options, prefix, "Argument 2");
      this.#fields = { encoding: encodingName(name), fatal, ignoreBOM };
    }
    decode(input: unknown = NO_BYTES, options: unknown = undefined): string {
      const prefix = "Failed to execute 'decode' on 'TextDecoder'";
      const bytes = readSource(input, prefix, "Argument 1");
      const { stream } = readDecodeOptions(options, prefix, "Argument 2");
      if (stream && bytes.length === 0) return "";
      const decode = (this.#decode ??= createDecoder(this.#fields.encoding, this.#fields));
      if (!stream) this.#decode = undefined;
      try {
        return decode(bytes, stream);
      } catch {
        throw new TypeError("The encoded data is not valid");
      }
    }
  }

  function encodingName(label: string): string {
    if (/^[\t\n\f\r ]*utf-?8[\t\n\f\r ]*$/i.test(label)) return "utf-8";
    const name = encodings().encodingOf(label);
    if (name !== null) return name;
    throw withCode(
      new RangeError(`The encoding label provided ('${label}') is invalid.`),
      "ERR_ENCODING_NOT_SUPPORTED",
    );
  }

  function createDecoder(name: string, options: { fatal: boolean; ignoreBOM: boolean }): Decode {
    if (name !== "utf-8") return encodings().createDecoder(name, options);
    /** The start of a sequence that the next piece may complete. */
    let pending: Uint8Array = NO_BYTES;
    let keepsMark = options.ignoreBOM;
    return (given, stream) => {
      const bytes = pending.length > 0 ? concatBytes([pending, given]) : given;
      const whole = stream ? wholeLength(bytes) : bytes.length;
      pending = bytes.slice(whole);
      // A mark counts only at the start of the text.
      const ignoreBOM = keepsMark;
      keepsMark ||= whole > 0;
      try {
        return decodeUtf8(bytes.subarray(0, whole), options.fatal, ignoreBOM);
      } catch (error) {
        pending = NO_BYTES;
        throw error;
      }
    };
  }

  function decodeUtf8(bytes: Uint8Array, fatal = false, ignoreBOM = false): string {
    let at = 0;
    while (at < bytes.length && (bytes[at] as number) < 0x80) at++;
    if (at === bytes.length) return decodeAscii(bytes);
    return native("decodeUtf8", { fatal, ignoreBOM }, bytes) as string;
  }

  const domException = (message: string): Error => exception(message, "InvalidCharacterError");

  function atob(data: unknown): string {
    requireArguments(arguments.length, 1, "Failed to execute 'atob'");
    const text = string(data, "", "").replace(/[\t\n\f\r ]+/g, "");
    const body = text.length % 4 === 0 ? text.replace(/==?$/, "") : text;
    if (/[^\0-\xff]/.test(body)) throw domException("Failed to decode base64: invalid character");
    if (body.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(body)) throw domException("Failed to decode base64");
    return toBinaryText(fromBase64(body));
  }

  function btoa(data: unknown): string {
    requireArguments(arguments.length, 1, "Failed to execute 'btoa'");
    const text = string(data, "", "");
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit > 0xff)
        throw domException("Cannot encode string: string contains characters outside of the Latin1 range");
      bytes[at] = unit;
    }
    return toBase64(bytes);
  }

  const { fieldsOf } = TextDecoder;
  delete (TextDecoder as { fieldsOf?: unknown }).fieldsOf;
  defineGetters(TextDecoder, ["encoding", "fatal", "ignoreBOM"], fieldsOf, ["decode"]);
  exposeInterface(TextEncoder);
  exposeInterface(TextDecoder);
  printGetters(TextEncoder, ["encoding"]);
  printGetters(TextDecoder, ["encoding", "fatal", "ignoreBOM"]);
  return { TextEncoder, TextDecoder, atob, btoa, decodeUtf8 };
}

function toBinaryText(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return text;
}

/** Returns how many leading bytes are whole or invalid UTF-8 sequences; the rest is the valid start of one (Encoding Standard, UTF-8 decoder). */
function wholeLength(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let at = length - 1; at >= 0 && at > length - 4; at--) {
    const lead = bytes[at] as number;
    if ((lead & 0xc0) === 0x80) continue;
    const needed = lead < 0xc2 || lead > 0xf4 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length - at >= needed) return length;
    const second = bytes[at + 1];
    const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    return second !== undefined && (second < lowest || second > highest) ? length : at;
  }
  return length;
}
