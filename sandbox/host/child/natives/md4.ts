/** The words that a round takes, in its order. */
const ORDERS = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15],
  [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15],
] as const;
const SHIFTS = [
  [3, 7, 11, 19],
  [3, 5, 9, 13],
  [3, 9, 11, 15],
] as const;
const ADDED = [0, 0x5a827999, 0x6ed9eba1] as const;
const MIXERS = [
  (x: number, y: number, z: number) => (x & y) | (~x & z),
  (x: number, y: number, z: number) => (x & y) | (x & z) | (y & z),
  (x: number, y: number, z: number) => x ^ y ^ z,
] as const;

/** Returns the MD4 of bytes (RFC 1320), which Node's OpenSSL no longer has. */
export function md4(bytes: Uint8Array): Buffer {
  const blocks = Buffer.alloc(((bytes.length + 72) >>> 6) << 6);
  blocks.set(bytes);
  blocks[bytes.length] = 0x80;
  blocks.writeBigUInt64LE(BigInt(bytes.length) * 8n, blocks.length - 8);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let block = 0; block < blocks.length; block += 64) {
    let [a, b, c, d] = state as unknown as [number, number, number, number];
    for (const round of [0, 1, 2] as const)
      ORDERS[round].forEach((word, step) => {
        const sum = (a + MIXERS[round](b, c, d) + blocks.readInt32LE(block + 4 * word) + ADDED[round]) | 0;
        const shift = SHIFTS[round][step % 4] as number;
        [a, d, c, b] = [d, c, b, (sum << shift) | (sum >>> (32 - shift))];
      });
    [a, b, c, d].forEach((word, at) => (state[at] = (state[at] as number) + word));
  }
  return Buffer.from(state.buffer);
}
