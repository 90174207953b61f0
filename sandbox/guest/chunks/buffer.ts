import * as feross from "buffer/";
import { describe, outOfRange, wrongType } from "../buffer/errors.ts";
import { numberMethods } from "../buffer/numbers.ts";
import type { Internals } from "../internals.ts";
import { bytesOf } from "../webIdl.ts";

type Bytes = Uint8Array<ArrayBuffer>;
interface BufferType {
  new (...args: unknown[]): Bytes;
  readonly prototype: Record<PropertyKey, unknown> & object;
  from(value: unknown, ...more: unknown[]): Bytes;
  alloc(size: number, fill?: unknown, encoding?: string): Bytes;
  [name: string]: unknown;
}

const ENCODINGS: Readonly<Record<string, string>> = {
  utf8: "utf8",
  "utf-8": "utf8",
  ucs2: "utf16le",
  "ucs-2": "utf16le",
  utf16le: "utf16le",
  "utf-16le": "utf16le",
  latin1: "latin1",
  binary: "latin1",
  ascii: "ascii",
  hex: "hex",
  base64: "base64",
  base64url: "base64url",
};
const INSPECTED_BYTES = 50;

/** Node's `Buffer`: feross/buffer with the encodings, the errors and the printing of Node's own. */
export default function bufferChunk({ load, encodeUtf8 }: Internals): Readonly<Record<string, unknown>> {
  const Buffer = feross.Buffer as unknown as BufferType;
  const { prototype } = Buffer;
  const decodeUtf8 = (bytes: Uint8Array): string =>
    (load("text")["decodeUtf8"] as (bytes: Uint8Array, fatal: boolean, keepMark: boolean) => string)(
      bytes,
      false,
      true,
    );
  const asBuffer = (bytes: Uint8Array): Bytes => Object.setPrototypeOf(bytes, prototype) as Bytes;

  function encodingOf(encoding: unknown): string {
    if (encoding === undefined || encoding === null || encoding === "") return "utf8";
    const known = ENCODINGS[String(encoding).toLowerCase()];
    if (known === undefined || typeof encoding !== "string") {
      throw Object.assign(new TypeError(`Unknown encoding: ${String(encoding)}`), {
        code: "ERR_UNKNOWN_ENCODING",
      });
    }
    return known;
  }

  function encode(text: string, encoding: string): Bytes {
    switch (encoding) {
      case "utf8":
        return encodeUtf8(text) as Bytes;
      case "hex":
        return fromHex(text);
      case "base64":
      case "base64url":
        return fromBase64(text);
      case "utf16le": {
        const bytes = new Uint8Array(text.length * 2);
        for (let at = 0; at < text.length; at++) {
          const unit = text.charCodeAt(at);
          bytes[at * 2] = unit;
          bytes[at * 2 + 1] = unit >> 8;
        }
        return bytes;
      }
      default:
        return fillLatin1(text);
    }
  }

  function decode(bytes: Uint8Array, encoding: string): string {
    switch (encoding) {
      case "utf8":
        return decodeUtf8(bytes);
      case "hex":
        return (Uint8Array.prototype as unknown as { toHex(): string }).toHex.call(bytes);
      case "base64":
        return toBase64(bytes);
      case "base64url":
        return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
      case "utf16le": {
        let text = "";
        for (let at = 0; at + 1 < bytes.length; at += 2)
          text += String.fromCharCode((bytes[at] as number) | ((bytes[at + 1] as number) << 8));
        return text;
      }
      case "ascii": {
        let text = "";
        for (const byte of bytes) text += String.fromCharCode(byte & 0x7f);
        return text;
      }
      default: {
        let text = "";
        for (const byte of bytes) text += String.fromCharCode(byte);
        return text;
      }
    }
  }

  const statics: Record<string, unknown> = {
    from(value: unknown, second?: unknown, third?: unknown): Bytes {
      if (typeof value === "string") return asBuffer(encode(value, encodingOf(second)));
      if (typeof value === "object" && value !== null) {
        if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
          const offset = second === undefined ? 0 : Number(second) || 0;
          if (offset > value.byteLength)
            throw Object.assign(new RangeError('"offset" is outside of buffer bounds'), {
              code: "ERR_BUFFER_OUT_OF_BOUNDS",
            });
          const length = third === undefined ? value.byteLength - offset : Math.max(0, Number(third) || 0);
          if (length > value.byteLength - offset)
            throw Object.assign(new RangeError('"length" is outside of buffer bounds'), {
              code: "ERR_BUFFER_OUT_OF_BOUNDS",
            });
          return asBuffer(new Uint8Array(value as ArrayBuffer, offset, length));
        }
        const inner = (value as { valueOf?: () => unknown }).valueOf?.();
        if (
          inner !== undefined &&
          inner !== null &&
          inner !== value &&
          (typeof inner === "string" || typeof inner === "object")
        ) {
          return Buffer.from(inner, second, third);
        }
        const list = value as { length?: unknown; type?: unknown; data?: unknown };
        if (list.length !== undefined || ArrayBuffer.isView(value)) {
          return asBuffer(
            typeof list.length === "number" ? toBytes(list as ArrayLike<unknown>) : new Uint8Array(0),
          );
        }
        if (list.type === "Buffer" && Array.isArray(list.data)) return asBuffer(toBytes(list.data));
        const primitive = (value as Record<symbol, unknown>)[Symbol.toPrimitive];
        if (typeof primitive === "function") {
          const text: unknown = primitive.call(value, "string");
          if (typeof text === "string") return Buffer.from(text, second);
        }
      }
      throw Object.assign(
        new TypeError(
          `The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received ${describe(value)}`,
        ),
        { code: "ERR_INVALID_ARG_TYPE" },
      );
    },
    alloc(size: unknown, fill?: unknown, encoding?: unknown): Bytes {
      const made = asBuffer(new Uint8Array(checkLength(size)));
      return fill !== undefined && fill !== 0 && made.length > 0
        ? (made as unknown as { fill(value: unknown, encoding: unknown): Bytes }).fill(fill, encoding)
        : made;
    },
    allocUnsafe: (size: unknown): Bytes => asBuffer(new Uint8Array(checkLength(size))),
    allocUnsafeSlow: (size: unknown): Bytes => asBuffer(new Uint8Array(checkLength(size))),
    byteLength(value: unknown, encoding?: unknown): number {
      const bytes = bytesOf(value);
      if (bytes !== undefined) return bytes.length;
      if (typeof value !== "string")
        throw Object.assign(
          new TypeError(
            `The "string" argument must be of type string or an instance of Buffer or ArrayBuffer. Received ${describe(value)}`,
          ),
          { code: "ERR_INVALID_ARG_TYPE" },
        );
      const name = ENCODINGS[String(encoding ?? "utf8").toLowerCase()] ?? "utf8";
      if (name === "base64" || name === "base64url")
        return Math.floor((value.replace(/=+$/, "").length * 3) / 4);
      return name === "hex" ? value.length >>> 1 : encode(value, name).length;
    },
    isEncoding: (encoding: unknown): boolean =>
      typeof encoding === "string" && encoding.toLowerCase() in ENCODINGS,
    concat(list: unknown, length?: unknown): Bytes {
      if (!Array.isArray(list))
        throw Object.assign(
          new TypeError(`The "list" argument must be an instance of Array. Received ${describe(list)}`),
          { code: "ERR_INVALID_ARG_TYPE" },
        );
      const parts = list.map((part: unknown, at) => {
        if (!(part instanceof Uint8Array))
          throw Object.assign(
            new TypeError(
              `The "list[${at}]" argument must be an instance of Buffer or Uint8Array. Received ${describe(part)}`,
            ),
            { code: "ERR_INVALID_ARG_TYPE" },
          );
        return part;
      });
      const total =
        length === undefined ? parts.reduce((sum, part) => sum + part.length, 0) : checkLength(length);
      const joined = new Uint8Array(total);
      let at = 0;
      for (const part of parts) {
        if (at >= total) break;
        joined.set(part.subarray(0, total - at), at);
        at += part.length;
      }
      return asBuffer(joined);
    },
    copyBytesFrom: (view: Uint8Array, offset = 0, length?: number): Bytes =>
      asBuffer(new Uint8Array(view.slice(offset, length === undefined ? undefined : offset + length).buffer)),
    compare: (a: unknown, b: unknown): number => compareBytes(checkBytes(a, "buf1"), checkBytes(b, "buf2")),
    poolSize: 8_192,
  };
  /** Position of a byte or a run of bytes, searched upwards or downwards. */
  function search(bytes: Uint8Array, value: unknown, from: unknown, encoding: unknown, step: 1 | -1): number {
    const name = typeof from === "string" ? from : encoding;
    const start =
      typeof from === "string" || from === undefined ? (step > 0 ? 0 : bytes.length) : Number(from);
    if (typeof value === "number") {
      return step > 0
        ? Uint8Array.prototype.indexOf.call(bytes, value & 255, start)
        : Uint8Array.prototype.lastIndexOf.call(bytes, value & 255, start);
    }
    const wanted = typeof value === "string" ? encode(value, encodingOf(name)) : bytesOf(value);
    if (wanted === undefined) {
      throw Object.assign(
        new TypeError(
          `The "value" argument must be one of type number or string or an instance of Buffer or Uint8Array. Received ${describe(value)}`,
        ),
        { code: "ERR_INVALID_ARG_TYPE" },
      );
    }
    let at = Number.isNaN(start) ? (step > 0 ? 0 : bytes.length) : start < 0 ? start + bytes.length : start;
    if (wanted.length === 0) return Math.min(Math.max(at, 0), bytes.length);
    at = step > 0 ? Math.max(at, 0) : Math.min(at, bytes.length - wanted.length);
    for (; at >= 0 && at + wanted.length <= bytes.length; at += step) {
      if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
    }
    return -1;
  }

  Object.assign(Buffer, statics);
  Object.defineProperty(Buffer, "name", { value: "Buffer" });

  const methods: Record<string, unknown> = {
    ...numberMethods(),
    toString(this: Uint8Array, encoding?: unknown, start: unknown = 0, end: unknown = this.length): string {
      if (arguments.length === 0) return decode(this, "utf8");
      const from = clamp(start, 0, this.length);
      const to = clamp(end, this.length, this.length);
      return to <= from ? "" : decode(this.subarray(from, to), encodingOf(encoding));
    },
    write(this: Uint8Array, text: unknown, offset?: unknown, length?: unknown, encoding?: unknown): number {
      if (typeof text !== "string") throw wrongType("string", "string", text);
      let at = 0;
      let room = this.length;
      let name = encoding;
      if (typeof offset === "string") name = offset;
      else if (offset !== undefined) {
        at = Number(offset);
        if (at < 0 || at > this.length) throw outOfRange("offset", `>= 0 and <= ${this.length}`, at);
        room = this.length - at;
        if (typeof length === "string") name = length;
        else if (length !== undefined) room = Math.min(room, Number(length));
      }
      const kind = encodingOf(name);
      let bytes = encode(text, kind);
      if (bytes.length > room) {
        // No part of a character is written.
        let kept = room;
        if (kind === "utf8") while (kept > 0 && ((bytes[kept] as number) & 0xc0) === 0x80) kept--;
        if (kind === "utf16le") kept &= ~1;
        bytes = bytes.subarray(0, kept);
      }
      this.set(bytes, at);
      return bytes.length;
    },
    fill(this: Uint8Array, value: unknown, offset?: unknown, end?: unknown, encoding?: unknown): Uint8Array {
      const name = typeof offset === "string" ? offset : typeof end === "string" ? end : encoding;
      const from = typeof offset === "number" ? offset : 0;
      const to = typeof end === "number" ? end : this.length;
      const pattern = typeof value === "string" ? encode(value, encodingOf(name)) : bytesOf(value);
      if (pattern === undefined) Uint8Array.prototype.fill.call(this, Number(value) & 255, from, to);
      else if (pattern.length === 0) Uint8Array.prototype.fill.call(this, 0, from, to);
      else for (let at = from; at < to; at++) this[at] = pattern[(at - from) % pattern.length] as number;
      return this;
    },
    equals(this: Uint8Array, other: unknown): boolean {
      return compareBytes(this, checkBytes(other, "otherBuffer")) === 0;
    },
    compare(
      this: Uint8Array,
      target: unknown,
      targetStart?: number,
      targetEnd?: number,
      start?: number,
      end?: number,
    ): number {
      return compareBytes(
        asPlain(this).subarray(start, end),
        asPlain(checkBytes(target, "target")).subarray(targetStart, targetEnd),
      );
    },
    indexOf(this: Uint8Array, value: unknown, from?: unknown, encoding?: unknown): number {
      return search(this, value, from, encoding, 1);
    },
    lastIndexOf(this: Uint8Array, value: unknown, from?: unknown, encoding?: unknown): number {
      return search(this, value, from, encoding, -1);
    },
    includes(this: Uint8Array, value: unknown, from?: unknown, encoding?: unknown): boolean {
      return search(this, value, from, encoding, 1) >= 0;
    },
    toLocaleString(this: { toString(): string }): string {
      return this.toString();
    },
    toJSON(this: Uint8Array): object {
      return { type: "Buffer", data: [...this] };
    },
    subarray(this: Uint8Array, start?: number, end?: number): Bytes {
      return asBuffer(Uint8Array.prototype.subarray.call(asPlain(this), start, end));
    },
    slice(this: Uint8Array, start?: number, end?: number): Bytes {
      return asBuffer(Uint8Array.prototype.subarray.call(asPlain(this), start, end));
    },
  };
  for (const encoding of ["utf8", "hex", "base64", "base64url", "latin1", "ascii", "ucs2"]) {
    methods[`${encoding}Slice`] = function slice(this: Uint8Array, start = 0, end = this.length) {
      return decode(this.subarray(start, end), ENCODINGS[encoding] as string);
    };
    methods[`${encoding}Write`] = function write(
      this: { write(...args: unknown[]): number },
      text: string,
      offset?: number,
      length?: number,
    ) {
      return this.write(text, offset ?? 0, length, encoding);
    };
  }
  for (const [name, value] of Object.entries(methods)) {
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
  const { Blob, File } = lazyFiles(load);
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
      asBuffer(encode(decode(bytes, encodingOf(from)), encodingOf(to))),
  };
  function isUtf8(bytes: Uint8Array): boolean {
    return !decodeUtf8(bytes).includes("\ufffd");
  }
  return { ...names, default: names };
}

function lazyFiles(load: Internals["load"]): { readonly Blob: unknown; readonly File: unknown } {
  const files = load("file");
  return { Blob: files["Blob"], File: files["File"] };
}

/** The same bytes as a plain `Uint8Array`, whose methods then make plain ones. */
function asPlain(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function checkBytes(value: unknown, name: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw Object.assign(
    new TypeError(
      `The "${name}" argument must be an instance of Buffer or Uint8Array. Received ${describe(value)}`,
    ),
    { code: "ERR_INVALID_ARG_TYPE" },
  );
}

function compareBytes(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

function toBytes(list: ArrayLike<unknown>): Bytes {
  const bytes = new Uint8Array(list.length);
  for (let at = 0; at < list.length; at++) bytes[at] = Number(list[at]);
  return bytes;
}

function fillLatin1(text: string): Bytes {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

function fromHex(text: string): Bytes {
  const pairs = /^(?:[0-9a-fA-F]{2})*/.exec(text)?.[0] ?? "";
  return (Uint8Array as unknown as { fromHex(text: string): Bytes }).fromHex(pairs);
}

function fromBase64(text: string): Bytes {
  const body = text
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/=[^]*$/, "")
    .replace(/[^A-Za-z0-9+/]/g, "");
  const kept = body.length % 4 === 1 ? body.slice(0, -1) : body;
  return (Uint8Array as unknown as { fromBase64(text: string, options: object): Bytes }).fromBase64(kept, {
    lastChunkHandling: "loose",
  });
}

const toBase64 = (bytes: Uint8Array): string =>
  (Uint8Array.prototype as unknown as { toBase64(): string }).toBase64.call(bytes);

function clamp(value: unknown, fallback: number, max: number): number {
  const number = value === undefined ? fallback : Math.trunc(Number(value)) || 0;
  return Math.min(Math.max(number, 0), max);
}

function checkLength(size: unknown): number {
  if (typeof size !== "number") throw wrongType("size", "number", size);
  if (!(size >= 0 && size <= 9_007_199_254_740_991))
    throw outOfRange("size", ">= 0 && <= 9007199254740991", size);
  return Math.trunc(size);
}
