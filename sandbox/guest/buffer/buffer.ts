import * as feross from "buffer/";

/** Bytes, as the methods of Node's `Buffer` make them. */
export type Bytes = Uint8Array<ArrayBuffer>;

interface BufferType {
  new (...args: unknown[]): Bytes;
  readonly prototype: Record<PropertyKey, unknown> & object;
  from(value: unknown, ...more: unknown[]): Bytes;
}

/** feross/buffer, to be given Node's members. */
export const Buffer = feross.Buffer as unknown as BufferType;

const { prototype } = Buffer;

/** Makes a byte array a buffer; nothing is copied. */
export const asBuffer = (bytes: Uint8Array): Bytes => Object.setPrototypeOf(bytes, prototype) as Bytes;
