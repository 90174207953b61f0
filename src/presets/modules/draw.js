/**
 * The module `tyche:draw`: uniform draws from one random word. What a preset imports of it becomes part of the preset's source when
 * it is loaded, so every byte here costs gas in every request of every preset that draws.
 *
 * `createDraw` takes a word, "0x" and 64 hex digits. The function that it returns takes a bigint n, 1 to 2^256, and returns a
 * bigint uniform in [0, n), independent of all that it returned before. docs/draws.py does the same in Python.
 */
export const createDraw = (word) => {
  // What is left to draw from: a number uniform in [0, size). At first it is the word itself.
  let pool = BigInt(word);
  let size = 2n ** 256n;
  // The state of ChaCha20 (RFC 8439, section 2.3): the constant "expand 32-byte k", the word as key, and 16 bytes that begin as 0, of
  // which the first four count the blocks.
  const bytes = "657870616e642033322d62797465206b" + word.slice(2) + "0".repeat(32);
  const state = new Uint32Array(
    new Uint8Array(64).map((_, i) => Number("0x" + bytes.slice(2 * i, 2 * i + 2))).buffer,
  );
  return (n) => {
    for (;;) {
      if (size < n) {
        // Too little is left: the next 64 bytes of the key stream become the low digits of the pool.
        const x = state.slice();
        for (let quarter = 0; quarter < 80; quarter++) {
          // Four quarter rounds on columns, then four on diagonals.
          let [a, b, c, d] = [0, 1, 2, 3].map((row) => row * 4 + ((quarter + (quarter & 4 && row)) & 3));
          for (const shift of [16, 12, 8, 7]) {
            x[a] += x[b];
            x[d] ^= x[a];
            x[d] = (x[d] << shift) | (x[d] >>> (32 - shift));
            [a, b, c, d] = [c, d, a, b];
          }
        }
        const block = x.map((part, i) => part + state[i]);
        pool = new Uint8Array(block.buffer).reduce((sum, byte) => (sum << 8n) | BigInt(byte), pool);
        size <<= 512n;
        state[12]++;
      }
      // Of the pool's `size` equally likely values, those below `whole`, the largest multiple of n, split evenly into a remainder (the
      // draw) and a quotient (the new pool). A value from there on is rejected, and how far on it lies, uniform again, is the new pool.
      const whole = size - (size % n);
      if (pool < whole) {
        const drawn = pool % n;
        pool /= n;
        size = whole / n;
        return drawn;
      }
      pool -= whole;
      size -= whole;
    }
  };
};
