import type { Hex } from "viem";

// Readers of ABI-encoded event data. Each throws RangeError if the log ends before the requested value.

/** Returns one of a log's topics. */
export function topic(topics: readonly Hex[], index: number): Hex {
  const value = topics[index];
  if (value === undefined) throw new RangeError(`topic ${index} is missing`);
  return value;
}

/** Returns `length` bytes of the data, starting at byte `offset`. */
export function slice(data: Hex, offset: number, length: number): Hex {
  const end = 2 + 2 * (offset + length);
  if (end > data.length) throw new RangeError(`the data ends before byte ${offset + length}`);
  return `0x${data.slice(2 + 2 * offset, end)}`;
}

/** Returns the 32-byte word at an index. */
export function word(data: Hex, index: number): Hex {
  return slice(data, 32 * index, 32);
}

/** Returns the number in the word at an index. */
export function uint(data: Hex, index: number): bigint {
  return BigInt(word(data, index));
}

/** Returns the address in the last 20 bytes of a word. */
export function addressOf(word: Hex): Hex {
  return `0x${word.slice(26)}`;
}

/** Returns the bytes whose offset is in word `index`. */
export function bytes(data: Hex, index: number): Hex {
  const offset = Number(uint(data, index));
  return slice(data, offset + 32, Number(BigInt(slice(data, offset, 32))));
}

/** Returns the words of the array whose offset is in word `index`. */
export function words(data: Hex, index: number): Hex[] {
  const offset = Number(uint(data, index));
  const length = BigInt(slice(data, offset, 32));
  if (length > BigInt(data.length)) throw new RangeError(`the data hold no ${length} words`);
  return Array.from({ length: Number(length) }, (_, i) => slice(data, offset + 32 * (i + 1), 32));
}
