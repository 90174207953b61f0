import * as types from "../types.ts";
import { Buffer, type Bytes, asBuffer } from "./buffer.ts";
import { checkBytes, compareBytes } from "./compare.ts";
import { ENCODINGS, type Encodings, encodingOf } from "./encodings.ts";
import {
  checkInteger,
  invalidArgument,
  nodeError,
  outOfBounds,
  outOfRange,
  wrongArgument,
  wrongType,
} from "./errors.ts";
import { numberMethods } from "./numbers.ts";

/** Checks where to begin or end; a fraction is dropped. */
function checkBound(value: unknown, name: string, max: number): number {
  if (typeof value !== "number") throw wrongType(name, "number", value);
  if (!(value >= 0 && value <= max)) throw outOfRange(name, `>= 0 && <= ${max}`, value);
  return Math.trunc(value);
}

/** Creates the methods of every buffer. */
export function createMethods({ encode, decode }: Encodings): Record<string, unknown> {
  const copy = Buffer.prototype["copy"] as (...args: unknown[]) => unknown;
  const methods: Record<string, unknown> = {
    ...numberMethods(),
    toString(this: Uint8Array, encoding?: unknown, start: unknown = 0, end: unknown = this.length): string {
      if (arguments.length === 0) return decode(this, "utf8");
      const from = clamp(start, 0, this.length);
      const to = clamp(end, this.length, this.length);
      return to <= from ? "" : decode(this.subarray(from, to), encodingOf(encoding));
    },
    write(this: Uint8Array, text: unknown, offset?: unknown, length?: unknown, encoding?: unknown): number {
      if (typeof text !== "string") throw wrongType("argument", "string", undefined);
      let at = 0;
      let room = this.length;
      let name = offset === undefined ? undefined : encoding;
      if (typeof offset === "string" && length === undefined) name = offset;
      else if (offset !== undefined) {
        at = checkInteger(offset, "offset", 0, this.length);
        room = this.length - at;
        if (typeof length === "string") name = length;
        else if (length !== undefined)
          // None is as good as all there is.
          room = Math.min(room, checkInteger(length, "length", 0, this.length) || room);
      }
      const kind = encodingOf(name || undefined);
      let bytes = encode(text, kind);
      if (bytes.length > room) {
        // Never write part of a character.
        let kept = room;
        if (kind === "utf8") while (kept > 0 && ((bytes[kept] as number) & 0xc0) === 0x80) kept--;
        if (kind === "utf16le") kept &= ~1;
        bytes = bytes.subarray(0, kept);
      }
      this.set(bytes, at);
      return bytes.length;
    },
    fill(this: Uint8Array, value: unknown, offset?: unknown, end?: unknown, encoding?: unknown): Uint8Array {
      let [name, start, stop] = [undefined as unknown, offset, end];
      if (typeof value === "string") {
        if (offset === undefined || typeof offset === "string") [name, start] = [offset, undefined];
        else if (typeof end === "string") [name, stop] = [end, undefined];
        else name = encoding;
        if (name !== undefined && typeof name !== "string") throw wrongType("encoding", "string", name);
      } else if (typeof offset === "string") [start, stop] = [undefined, undefined];
      const from = start === undefined ? 0 : checkBound(start, "start", Number.MAX_SAFE_INTEGER);
      const to =
        stop === undefined
          ? this.length
          : start === undefined
            ? (stop as number) >>> 0
            : checkBound(stop, "end", this.length);
      if (Math.max(from, to) > this.length) throw new RangeError("Out of range index");
      const pattern =
        typeof value === "string"
          ? encode(value, encodingOf(name))
          : types.isTypedArray(value)
            ? Uint8Array.from(value as Uint8Array)
            : value instanceof DataView
              ? new Uint8Array(0)
              : undefined;
      if (pattern === undefined || value === "")
        Uint8Array.prototype.fill.call(this, Number(value) & 255, from, to);
      else if (pattern.length === 0 && to > from) throw invalidArgument("value", value);
      else for (let at = from; at < to; at++) this[at] = pattern[(at - from) % pattern.length] as number;
      return this;
    },
    copy(this: Uint8Array, target: unknown, ...more: unknown[]): number {
      const bytes = ArrayBuffer.isView(target) ? asPlain(target) : checkBytes(target, "target");
      const numbers = more.map((given) =>
        given === undefined ? undefined : Math.trunc(+(given as string)) || 0,
      );
      const [at, from, to] = numbers;
      if (at !== undefined && at < 0) throw outOfRange("targetStart", ">= 0", at);
      if (from !== undefined && (from < 0 || from > this.length))
        throw outOfRange("sourceStart", `>= 0 && <= ${this.length}`, from);
      if (to !== undefined && to < 0) throw outOfRange("sourceEnd", ">= 0", to);
      return Reflect.apply(copy, this, [asBuffer(bytes), ...numbers]) as number;
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
      const other = asPlain(checkBytes(target, "target"));
      if (targetStart !== undefined) checkInteger(targetStart, "targetStart");
      if (targetEnd !== undefined) checkInteger(targetEnd, "targetEnd", 0, other.length);
      // Deno checks the target's ends again in place of this buffer's.
      if (start !== undefined) checkInteger(targetStart ?? 0, "sourceStart");
      if (end !== undefined) checkInteger(targetEnd ?? other.length, "sourceEnd", 0, this.length);
      if ((start as number) < 0 || (end as number) > this.length)
        throw outOfRange("out of range index", "range", undefined);
      return compareBytes(asPlain(this).subarray(start, end), other.subarray(targetStart, targetEnd));
    },
    indexOf(this: Uint8Array, value: unknown, from?: unknown, ...rest: unknown[]): number {
      return search(this, value, from, rest, 1);
    },
    lastIndexOf(this: Uint8Array, value: unknown, from?: unknown, ...rest: unknown[]): number {
      return search(this, value, from, rest, -1);
    },
    includes(this: Uint8Array, value: unknown, from?: unknown, ...rest: unknown[]): boolean {
      return search(this, value, from, rest, 1) >= 0;
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
  const { write } = methods as { readonly write: (...args: unknown[]) => number };
  for (const encoding of ["utf8", "hex", "base64", "base64url", "latin1", "ascii", "ucs2"]) {
    methods[`${encoding}Slice`] = function slice(this: Uint8Array, start = 0, end = this.length) {
      if (start > this.length || end > this.length) {
        if (encoding !== "base64" && encoding !== "base64url")
          throw nodeError("ERR_OUT_OF_RANGE", "Index out of range", RangeError);
        throw outOfBounds(start > this.length ? "offset" : "end");
      }
      return decode(this.subarray(start, end), ENCODINGS[encoding] as string);
    };
    methods[`${encoding}Write`] = function (
      this: Uint8Array,
      text: unknown,
      offset?: number,
      length?: number,
    ): number {
      const kind = ENCODINGS[encoding] as string;
      const at = offset as number;
      if (encoding !== "hex" && encoding !== "ucs2") {
        if (at < 0 || at > this.length) throw outOfBounds("offset");
        const room = kind.startsWith("base64") ? Number.POSITIVE_INFINITY : this.length - at;
        if ((length as number) < 0 || (length as number) > room) throw outOfBounds("length");
      }
      if (encoding === "utf8") {
        const from = Math.trunc(at) || 0;
        const room = Math.min(length || this.length, this.length - from);
        return Reflect.apply(write, this, [`${text as number}`, from, room]);
      }
      // As in Deno, what is nothing fails for want of a length.
      let bytes = encode(
        (text as string).length === undefined ? `${text as number}` : (text as string),
        kind,
      );
      // No part of a character is written, but of what is cut.
      if (encoding === "ucs2" && bytes.length > this.length - at)
        bytes = bytes.subarray(0, Math.max(Math.floor((this.length - at) / 2) * 2, 0));
      const count = Math.min(length ?? bytes.length, bytes.length, this.length - (at || 0));
      Uint8Array.prototype.set.call(this, count < bytes.length ? bytes.slice(0, count) : bytes, at);
      return count;
    };
  }
  /** Returns the position of a byte or byte sequence before `end`, searching forwards or backwards; −1 if it isn't found. `rest` is `[end], [encoding]`. */
  function search(
    bytes: Uint8Array,
    value: unknown,
    from: unknown,
    rest: readonly unknown[],
    step: 1 | -1,
  ): number {
    if (!ArrayBuffer.isView(bytes))
      throw wrongArgument("buffer", "an instance of Buffer, TypedArray, or DataView", bytes);
    const hasEnd = rest[0] !== undefined && typeof rest[0] !== "string";
    const name = typeof from === "string" ? from : rest[hasEnd ? 1 : 0];
    const start =
      typeof from === "string" || from === undefined
        ? step > 0
          ? 0
          : bytes.length
        : Math.trunc(+(from as string));
    let end = hasEnd ? clamp(rest[0], bytes.length, bytes.length) : bytes.length;
    if (typeof value === "number") {
      const within = bytes.subarray(0, end);
      const at = start < 0 ? start + bytes.length : start;
      if (at < 0 && step < 0) return -1;
      return step > 0
        ? Uint8Array.prototype.indexOf.call(within, value & 255, Math.max(at, 0))
        : Uint8Array.prototype.lastIndexOf.call(within, value & 255, Number.isNaN(at) ? 0 : at);
    }
    const isBytes = typeof value === "object" && value instanceof Uint8Array;
    let wanted = typeof value === "string" ? encode(value, encodingOf(name)) : isBytes ? value : undefined;
    if (wanted === undefined) {
      throw wrongArgument(
        "value",
        "one of type number or string or an instance of Buffer or Uint8Array",
        value,
      );
    }
    let at = Number.isNaN(start) ? (step > 0 ? 0 : bytes.length) : start < 0 ? start + bytes.length : start;
    if (wanted.length === 0) return clamp(at, 0, end);
    const unit = ENCODINGS[String(name).toLowerCase()] === "utf16le" ? 2 : 1;
    if (unit === 2) {
      if (wanted.length < unit) return -1;
      wanted = wanted.subarray(0, wanted.length & ~1);
      end &= ~1;
      at &= ~1;
    }
    at = step > 0 ? Math.max(at, 0) : Math.min(at, end - wanted.length);
    for (; at >= 0 && at + wanted.length <= end; at += step * unit) {
      if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
    }
    return -1;
  }
  return methods;
}

/** Returns the same bytes as a plain `Uint8Array`, whose methods return plain arrays. */
function asPlain(bytes: ArrayBufferView): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function clamp(value: unknown, fallback: number, max: number): number {
  const number = value === undefined ? fallback : Math.trunc(Number(value)) || 0;
  return Math.min(Math.max(number, 0), max);
}
