import { randomBytes } from "node:crypto";

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;

let lastTime = 0;
let lastRandom = 0n;

/**
 * Generates an id: `prefix_` + 26 lower-case Crockford base32 characters, 48 bits of milliseconds followed by an 80-bit random part. Ids
 * sort by creation time; within one millisecond of one process the random part counts up.
 */
export function createId(prefix: string, nowMs: number = Date.now()): string {
  if (nowMs > lastTime) {
    lastTime = nowMs;
    // The top bit stays clear so that counting up within a millisecond can't overflow.
    lastRandom = BigInt(`0x${randomBytes(10).toString("hex")}`) >> 1n;
  } else {
    lastRandom += 1n;
  }
  return `${prefix}_${encode(BigInt(lastTime), TIME_CHARACTERS)}${encode(lastRandom, RANDOM_CHARACTERS)}`;
}

/** Returns a string that sorts before every id created at or after a time, and after those created before it. */
export function firstId(prefix: string, atMs: number): string {
  return `${prefix}_${encode(BigInt(Math.max(0, Math.floor(atMs))), TIME_CHARACTERS)}${"0".repeat(RANDOM_CHARACTERS)}`;
}

function encode(value: bigint, characters: number): string {
  let text = "";
  for (let left = value, i = 0; i < characters; i += 1, left >>= 5n)
    text = CROCKFORD[Number(left & 31n)] + text;
  return text;
}
