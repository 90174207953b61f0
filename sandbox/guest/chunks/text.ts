import { fromBase64, toBase64 } from "../baseCodes.ts";
import { decodeAscii } from "../hostCalls.ts";
import type { Internals } from "../internals.ts";
import { bytesOf, concatBytes, exposeInterface, printGetters, requireArguments, toText } from "../webIdl.ts";

const NO_BYTES = new Uint8Array(0);

/** Encoding Standard: `TextEncoder`, `TextDecoder`; HTML: `atob`, `btoa`. */
export default function textChunk({
  encodeUtf8,
  native,
  load,
}: Internals): Readonly<Record<string, unknown>> {
  class TextEncoder {
    get encoding(): string {
      return "utf-8";
    }
    encode(input: unknown = ""): Uint8Array {
      return encodeUtf8(toText(input));
    }
    encodeInto(source: unknown, destination: Uint8Array): { read: number; written: number } {
      requireArguments(arguments.length, 2, "Failed to execute 'encodeInto' on 'TextEncoder'");
      let read = 0;
      let written = 0;
      for (const character of toText(source)) {
        const bytes = encodeUtf8(character);
        if (written + bytes.length > destination.length) break;
        destination.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }

  class TextDecoder {
    readonly #encoding: string;
    readonly #fatal: boolean;
    readonly #ignoreBOM: boolean;
    /** Input not yet emitted: an incomplete UTF-8 sequence, or for other encodings the whole input so far. */
    #pending: Uint8Array = NO_BYTES;
    #emitted = 0;
    #started = false;

    constructor(label: unknown = "utf-8", options: { fatal?: unknown; ignoreBOM?: unknown } = {}) {
      const name = toText(label);
      this.#fatal = Boolean(options?.fatal);
      this.#ignoreBOM = Boolean(options?.ignoreBOM);
      this.#encoding = /^\s*utf-?8\s*$/i.test(name) ? "utf-8" : encodingName(name);
    }
    get encoding(): string {
      return this.#encoding;
    }
    get fatal(): boolean {
      return this.#fatal;
    }
    get ignoreBOM(): boolean {
      return this.#ignoreBOM;
    }
    decode(input: unknown = NO_BYTES, options: { stream?: unknown } = {}): string {
      const given = bytesOf(input);
      if (given === undefined) {
        throw new TypeError(
          "Failed to execute 'decode' on 'TextDecoder': Argument 1 is not an ArrayBuffer, SharedArrayBuffer, or a view on one",
        );
      }
      const stream = Boolean(options?.stream);
      if (this.#encoding !== "utf-8") return this.#decodeOther(given, stream);
      let bytes = this.#pending.length > 0 ? concatBytes([this.#pending, given]) : given;
      this.#pending = NO_BYTES;
      if (stream) {
        const whole = wholeLength(bytes);
        this.#pending = bytes.slice(whole);
        bytes = bytes.subarray(0, whole);
      }
      const text = decodeUtf8(bytes, this.#fatal, this.#ignoreBOM || this.#started);
      this.#started = stream && (this.#started || bytes.length > 0);
      return text;
    }
    #decodeOther(given: Uint8Array, stream: boolean): string {
      const all = concatBytes([this.#pending, given]);
      const text = decodeWith(all, {
        encoding: this.#encoding,
        fatal: this.#fatal,
        ignoreBOM: this.#ignoreBOM,
        stream,
      });
      const fresh = text.slice(this.#emitted);
      this.#pending = stream ? all : NO_BYTES;
      this.#emitted = stream ? text.length : 0;
      return fresh;
    }
  }

  function encodingName(label: string): string {
    try {
      return native("encodingName", { label }) as string;
    } catch {
      throw new RangeError(`The encoding label provided ('${label}') is invalid.`);
    }
  }

  function decodeWith(bytes: Uint8Array, header: object): string {
    try {
      return native("decode", header, bytes) as string;
    } catch {
      throw new TypeError("The encoded data is not valid");
    }
  }

  function decodeUtf8(bytes: Uint8Array, fatal = false, keepMark = false): string {
    let at = 0;
    while (at < bytes.length && (bytes[at] as number) < 0x80) at++;
    if (at === bytes.length) return decodeAscii(bytes);
    return decodeWith(bytes, { encoding: "utf-8", fatal, ignoreBOM: keepMark });
  }

  const domException = (message: string): Error =>
    new (load("events")["DOMException"] as new (message: string, name: string) => Error)(
      message,
      "InvalidCharacterError",
    );

  function atob(data: unknown): string {
    requireArguments(arguments.length, 1, "Failed to execute 'atob'");
    const text = toText(data).replace(/[\t\n\f\r ]+/g, "");
    const body = text.length % 4 === 0 ? text.replace(/==?$/, "") : text;
    if (body.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(body)) throw domException("Failed to decode base64");
    return toBinaryText(fromBase64(body));
  }

  function btoa(data: unknown): string {
    requireArguments(arguments.length, 1, "Failed to execute 'btoa'");
    const text = toText(data);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit > 0xff)
        throw domException("Cannot encode string: string contains characters outside of the Latin1 range");
      bytes[at] = unit;
    }
    return toBase64(bytes);
  }

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

/** Returns how many leading bytes are complete or already invalid UTF-8 sequences; the rest may be the start of one. */
function wholeLength(bytes: Uint8Array): number {
  const from = Math.max(0, bytes.length - 3);
  for (let at = bytes.length - 1; at >= from; at--) {
    const byte = bytes[at] as number;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return bytes.length - at < needed ? at : bytes.length;
  }
  return bytes.length;
}
