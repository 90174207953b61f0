import { hasWarned, warnDeprecated, wrongType } from "./errors.ts";

/** The bundler's: what it makes of an `import` of such a package reads whatever a source has put on `Object.prototype`. */
declare const require: (name: "buffer/") => {
  readonly Buffer: Pick<BufferType, "prototype"> & { isBuffer(value: unknown): boolean };
};

/** Bytes as returned by the methods of Node's `Buffer`. */
export type Bytes = Uint8Array<ArrayBuffer>;

interface BufferType {
  new (...args: unknown[]): Bytes;
  readonly prototype: Record<PropertyKey, unknown> & object;
  from(value: unknown, ...more: unknown[]): Bytes;
  allocUnsafe(length: number): Bytes;
  /** A source may set it. */
  readonly poolSize: number;
}

/** feross/buffer's prototype, under a constructor with Node's errors; the buffer chunk adds Node's members. */
export const Buffer = function (value: unknown, second?: unknown, third?: unknown): Bytes {
  if (!hasWarned("DEP0005") && isCalledBySource())
    warnDeprecated(
      "DEP0005",
      "Buffer() is deprecated due to security and usability issues. Please use the Buffer.alloc(), Buffer.allocUnsafe(), or Buffer.from() methods instead.",
    );
  if (typeof value !== "number") return Buffer.from(value, second, third);
  if (typeof second === "string") throw wrongType("string", "string", value);
  return Buffer.allocUnsafe(value);
} as unknown as BufferType;
/** What a package calls, or a method such as `of`, isn't warned of. */
const isCalledBySource = (): boolean =>
  /^[^\n]*(?:\n[^\n]*\btyche:[^\n]*)*\n[^\n]*\bsource\.js:/.test(String(new Error().stack));
const library = require("buffer/").Buffer;
const { prototype } = library;
library.isBuffer = (value) => value instanceof Buffer;
Object.defineProperty(Buffer, "prototype", { value: prototype, writable: false });
Object.setPrototypeOf(Buffer, Uint8Array);
prototype["constructor"] = Buffer;

/** Turns a byte array into a buffer without copying. */
export const asBuffer = (bytes: Uint8Array): Bytes => Object.setPrototypeOf(bytes, prototype) as Bytes;
