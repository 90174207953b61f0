import { isAnyArrayBuffer } from "../types.ts";
import { bytesOf } from "../webIdl.ts";
import { Buffer, type Bytes, asBuffer } from "./buffer.ts";
import { checkBytes, compareBytes } from "./compare.ts";
import { ENCODINGS, type Encodings, encodingOf } from "./encodings.ts";
import { checkInteger, outOfBounds, outOfRange, wrongArgument, wrongType } from "./errors.ts";

/** Creates the static methods of `Buffer`, which create, measure and compare buffers. */
export function createStatics({ encode }: Encodings): Record<string, unknown> {
  let pool = new Uint8Array(0);
  let used = 0;
  /** Takes bytes from the pool, which texts and `allocUnsafe` share: the `buffer` of such a buffer is the whole pool, as in Deno. */
  function take(length: number): Bytes {
    const { poolSize } = Buffer;
    if (length >= poolSize >>> 1) return new Uint8Array(length);
    if (length > pool.length - used) {
      pool = new Uint8Array(poolSize);
      used = 0;
    }
    const taken = pool.subarray(used, used + length);
    used = (used + length + 7) & ~7;
    return taken;
  }
  return {
    poolSize: 8_192,
    from(value: unknown, second?: unknown, third?: unknown): Bytes {
      if (typeof value === "string") {
        const bytes = encode(value, encodingOf((typeof second === "string" && second) || undefined));
        const taken = take(bytes.length);
        taken.set(bytes);
        return asBuffer(taken);
      }
      if (typeof value === "object" && value !== null) {
        if (isAnyArrayBuffer(value)) {
          const { byteLength } = value as ArrayBuffer;
          const offset = second === undefined ? 0 : Number(second) || 0;
          if (offset > byteLength) throw outOfBounds("offset");
          const length = third === undefined ? undefined : Math.max(0, Number(third) || 0);
          if (length !== undefined && length > byteLength - offset) throw outOfBounds("length");
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
        const list = value as { length?: unknown; buffer?: unknown; type?: unknown; data?: unknown };
        if (list.length !== undefined || isAnyArrayBuffer(list.buffer)) {
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
      throw wrongArgument(
        "first argument",
        "of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object",
        value,
      );
    },
    copyBytesFrom: (view: Uint8Array, offset = 0, length?: number): Bytes => {
      if (!ArrayBuffer.isView(view) || view instanceof DataView)
        throw wrongArgument("view", "an instance of TypedArray", view);
      checkInteger(offset, "offset");
      if (length !== undefined) checkInteger(length, "length");
      const part = view.subarray(offset, length === undefined ? undefined : offset + length);
      return asBuffer((bytesOf(part) as Uint8Array).slice());
    },
    of: (...bytes: unknown[]): Bytes => asBuffer(toBytes(bytes)),
    alloc(size: unknown, fill?: unknown, encoding?: unknown): Bytes {
      const made = asBuffer(new Uint8Array(checkLength(size)));
      if (fill !== undefined && encoding !== undefined && typeof encoding !== "string")
        throw wrongType("encoding", "string", encoding);
      return fill !== undefined && fill !== 0 && made.length > 0
        ? (made as unknown as { fill(value: unknown, encoding: unknown): Bytes }).fill(fill, encoding)
        : made;
    },
    allocUnsafe: (size: unknown): Bytes => {
      const length = checkLength(size);
      return asBuffer(length === 0 ? new Uint8Array(0) : take(length));
    },
    allocUnsafeSlow: (size: unknown): Bytes => asBuffer(new Uint8Array(checkLength(size))),
    isBuffer: (value: unknown): boolean => value instanceof (Buffer as unknown as new () => object),
    compare: (a: unknown, b: unknown): number => compareBytes(checkBytes(a, "buf1"), checkBytes(b, "buf2")),
    isEncoding: (encoding: unknown): boolean =>
      typeof encoding === "string" && encoding.toLowerCase() in ENCODINGS,
    concat(list: unknown, length?: unknown): Bytes {
      if (!Array.isArray(list)) throw wrongArgument("list", "an instance of Array", list);
      if (list.length === 0) return asBuffer(new Uint8Array(0));
      // The lengths are added before the parts are checked.
      if (length === undefined) for (const part of list as { length: unknown }[]) void part.length;
      else checkInteger(length, "length");
      const parts = list.map((part: unknown, at) => checkBytes(part, `list[${at}]`));
      const total = (length ?? parts.reduce((sum, part) => sum + part.length, 0)) as number;
      const joined = new Uint8Array(total);
      let at = 0;
      for (const part of parts) {
        if (at >= total) break;
        joined.set(part.subarray(0, total - at), at);
        at += part.length;
      }
      return asBuffer(joined);
    },
    byteLength(value: unknown, encoding?: unknown): number {
      const bytes = bytesOf(value);
      if (bytes !== undefined) return bytes.length;
      if (typeof value !== "string")
        throw wrongArgument("string", "of type string or an instance of Buffer or ArrayBuffer", value);
      const name = ENCODINGS[String(encoding ?? "utf8").toLowerCase()] ?? "utf8";
      if (name === "base64" || name === "base64url")
        return Math.floor((value.replace(/(?<=.)==?$/, "").length * 3) / 4);
      return name === "hex" ? value.length >>> 1 : encode(value, name).length;
    },
  };
}

function toBytes(list: ArrayLike<unknown>): Bytes {
  const bytes = new Uint8Array(Math.max(0, list.length));
  for (let at = 0; at < list.length; at++) bytes[at] = list[at] as number;
  return bytes;
}

/** Checks the size of a new buffer. */
export function checkLength(size: unknown): number {
  if (typeof size !== "number") throw wrongType("size", "number", size);
  if (!(size >= 0 && size <= 9_007_199_254_740_991))
    throw outOfRange("size", ">= 0 && <= 9007199254740991", size);
  return Math.trunc(size);
}
