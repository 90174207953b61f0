import { WORD_BYTES, writeUint256 } from "../lib/uint256.ts";

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
