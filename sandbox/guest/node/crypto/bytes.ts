import { wrongArgument } from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { bytesOf, concatBytes } from "../../webIdl.ts";
import type { BufferType, KeyTools } from "./key.ts";

type Bytes = Uint8Array;

/** Converts arguments to bytes and bytes to results. */
export interface ByteTools {
  readonly Buffer: BufferType;
  /**
   * Returns a copy of bytes, or the bytes of a text or a key; `name` is the argument's.
   * @throws {TypeError} `ERR_INVALID_ARG_TYPE`.
   */
  readonly toBytes: (value: unknown, encoding?: unknown, name?: string) => Bytes;
  /** Returns a buffer, or its text if an encoding is given. */
  readonly output: (bytes: Bytes, encoding?: unknown) => unknown;
  /** Calls the host's native of that name with the parts joined and the lengths of all but the last. */
  readonly bytesFrom: (name: string, header: object, ...parts: Bytes[]) => Bytes;
}

/** Creates the conversions between a source's values and the bytes that the host's natives take. */
export function createByteTools(
  native: Internals["native"],
  Buffer: BufferType,
  { KeyObject, valueOfKey }: KeyTools,
): ByteTools {
  const toBytes = (value: unknown, encoding?: unknown, name = "data"): Bytes => {
    if (value instanceof KeyObject) return toBytes(valueOfKey(value), undefined, name);
    if (typeof value === "string") return Buffer.from(value, encoding === "buffer" ? undefined : encoding);
    const bytes = bytesOf(value);
    if (bytes === undefined)
      throw wrongArgument(name, "of type string or an instance of Buffer, TypedArray, or DataView", value);
    return bytes.slice();
  };
  const output = (bytes: Bytes, encoding?: unknown): unknown => {
    const buffer = Buffer.from(bytes);
    return encoding === undefined || encoding === "buffer" ? buffer : buffer.toString(encoding as string);
  };
  const bytesFrom = (name: string, header: object, ...parts: Bytes[]): Bytes =>
    native(
      name,
      { ...header, lengths: parts.slice(0, -1).map((part) => part.length) },
      concatBytes(parts),
    ) as Bytes;
  return { Buffer, toBytes, output, bytesFrom };
}
