import { createDecipheriv, pbkdf2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { scryptAsync } from "@noble/hashes/scrypt.js";
import { TycheError } from "../lib/errors.ts";
import { keccak256 } from "../lib/keccak.ts";

/** Maximum memory for deriving a key, in bytes: geth's own files need 256 MiB (n = 2^18, r = 8). */
const MAX_SCRYPT_BYTES = 1024 * 1024 * 1024;
/** Bounds the time that a file can take, 3 s at 0.3 µs a round; the specification's example has 262,144 rounds. */
const MAX_PBKDF2_ROUNDS = 10_000_000;
/** Bytes of the derived key: the first half decrypts, the second half goes into the MAC. */
const DERIVED_BYTES = 32;
const CIPHER = "aes-128-ctr";

/**
 * Reads the 32-byte secret key from a key file: Web3 Secret Storage, version 3, as written by geth, clef and wallets, with scrypt
 * or PBKDF2-HMAC-SHA-256 and AES-128-CTR.
 * https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/
 *
 * @param text the file's JSON.
 * @throws KeystoreError when it is not such a file, or the password is wrong; the message reveals nothing of either.
 */
export async function readKeystore(text: string, password: string): Promise<Uint8Array> {
  const crypto = parseCrypto(text);
  const derived = await deriveKey(crypto, Buffer.from(password.normalize("NFKC"), "utf8"));
  const mac = keccak256(Buffer.concat([derived.subarray(16, 32), crypto.ciphertext]));
  if (!timingSafeEqual(mac, crypto.mac)) throw new KeystoreError("the password is wrong");
  const decipher = createDecipheriv(CIPHER, derived.subarray(0, 16), crypto.iv);
  return Uint8Array.from(Buffer.concat([decipher.update(crypto.ciphertext), decipher.final()]));
}

type KeystoreCrypto = ReturnType<typeof parseCrypto>;

function parseCrypto(text: string) {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new KeystoreError("it is not JSON");
  }
  const { version, crypto, Crypto } = objectOf(file, "the file");
  if (version !== 3) throw new KeystoreError("its version is not 3");
  // Some old wallets capitalize the name.
  const parts = objectOf(crypto ?? Crypto, "crypto");
  if (parts["cipher"] !== CIPHER) throw new KeystoreError(`its cipher is not ${CIPHER}`);
  return {
    ciphertext: hexOf(parts["ciphertext"], "ciphertext", 32),
    iv: hexOf(objectOf(parts["cipherparams"], "cipherparams")["iv"], "iv", 16),
    mac: hexOf(parts["mac"], "mac", 32),
    kdf: parts["kdf"],
    parameters: objectOf(parts["kdfparams"], "kdfparams"),
  };
}

async function deriveKey({ kdf, parameters }: KeystoreCrypto, password: Buffer): Promise<Buffer> {
  const salt = hexOf(parameters["salt"], "salt");
  if (numberOf(parameters, "dklen") !== DERIVED_BYTES)
    throw new KeystoreError(`its dklen is not ${DERIVED_BYTES}`);
  if (kdf === "scrypt") {
    const [n, r, p] = [numberOf(parameters, "n"), numberOf(parameters, "r"), numberOf(parameters, "p")];
    if (!Number.isInteger(Math.log2(n)) || n < 2)
      throw new KeystoreError("its scrypt n is not a power of two (RFC 7914)");
    // RFC 7914: 128·r·n bytes for the large vector, 128·r·p for the blocks.
    if (128 * r * (n + p + 2) > MAX_SCRYPT_BYTES)
      throw new KeystoreError("its scrypt parameters need more than 1 GiB");
    // OpenSSL refuses n ≥ 2^(16·r), as the RFC requires, but some wallets write n = 2^18 with r = 1.
    const options = { N: n, r, p, dkLen: DERIVED_BYTES, maxmem: MAX_SCRYPT_BYTES };
    return Buffer.from(await scryptAsync(password, salt, options));
  }
  if (kdf === "pbkdf2") {
    const rounds = numberOf(parameters, "c");
    if (parameters["prf"] !== "hmac-sha256") throw new KeystoreError("its prf is not hmac-sha256");
    if (rounds > MAX_PBKDF2_ROUNDS)
      throw new KeystoreError(`it asks for more than ${MAX_PBKDF2_ROUNDS} rounds`);
    return await promisify(pbkdf2)(password, salt, rounds, DERIVED_BYTES, "sha256");
  }
  throw new KeystoreError("its kdf is neither scrypt nor pbkdf2");
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new KeystoreError(`${what} is not an object`);
  return value as Record<string, unknown>;
}

function hexOf(value: unknown, what: string, bytes?: number): Buffer {
  const isHex = typeof value === "string" && /^(?:0x)?(?:[0-9a-f]{2})+$/i.test(value);
  const read = isHex ? Buffer.from(value.replace(/^0x/, ""), "hex") : Buffer.alloc(0);
  if (!isHex || (bytes !== undefined && read.length !== bytes))
    throw new KeystoreError(`its ${what} is not hex${bytes === undefined ? "" : ` of ${bytes} bytes`}`);
  return read;
}

function numberOf(parameters: Readonly<Record<string, unknown>>, name: string): number {
  const value = parameters[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1)
    throw new KeystoreError(`its ${name} is not a positive whole number`);
  return value;
}

/** A key file can't be read. */
export class KeystoreError extends TycheError {
  constructor(reason: string) {
    super(`the key file can't be read: ${reason}`, { code: "keystore_unreadable", blame: "caller" });
  }
}
