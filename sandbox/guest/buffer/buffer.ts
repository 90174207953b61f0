/** The bundler's: what it makes of an `import` of such a package reads whatever a source has put on `Object.prototype`. */
declare const require: (name: "buffer/") => { readonly Buffer: unknown };

/** Bytes as returned by the methods of Node's `Buffer`. */
export type Bytes = Uint8Array<ArrayBuffer>;

interface BufferType {
  new (...args: unknown[]): Bytes;
  readonly prototype: Record<PropertyKey, unknown> & object;
  from(value: unknown, ...more: unknown[]): Bytes;
  /** A source may set it. */
  readonly poolSize: number;
}

/** feross/buffer, which the buffer chunk extends with Node's members. */
export const Buffer = require("buffer/").Buffer as BufferType;

const { prototype } = Buffer;

/** Turns a byte array into a buffer without copying. */
export const asBuffer = (bytes: Uint8Array): Bytes => Object.setPrototypeOf(bytes, prototype) as Bytes;
