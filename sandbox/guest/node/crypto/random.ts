import {
  checkObject,
  checkInteger,
  nodeError,
  outOfRange,
  wrongArgument,
  wrongType,
} from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { bytesOf } from "../../webIdl.ts";
import { type BufferType, checkFunction, queue } from "./bytes.ts";

/** Most bytes that Node fills at once. */
const MAX_SIZE = 2 ** 31 - 1;
/** Exclusive upper bound of a random integer's range. */
const MAX_RANGE = 2 ** 48 - 1;

/** Creates the functions that return random bytes, numbers, ids and primes. */
export function createRandom(
  native: Internals["native"],
  Buffer: BufferType,
): Readonly<Record<string, unknown>> {
  /** Gives a result to a callback, if there is one. */
  const give = <T>(make: () => T, callback: unknown): T | undefined => {
    if (callback === undefined) return make();
    const done = checkFunction(callback);
    const result = make();
    queue(() => done(null, result));
    return undefined;
  };
  const randomBytes = (size: unknown, callback?: unknown): unknown => {
    if (typeof size !== "number") throw wrongType("size", "number", size);
    if (Number.isNaN(size) || size < 0 || size > MAX_SIZE)
      throw outOfRange("size", `>= 0 && <= ${MAX_SIZE}`, size);
    return give(() => Buffer.from(native("random", { bytes: size >>> 0 })), callback);
  };
  /** Fills a buffer or view, or `size` of its elements from `offset` on. */
  const randomFillSync = (array: unknown, offset: unknown = 0, size?: unknown): unknown => {
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
  const randomInt = (low: unknown, high?: unknown, callback?: unknown): number | undefined => {
    const hasLow = high !== undefined && typeof high !== "function";
    const [min, max, done] = hasLow ? [low, high, callback] : [0, low, high];
    if (done !== undefined) checkFunction(done);
    for (const [name, value] of [
      ["min", min],
      ["max", max],
    ] as const)
      if (!Number.isSafeInteger(value)) throw wrongArgument(name, "a safe integer", value);
    const [from, range] = [min as number, (max as number) - (min as number)];
    if (range <= 0)
      throw nodeError(
        "ERR_OUT_OF_RANGE",
        `The value of "max" is out of range. It must be greater than the value of "min" (${from}). Received ${String(max)}`,
        RangeError,
      );
    if (range > MAX_RANGE) throw outOfRange(hasLow ? "max - min" : "max", `<= ${MAX_RANGE}`, range);
    return give(() => {
      const limit = 2 ** 48 - (2 ** 48 % range);
      let value: number;
      do {
        value = (native("random", { bytes: 6 }) as Uint8Array).reduce((sum, byte) => sum * 256 + byte, 0);
      } while (value >= limit);
      return from + (value % range);
    }, done);
  };
  const checkOptions = (options: unknown): Readonly<Record<string, unknown>> => {
    checkObject(options, "options");
    return options as Readonly<Record<string, unknown>>;
  };
  const bytesOfNumber = (value: bigint): Uint8Array => {
    const digits = value.toString(16);
    return Buffer.from(digits.length % 2 === 1 ? `0${digits}` : digits, "hex");
  };
  const checkPrimeSync = (candidate: unknown, options: unknown = {}): boolean => {
    const { checks = 0 } = checkOptions(options);
    if (typeof candidate === "bigint" && candidate < 0n) throw outOfRange("candidate", ">= 0", candidate);
    const bytes = typeof candidate === "bigint" ? bytesOfNumber(candidate) : bytesOf(candidate);
    if (bytes === undefined)
      throw wrongArgument(
        "candidate",
        "of type bigint or an instance of ArrayBuffer, TypedArray, Buffer, or DataView",
        candidate,
      );
    return (
      native("isPrime", { checks: checkInteger(checks, "options.checks", 0, MAX_SIZE) }, bytes) === "true"
    );
  };
  const generatePrimeSync = (size: unknown, options: unknown = {}): unknown => {
    checkInteger(size, "size", 1, MAX_SIZE);
    const { bigint = false, safe = false, add, rem } = checkOptions(options);
    for (const [name, value] of Object.entries({ safe, bigint }))
      if (typeof value !== "boolean") throw wrongType(`options.${name}`, "boolean", value);
    for (const [name, value] of Object.entries({ add, rem }))
      if (value !== undefined && typeof value !== "bigint" && bytesOf(value) === undefined)
        throw wrongType(
          `options.${name}`,
          "bigint or an instance of ArrayBuffer, TypedArray, Buffer, or DataView",
          value,
        );
    const [step, rest] = Object.entries({ add, rem }).map(([name, value]) => {
      if (typeof value === "bigint" && value < 0n) throw outOfRange(`options.${name}`, ">= 0", value);
      return typeof value === "bigint" ? bytesOfNumber(value) : bytesOf(value);
    });
    const digits = (bytes?: Uint8Array): string | undefined => bytes && Buffer.from(bytes).toString("hex");
    let bytes: Uint8Array;
    try {
      bytes = native("prime", { size, safe, add: digits(step), rem: digits(rest) }) as Uint8Array;
    } catch (error) {
      if ((error as { readonly code?: string }).code !== "ERR_OUT_OF_RANGE") throw error;
      const isStep = /add/.test((error as Error).message);
      throw nodeError("ERR_OUT_OF_RANGE", `invalid options.${isStep ? "add" : "rem"}`, RangeError);
    }
    return bigint === true
      ? BigInt(`0x${Buffer.from(bytes).toString("hex")}`)
      : (Buffer.from(bytes) as Uint8Array).slice().buffer;
  };
  /** The asynchronous form: the options can be left out. */
  const later =
    (work: (first: unknown, options?: unknown) => unknown) =>
    (first: unknown, options: unknown, callback?: unknown): unknown =>
      typeof options === "function"
        ? give(() => work(first), options)
        : give(() => work(first, options), checkFunction(callback));
  return {
    checkPrime: later(checkPrimeSync),
    checkPrimeSync,
    generatePrime: later(generatePrimeSync),
    generatePrimeSync,
    randomBytes,
    randomFillSync,
    randomFill: (array: unknown, ...rest: unknown[]): void => {
      if (rest.every((given) => given === undefined)) randomFillSync(array);
      const at = typeof rest[0] === "function" ? 0 : typeof rest[1] === "function" ? 1 : 2;
      const callback = checkFunction(rest[at]);
      give(() => randomFillSync(array, ...rest.slice(0, at)), callback);
    },
    randomUUID: (options: unknown = {}) => {
      const { disableEntropyCache: value } = checkOptions(options);
      if (value !== undefined && typeof value !== "boolean")
        throw wrongType("options.disableEntropyCache", "boolean", value);
      return native("uuid", {});
    },
    randomInt,
  };
}
