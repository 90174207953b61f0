// A whole number from min to max, both included.
const [min, max] = args.map(BigInt);

// What is left to draw from: a number uniform in [0, size). At first it is the random word itself.
let pool = BigInt(bytesArgs[0]);
let size = 2n ** 256n;

// Uniform in [0, n), n <= 2^256, independent of every other draw. Of the pool's `size` equally likely values, those below
// `whole`, the largest multiple of n, split evenly into a remainder (the draw) and a quotient (the new pool). A value from
// there on is rejected, and how far on it lies, uniform again, is the new pool.
function draw(n) {
  for (;;) {
    if (size < n) refill();
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
}

// Appends the next 64 bytes of the ChaCha20 key stream (RFC 8439, section 2.3): the constant "expand 32-byte k", the random word as
// key, and 16 bytes that begin as 0, of which the first four count the blocks.
const state = new Uint32Array(
  Uint8Array.fromHex("657870616e642033322d62797465206b" + bytesArgs[0].slice(2) + "0".repeat(32)).buffer,
);
function refill() {
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
  const block = x.map((word, i) => word + state[i]);
  pool = (pool << 512n) | BigInt("0x" + new Uint8Array(block.buffer).toHex());
  size <<= 512n;
  state[12]++;
}

return Functions.encodeInt256(min + draw(max - min + 1n));
