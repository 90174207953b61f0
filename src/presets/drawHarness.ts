/**
 * A source that runs another source with many words. `args` are that source, its own `args` (strings) as JSON text, a seed below 2^32,
 * the number of words, and what to count as JSON text: `{"outcomes": [hex, …]}`, results as bytes, or
 * `{"bounds": ["0", …], "isSigned": boolean}`, results as integers.
 * Returns `{"counts": [number, …], "stray": hex | null, "failure": {"word", "message"} | null}` as JSON text; a stray result is
 * none of those to count. It runs where sources run, so that a thousand draws cost as much as one run.
 * The words come from xoshiro128** (Blackman, Vigna: "Scrambled Linear Pseudorandom Number Generators"), seeded by splitmix32.
 */
export const DRAW_HARNESS = String.raw`
const [source, presetArgs, seed, draws, target] = args;
const sourceArgs = JSON.parse(presetArgs);
const { outcomes, bounds, isSigned } = JSON.parse(target);
const AsyncFunction = (async () => {}).constructor;
const run = new AsyncFunction("args", "bytesArgs", "Functions", source);

let mixed = Number(seed);
const state = Array.from({ length: 4 }, () => {
  mixed = (mixed + 0x9e3779b9) | 0;
  let z = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return z ^ (z >>> 15);
});
const rotate = (x, k) => (x << k) | (x >>> (32 - k));
const next = () => {
  const result = Math.imul(rotate(Math.imul(state[1], 5), 7), 9) >>> 0;
  const shifted = state[1] << 9;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = rotate(state[3], 11);
  return result;
};

let find;
if (outcomes) {
  const indexes = new Map(outcomes.map((outcome, index) => [outcome, index]));
  find = (hex) => indexes.get(hex) ?? -1;
} else {
  const edges = bounds.map(BigInt);
  find = (hex) => {
    const unsigned = BigInt("0x" + (hex || "0"));
    const value = isSigned ? BigInt.asIntN(256, unsigned) : unsigned;
    return value >= edges.at(-1) ? -1 : edges.findLastIndex((edge) => value >= edge);
  };
}

const digits = Array.from({ length: 256 }, (_, byte) => (byte + 256).toString(16).slice(1));
const toHex = (bytes) => {
  let hex = "";
  for (let index = 0; index < bytes.length; index += 1) hex += digits[bytes[index]];
  return hex;
};

const drawn = new Uint8Array(32);
const parts = new DataView(drawn.buffer);
const counts = (outcomes ?? bounds.slice(1)).map(() => 0);
let stray = null;
let failure = null;
for (let draw = 0; draw < Number(draws) && failure === null; draw += 1) {
  for (let part = 0; part < 8; part += 1) parts.setUint32(part * 4, next());
  const word = "0x" + toHex(drawn);
  try {
    const hex = toHex(new Uint8Array(await run([...sourceArgs], [word], Functions)));
    const index = find(hex);
    if (index < 0) stray ??= hex;
    else counts[index] += 1;
  } catch (error) {
    failure = { word, message: String(error) };
  }
}
return Functions.encodeString(JSON.stringify({ counts, stray, failure }));
`;
