import { nodeError, outOfRange, wrongArgument, wrongType } from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { queue } from "./callback.ts";
import type { BufferType } from "./key.ts";

/** Most bytes that Node fills at once. */
const MAX_SIZE = 2 ** 31 - 1;

/** Creates the functions that return random bytes, numbers and ids. */
export function createRandom(
  native: Internals["native"],
  Buffer: BufferType,
): Readonly<Record<string, unknown>> {
  const randomBytes = (size: unknown, callback?: (error: unknown, bytes: unknown) => void): unknown => {
    if (typeof size !== "number") throw wrongType("size", "number", size);
    const bytes = Buffer.from(native("random", { bytes: size }));
    if (callback === undefined) return bytes;
    queue(() => callback(null, bytes));
    return undefined;
  };
  /** Fills a buffer or view, or `size` of its elements from `offset` on. */
  const fill = (array: unknown, offset: unknown = 0, size?: unknown): unknown => {
    const isView = ArrayBuffer.isView(array);
    if (!isView && !(array instanceof ArrayBuffer) && !(array instanceof SharedArrayBuffer))
      throw wrongArgument("buf", "an instance of ArrayBuffer or ArrayBufferView", array);
    const width = (isView && (array as Partial<Uint8Array>).BYTES_PER_ELEMENT) || 1;
    const { byteLength } = array as Uint8Array;
    const read = (value: unknown, name: string, most: number): number => {
      if (typeof value !== "number") throw wrongType(name, "number", value);
      const bytes = value * width;
      if (Number.isNaN(bytes) || bytes < 0 || bytes > most)
        throw outOfRange(name, `>= 0 && <= ${most}`, bytes);
      return bytes >>> 0;
    };
    const start = read(offset, "offset", byteLength);
    const length = size === undefined ? byteLength - start : read(size, "size", MAX_SIZE);
    if (start + length > byteLength) throw outOfRange("size + offset", `<= ${byteLength}`, start + length);
    const bytes = isView
      ? new Uint8Array(array.buffer, array.byteOffset + start, length)
      : new Uint8Array(array as ArrayBuffer, start, length);
    bytes.set(native("random", { bytes: length }) as Uint8Array);
    return array;
  };
  const randomInt = (
    low: number,
    high?: number | ((error: unknown, value: number) => void),
    callback?: (error: unknown, value: number) => void,
  ): number | undefined => {
    const [min, max] = typeof high === "number" ? [low, high] : [0, low];
    const done = typeof high === "function" ? high : callback;
    const range = max - min;
    if (!(range > 0) || range > 2 ** 48 - 1)
      throw nodeError(
        "ERR_OUT_OF_RANGE",
        `The value of "max" is out of range. It must be greater than the value of "min" (${min}). Received ${max}`,
        RangeError,
      );
    const limit = 2 ** 48 - (2 ** 48 % range);
    let value: number;
    do {
      value = (native("random", { bytes: 6 }) as Uint8Array).reduce((sum, byte) => sum * 256 + byte, 0);
    } while (value >= limit);
    const result = min + (value % range);
    if (done === undefined) return result;
    queue(() => done(null, result));
    return undefined;
  };
  return {
    randomBytes,
    pseudoRandomBytes: randomBytes,
    randomFillSync: fill,
    randomFill: (array: unknown, ...rest: unknown[]): void => {
      const callback = rest.pop();
      if (typeof callback !== "function") throw wrongType("callback", "function", callback);
      const filled = fill(array, ...rest);
      queue(() => (callback as (error: null, array: unknown) => void)(null, filled));
    },
    randomUUID: () => native("uuid", {}),
    randomInt,
  };
}
