import { nodeError, wrongType } from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { queue } from "./callback.ts";
import type { BufferType } from "./key.ts";

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
    randomFillSync: (array: Uint8Array): Uint8Array => {
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(
        native("random", { bytes: array.byteLength }) as Uint8Array,
      );
      return array;
    },
    randomUUID: () => native("uuid", {}),
    randomInt,
  };
}
