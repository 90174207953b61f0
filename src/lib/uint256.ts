import { toHexText } from "./hex.ts";

/** Bytes of an EVM word. */
export const WORD_BYTES = 32;

/** 2^256: one more than the largest `uint256`. */
export const UINT256_LIMIT = 1n << 256n;

const LOW_64_BITS = (1n << 64n) - 1n;

/** Returns the unsigned big-endian integer in the 32 bytes of `bytes` starting at `offset` (default 0). */
export function readUint256(bytes: Uint8Array, offset = 0): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, WORD_BYTES);
  return (
    (view.getBigUint64(0) << 192n) |
    (view.getBigUint64(8) << 128n) |
    (view.getBigUint64(16) << 64n) |
    view.getBigUint64(24)
  );
}

/**
 * Writes `value` as 32 bytes, big-endian, into `bytes` starting at `offset`.
 *
 * @throws RangeError when `value` is negative, or 2^256 or more.
 */
export function writeUint256(bytes: Uint8Array, offset: number, value: bigint): void {
  if (value < 0n || value >= UINT256_LIMIT) throw new RangeError(`${value} does not fit a uint256`);
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, WORD_BYTES);
  view.setBigUint64(0, value >> 192n);
  view.setBigUint64(8, (value >> 128n) & LOW_64_BITS);
  view.setBigUint64(16, (value >> 64n) & LOW_64_BITS);
  view.setBigUint64(24, value & LOW_64_BITS);
}

/**
 * Returns `values` as consecutive 32-byte big-endian words, as `abi.encode` encodes `uint256` values.
 *
 * @throws RangeError when a value does not fit.
 */
export function encodeUint256s(...values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(values.length * WORD_BYTES);
  values.forEach((value, index) => writeUint256(bytes, index * WORD_BYTES, value));
  return bytes;
}

/**
 * Encodes `value` as `0x` hex of 32 bytes.
 *
 * @throws RangeError when it does not fit.
 */
export function toWord(value: bigint): `0x${string}` {
  return toHexText(encodeUint256s(value));
}

/** Returns how many bytes ABI encoding uses for a `bytes` value besides its offset: the length word and the content padded to words. */
export function encodedBytesLength(value: Uint8Array): number {
  return WORD_BYTES + Math.ceil(value.length / WORD_BYTES) * WORD_BYTES;
}

/** Writes ABI-encoded words and byte strings in sequence, into a buffer whose size is known beforehand. */
export class AbiWriter {
  readonly bytes: Uint8Array;
  #position = 0;

  /** `length`: exact size of the result in bytes. */
  constructor(length: number) {
    this.bytes = new Uint8Array(length);
  }

  word(value: bigint | number): this {
    writeUint256(this.bytes, this.#position, BigInt(value));
    this.#position += WORD_BYTES;
    return this;
  }

  /** Copies bytes unchanged; their length must keep the words aligned where that matters. */
  raw(value: Uint8Array): this {
    this.bytes.set(value, this.#position);
    this.#position += value.length;
    return this;
  }

  /** Writes a length word, then the content padded with zeros. */
  dynamic(value: Uint8Array): this {
    const start = this.#position;
    this.word(value.length).raw(value);
    this.#position = start + encodedBytesLength(value);
    return this;
  }
}
