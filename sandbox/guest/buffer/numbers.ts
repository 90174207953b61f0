import { nodeError, outOfRange, wrongType } from "./errors.ts";

type NumberMethod = (this: Uint8Array, ...args: never[]) => unknown;

/** Fixed-size kinds: name in `Buffer`, name in `DataView`, size in bytes, smallest and largest value. */
const KINDS = [
  ["UInt8", "Uint8", 1, 0n, 255n],
  ["UInt16", "Uint16", 2, 0n, 65_535n],
  ["UInt32", "Uint32", 4, 0n, 4_294_967_295n],
  ["Int8", "Int8", 1, -128n, 127n],
  ["Int16", "Int16", 2, -32_768n, 32_767n],
  ["Int32", "Int32", 4, -2_147_483_648n, 2_147_483_647n],
  ["Float", "Float32", 4, undefined, undefined],
  ["Double", "Float64", 8, undefined, undefined],
  ["BigUInt64", "BigUint64", 8, 0n, 2n ** 64n - 1n],
  ["BigInt64", "BigInt64", 8, -(2n ** 63n), 2n ** 63n - 1n],
] as const;

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function checkOffset(bytes: Uint8Array, offset: unknown, size: number): number {
  const at = offset === undefined ? 0 : offset;
  if (typeof at !== "number") throw wrongType("offset", "number", at);
  if (Math.floor(at) !== at) throw outOfRange("offset", "an integer", at);
  if (bytes.length < size) {
    const message = "Attempt to access memory outside buffer bounds";
    throw nodeError("ERR_BUFFER_OUT_OF_BOUNDS", message, RangeError);
  }
  if (at < 0 || at > bytes.length - size)
    throw outOfRange("offset", `>= 0 and <= ${bytes.length - size}`, at);
  return at;
}

function toNumber(value: unknown): number {
  if (typeof value === "bigint") throw new TypeError("Cannot convert a BigInt value to a number");
  return Number(value);
}

function checkValue(value: unknown, min: bigint, max: bigint, size: number, isBig: boolean): number | bigint {
  const number = isBig ? (value as bigint) : toNumber(value);
  if (isBig && typeof value !== "bigint")
    throw new TypeError("Cannot mix BigInt and other types, use explicit conversions");
  if (number >= min && number <= max) return number;
  if (Number.isNaN(number)) return 0;
  const bits = size * 8;
  const suffix = isBig ? "n" : "";
  const range =
    size > 4 || isBig
      ? min === 0n
        ? `>= 0${suffix} and < 2${suffix} ** ${bits}${suffix}`
        : `>= -(2${suffix} ** ${bits - 1}${suffix}) and < 2 ** ${bits - 1}${suffix}`
      : `>= ${min} and <= ${max}`;
  throw outOfRange("value", range, number);
}

/** Returns the `readXxx` and `writeXxx` methods of Node's Buffer, with Node's errors. */
export function numberMethods(): Record<string, NumberMethod> {
  const methods: Record<string, NumberMethod> = {};
  const add = (name: string, method: NumberMethod): void => {
    Object.defineProperty(method, "name", { value: name });
    methods[name] = method;
    if (name.includes("UInt")) methods[name.replace("UInt", "Uint")] = method;
  };
  for (const [name, view, size, min, max] of KINDS) {
    for (const [suffix, little] of size === 1
      ? ([["", false]] as const)
      : ([
          ["LE", true],
          ["BE", false],
        ] as const)) {
      const get = DataView.prototype[`get${view}`] as (at: number, little: boolean) => unknown;
      const set = DataView.prototype[`set${view}`] as (at: number, value: unknown, little: boolean) => void;
      add(`read${name}${suffix}`, function read(this: Uint8Array, offset?: unknown) {
        // Deno reads the offset of a big integer as 32 bits without a sign.
        const at = name.startsWith("Big") ? Number(offset ?? 0) >>> 0 : offset;
        return get.call(viewOf(this), checkOffset(this, at, size), little);
      });
      add(`write${name}${suffix}`, function write(this: Uint8Array, value: unknown, offset?: unknown) {
        if (name.startsWith("Big") && typeof value !== "bigint") checkOffset(this, offset, size);
        const checked =
          min === undefined ? toNumber(value) : checkValue(value, min, max, size, name.startsWith("Big"));
        const at = checkOffset(this, offset, size);
        set.call(viewOf(this), at, checked, little);
        return at + size;
      });
    }
  }
  for (const signed of [false, true]) {
    for (const little of [true, false]) {
      const name = `${signed ? "Int" : "UInt"}${little ? "LE" : "BE"}`;
      add(`read${name}`, function read(this: Uint8Array, offset: unknown, byteLength: unknown) {
        if (offset === undefined) throw wrongType("offset", "number", offset);
        const size = checkSize(byteLength);
        const at = checkOffset(this, offset, size);
        let value = 0n;
        for (let index = 0; index < size; index++)
          value = (value << 8n) | BigInt(this[little ? at + size - 1 - index : at + index] as number);
        return Number(signed ? BigInt.asIntN(size * 8, value) : value);
      });
      add(
        `write${name}`,
        function write(this: Uint8Array, value: unknown, offset: unknown, byteLength: unknown) {
          const size = checkSize(byteLength);
          const bits = BigInt(size * 8);
          const min = signed ? -(1n << (bits - 1n)) : 0n;
          const max = signed ? (1n << (bits - 1n)) - 1n : (1n << bits) - 1n;
          let rest = BigInt.asUintN(
            size * 8,
            BigInt(Math.trunc(Number(checkValue(value, min, max, size, false)))),
          );
          if (offset === undefined) throw wrongType("offset", "number", offset);
          const at = checkOffset(this, offset, size);
          for (let index = 0; index < size; index++) {
            this[little ? at + index : at + size - 1 - index] = Number(rest & 255n);
            rest >>= 8n;
          }
          return at + size;
        },
      );
    }
  }
  return methods;
}

function checkSize(byteLength: unknown): number {
  if (typeof byteLength !== "number") throw wrongType("byteLength", "number", byteLength);
  if (Math.floor(byteLength) !== byteLength) throw outOfRange("byteLength", "an integer", byteLength);
  if (byteLength < 1 || byteLength > 6) throw outOfRange("byteLength", ">= 1 and <= 6", byteLength);
  return byteLength;
}
