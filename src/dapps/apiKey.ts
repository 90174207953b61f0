import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** Random bytes of a key: 192 bits. */
const SECRET_BYTES = 24;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Base62 digits of 24 bytes (⌈192 / log2 62⌉) and of a CRC-32 (⌈32 / log2 62⌉). */
const SECRET_DIGITS = 33;
const CHECKSUM_DIGITS = 6;
const SHAPE = new RegExp(`^tyche_[0-9A-Za-z]{${SECRET_DIGITS + CHECKSUM_DIGITS}}$`);

/**
 * Generates an API key: `tyche_`, 192 random bits and their CRC-32 in base62. Secret scanners recognise its shape, and a typo is detected
 * without a lookup.
 */
export function createApiKey(): string {
  const secret = encodeBase62(BigInt(`0x${randomBytes(SECRET_BYTES).toString("hex")}`), SECRET_DIGITS);
  return `tyche_${secret}${checksumOf(secret)}`;
}

/** Whether a text has the shape of a key and a correct checksum. Doesn't check whether such a key exists. */
export function isApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const digits = text.slice("tyche_".length);
  return checksumOf(digits.slice(0, SECRET_DIGITS)) === digits.slice(SECRET_DIGITS);
}

/** Returns the SHA-256 of a key, 32 bytes: enough to look it up by, and useless to whoever reads it (a key has 192 random bits). */
export function hashApiKey(key: string): Uint8Array {
  return createHash("sha256").update(key).digest();
}

function checksumOf(secret: string): string {
  return encodeBase62(BigInt(crc32(secret)), CHECKSUM_DIGITS);
}

function encodeBase62(value: bigint, digits: number): string {
  let text = "";
  for (let left = value, i = 0; i < digits; i += 1, left /= 62n) text = ALPHABET[Number(left % 62n)] + text;
  return text;
}
