import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Bytes of a GCM nonce and tag (NIST SP 800-38D). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Derives an independent 32-byte key for one purpose from the master key (HKDF-SHA-256, RFC 5869).
 *
 * @param masterKey 32 bytes.
 * @param purpose a fixed name such as `operator/sepolia`; another name gives an unrelated key.
 */
export function deriveKey(masterKey: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", masterKey, "tyche", purpose, 32));
}

/**
 * Encrypts bytes under a 32-byte key with AES-256-GCM: nonce (12) ‖ tag (16) ‖ ciphertext.
 *
 * @param context what the bytes belong to; {@link open} refuses them in any other context.
 */
export function seal(key: Uint8Array, plaintext: Uint8Array, context: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** Decrypts what {@link seal} encrypted; throws if the key, context or bytes differ. */
export function open(key: Uint8Array, sealed: Uint8Array, context: string): Uint8Array {
  // Without its length, a shorter tag would do, which is easier to guess.
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES), options)
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
