import * as crypto from "node:crypto";
import type { Native } from "./native.ts";

/** Most random bytes in one call; Web Crypto's own limit is 65,536. */
const MAX_RANDOM_BYTES = 4 * 1024 * 1024;

/** Longest derived key or digest, in bytes: a source may ask for gigabytes. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

const text = (value: unknown): string => String(value);
const count = (value: unknown, max = Number.MAX_SAFE_INTEGER): number => {
  if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) > max) {
    throw new RangeError(`a count must be an integer from 0 to ${max}`);
  }
  return value as number;
};

/** Splits the body into parts of the given lengths; the last part takes the rest. */
function split(body: Uint8Array, lengths: unknown): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const length of Array.isArray(lengths) ? lengths : []) {
    parts.push(body.subarray(at, at + count(length)));
    at += count(length);
  }
  parts.push(body.subarray(at));
  return parts;
}

/**
 * Synchronous cryptography for `node:crypto` and random numbers. Multiple byte arguments are concatenated; `lengths` says where they
 * end.
 */
export const cryptoNatives: Readonly<Record<string, Native>> = {
  random: ({ bytes }) => {
    if (count(bytes) > MAX_RANDOM_BYTES)
      throw new RangeError(`at most ${MAX_RANDOM_BYTES} random bytes at once`);
    return crypto.randomBytes(count(bytes));
  },
  uuid: () => crypto.randomUUID(),
  hash: ({ algorithm, outputLength }, body) =>
    crypto
      .createHash(
        text(algorithm),
        outputLength === undefined ? {} : { outputLength: count(outputLength, MAX_OUTPUT_BYTES) },
      )
      .update(body)
      .digest(),
  hmac: ({ algorithm, lengths }, body) => {
    const [key = body, data = body] = split(body, lengths);
    return crypto.createHmac(text(algorithm), key).update(data).digest();
  },
  /** Body: key, iv, additional data, tag, data. Authenticated encryption appends the tag. */
  cipher: ({ algorithm, decrypt, padding, lengths, authTagLength }, body) => {
    const [key = body, iv = body, aad = body, tag = body, data = body] = split(body, lengths);
    const name = text(algorithm) as crypto.CipherGCMTypes;
    const options = { authTagLength: authTagLength === undefined ? 16 : count(authTagLength) };
    const vector = iv.length === 0 ? null : iv;
    const authenticated = /gcm|ccm|ocb|poly1305/i.test(name);
    const cipher = (decrypt === true ? crypto.createDecipheriv : crypto.createCipheriv)(
      name,
      key,
      vector as Uint8Array,
      authenticated ? options : undefined,
    ) as crypto.CipherGCM & crypto.DecipherGCM;
    if (padding === false) cipher.setAutoPadding(false);
    if (authenticated && aad.length > 0) cipher.setAAD(aad);
    if (authenticated && decrypt === true && tag.length > 0) cipher.setAuthTag(tag);
    const out = [cipher.update(data), cipher.final()];
    if (authenticated && decrypt !== true) out.push(cipher.getAuthTag());
    return Buffer.concat(out);
  },
  pbkdf2: ({ iterations, keyLength, digest, lengths }, body) => {
    const [password = body, salt = body] = split(body, lengths);
    return crypto.pbkdf2Sync(
      password,
      salt,
      count(iterations),
      count(keyLength, MAX_OUTPUT_BYTES),
      text(digest),
    );
  },
  scrypt: ({ keyLength, cost, blockSize, parallelization, lengths }, body) => {
    const [password = body, salt = body] = split(body, lengths);
    return crypto.scryptSync(password, salt, count(keyLength, MAX_OUTPUT_BYTES), {
      cost: count(cost),
      blockSize: count(blockSize),
      parallelization: count(parallelization),
    });
  },
  hkdf: ({ digest, keyLength, lengths }, body) => {
    const [key = body, salt = body, info = body] = split(body, lengths);
    return new Uint8Array(crypto.hkdfSync(text(digest), key, salt, info, count(keyLength)));
  },
  /** `{algorithm, key}` (PEM) and data → signature. */
  sign: ({ algorithm, key }, body) =>
    crypto.sign(algorithm === null ? null : text(algorithm), body, text(key)),
  /** Body: signature, data → `true` or `false`. */
  verify: ({ algorithm, key, lengths }, body) => {
    const [signature = body, data = body] = split(body, lengths);
    return String(crypto.verify(algorithm === null ? null : text(algorithm), data, text(key), signature));
  },
  /**
   * `{key, isPublic}` (PEM) → JSON list of the key's type, the key as PEM, and the modulus length or null:
   * `["rsa", "-----BEGIN…", 2048]`.
   */
  key: ({ key, isPublic }) => {
    const made = isPublic === true ? crypto.createPublicKey(text(key)) : crypto.createPrivateKey(text(key));
    const pem = made.export({ format: "pem", type: isPublic === true ? "spki" : "pkcs8" });
    return JSON.stringify([made.asymmetricKeyType, pem, made.asymmetricKeyDetails?.modulusLength]);
  },
  hashes: () => JSON.stringify(crypto.getHashes()),
  ciphers: () => JSON.stringify(crypto.getCiphers()),
  curves: () => JSON.stringify(crypto.getCurves()),
};
