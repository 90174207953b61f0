import { pbkdf2Sync } from "node:crypto";

/** Parameters of scrypt, named as in key files. */
export interface ScryptParameters {
  /** A power of two. */
  readonly n: number;
  readonly r: number;
  readonly p: number;
}

/**
 * Derives a key of `bytes` bytes by scrypt (RFC 7914), for any ratio of n and r. OpenSSL refuses n ≥ 2^(16·r), as the RFC requires, but
 * some wallets write n = 2^18 with r = 1. Takes seconds and 128·r·n bytes, and blocks the thread meanwhile.
 */
export function deriveScryptKey(
  password: Uint8Array,
  salt: Uint8Array,
  { n, r, p, bytes }: ScryptParameters & { readonly bytes: number },
): Buffer {
  const blockBytes = 128 * r;
  const mixed = pbkdf2Sync(password, salt, 1, p * blockBytes, "sha256");
  for (let i = 0; i < p; i += 1) mix(mixed.subarray(i * blockBytes, (i + 1) * blockBytes), n, r);
  return pbkdf2Sync(password, mixed, 1, bytes, "sha256");
}

/** `scryptROMix` (section 5), in place. */
function mix(block: Buffer, n: number, r: number): void {
  const words = 32 * r;
  let x = new Uint32Array(words);
  for (let i = 0; i < words; i += 1) x[i] = block.readUInt32LE(4 * i);
  let y = new Uint32Array(words);
  const table = new Uint32Array(words * n);
  for (let i = 0; i < n; i += 1) {
    for (let j = 0; j < words; j += 1) table[i * words + j] = x[j]!;
    mixBlock(x, y, r);
    [x, y] = [y, x];
  }
  for (let i = 0; i < n; i += 1) {
    // The last 64 bytes as an integer, modulo n: the lowest word is enough.
    const at = (x[words - 16]! & (n - 1)) * words;
    for (let j = 0; j < words; j += 1) x[j]! ^= table[at + j]!;
    mixBlock(x, y, r);
    [x, y] = [y, x];
  }
  for (let i = 0; i < words; i += 1) block.writeUInt32LE(x[i]!, 4 * i);
}

const scratch = new Uint32Array(16);

/** `scryptBlockMix` (section 4): even-numbered 64-byte blocks first, then the odd ones. */
function mixBlock(from: Uint32Array, to: Uint32Array, r: number): void {
  const state = scratch;
  for (let j = 0; j < 16; j += 1) state[j] = from[from.length - 16 + j]!;
  for (let i = 0; i < 2 * r; i += 1) {
    for (let j = 0; j < 16; j += 1) state[j]! ^= from[16 * i + j]!;
    salsa20_8(state);
    const at = 16 * ((i >> 1) + (i % 2 === 0 ? 0 : r));
    for (let j = 0; j < 16; j += 1) to[at + j] = state[j]!;
  }
}

/** Rounds of the Salsa20/8 core, each a column round and a row round (section 3). */
const DOUBLE_ROUNDS = 4;

/** Salsa20/8 with local variables instead of array elements: four times as fast. */
function salsa20_8(state: Uint32Array): void {
  let x0 = state[0]!,
    x1 = state[1]!,
    x2 = state[2]!,
    x3 = state[3]!,
    x4 = state[4]!,
    x5 = state[5]!,
    x6 = state[6]!,
    x7 = state[7]!,
    x8 = state[8]!,
    x9 = state[9]!,
    x10 = state[10]!,
    x11 = state[11]!,
    x12 = state[12]!,
    x13 = state[13]!,
    x14 = state[14]!,
    x15 = state[15]!;
  for (let round = 0; round < DOUBLE_ROUNDS; round += 1) {
    x4 ^= rotate(x0 + x12, 7);
    x8 ^= rotate(x4 + x0, 9);
    x12 ^= rotate(x8 + x4, 13);
    x0 ^= rotate(x12 + x8, 18);
    x9 ^= rotate(x5 + x1, 7);
    x13 ^= rotate(x9 + x5, 9);
    x1 ^= rotate(x13 + x9, 13);
    x5 ^= rotate(x1 + x13, 18);
    x14 ^= rotate(x10 + x6, 7);
    x2 ^= rotate(x14 + x10, 9);
    x6 ^= rotate(x2 + x14, 13);
    x10 ^= rotate(x6 + x2, 18);
    x3 ^= rotate(x15 + x11, 7);
    x7 ^= rotate(x3 + x15, 9);
    x11 ^= rotate(x7 + x3, 13);
    x15 ^= rotate(x11 + x7, 18);
    x1 ^= rotate(x0 + x3, 7);
    x2 ^= rotate(x1 + x0, 9);
    x3 ^= rotate(x2 + x1, 13);
    x0 ^= rotate(x3 + x2, 18);
    x6 ^= rotate(x5 + x4, 7);
    x7 ^= rotate(x6 + x5, 9);
    x4 ^= rotate(x7 + x6, 13);
    x5 ^= rotate(x4 + x7, 18);
    x11 ^= rotate(x10 + x9, 7);
    x8 ^= rotate(x11 + x10, 9);
    x9 ^= rotate(x8 + x11, 13);
    x10 ^= rotate(x9 + x8, 18);
    x12 ^= rotate(x15 + x14, 7);
    x13 ^= rotate(x12 + x15, 9);
    x14 ^= rotate(x13 + x12, 13);
    x15 ^= rotate(x14 + x13, 18);
  }
  state[0]! += x0;
  state[1]! += x1;
  state[2]! += x2;
  state[3]! += x3;
  state[4]! += x4;
  state[5]! += x5;
  state[6]! += x6;
  state[7]! += x7;
  state[8]! += x8;
  state[9]! += x9;
  state[10]! += x10;
  state[11]! += x11;
  state[12]! += x12;
  state[13]! += x13;
  state[14]! += x14;
  state[15]! += x15;
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
