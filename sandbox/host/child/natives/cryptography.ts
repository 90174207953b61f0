import type * as crypto from "node:crypto";
import { library } from "./library.ts";
import { md4 } from "./md4.ts";
import type { Native } from "./native.ts";

/** Most random bytes in one call; Web Crypto's own limit is 65,536. */
const MAX_RANDOM_BYTES = 4 * 1024 * 1024;

/** Longest derived key or digest, in bytes: a source may ask for gigabytes. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Most memory that scrypt may ask for, in bytes. */
const MAX_SCRYPT_MEMORY = 64 * 1024 * 1024;

/** Longest RSA or DSA modulus and longest prime, in bits: longer ones take seconds to find. */
const MAX_MODULUS_BITS = 4_096;
const MAX_PRIME_BITS = 1_024;
const MAX_SAFE_PRIME_BITS = 512;

const text = (value: unknown): string => String(value);
const count = (value: unknown, max = Number.MAX_SAFE_INTEGER): number => {
  if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) > max) {
    throw new RangeError(`a count must be an integer from 0 to ${max}`);
  }
  return value as number;
};

/** Reads bytes in hex, such as a passphrase, a prime or a divisor. */
const hexBytes = (value: unknown, max = Number.MAX_SAFE_INTEGER): Buffer => {
  if (typeof value !== "string") throw new TypeError("bytes must be given in hex");
  if (value.length / 2 > max) throw new RangeError(`at most ${max} bytes can be given here`);
  return Buffer.from(value, "hex");
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
 * Empties OpenSSL's queue of errors, as each job of Node's does. Some of Node's calls leave theirs in it (scrypt without enough memory), where
 * the next failure would find it in place of its own, whatever source of this process that is of.
 */
export function emptyErrorQueue(): void {
  library.crypto.randomBytes(1);
}

/**
 * Synchronous cryptography for `node:crypto` and random numbers. Multiple byte arguments are concatenated; `lengths` says where they
 * end.
 */
export const cryptoNatives: Readonly<Record<string, Native>> = {
  random: ({ bytes }) => {
    if (count(bytes) > MAX_RANDOM_BYTES)
      throw new RangeError(`at most ${MAX_RANDOM_BYTES} random bytes at once`);
    return library.crypto.randomBytes(count(bytes));
  },
  uuid: () => library.crypto.randomUUID(),
  hash: ({ algorithm, outputLength }, body) =>
    /md4/.test(text(algorithm))
      ? md4(body)
      : library.crypto
          .createHash(
            text(algorithm),
            outputLength === undefined ? {} : { outputLength: count(outputLength, MAX_OUTPUT_BYTES) },
          )
          .update(body)
          .digest(),
  hmac: ({ algorithm, lengths }, body) => {
    const [key = body, data = body] = split(body, lengths);
    return library.crypto.createHmac(text(algorithm), key).update(data).digest();
  },
  pbkdf2: ({ iterations, keyLength, digest, lengths }, body) => {
    const [password = body, salt = body] = split(body, lengths);
    return library.crypto.pbkdf2Sync(
      password,
      salt,
      count(iterations),
      count(keyLength, MAX_OUTPUT_BYTES),
      text(digest),
    );
  },
  scrypt: ({ keyLength, cost, blockSize, parallelization, memory, lengths }, body) => {
    const [password = body, salt = body] = split(body, lengths);
    return library.crypto.scryptSync(password, salt, count(keyLength, MAX_OUTPUT_BYTES), {
      cost: count(cost),
      blockSize: count(blockSize),
      parallelization: count(parallelization),
      ...(memory !== undefined && { maxmem: count(memory, MAX_SCRYPT_MEMORY) }),
    });
  },
  hkdf: ({ digest, keyLength, lengths }, body) => {
    const [key = body, salt = body, info = body] = split(body, lengths);
    return new Uint8Array(library.crypto.hkdfSync(text(digest), key, salt, info, count(keyLength)));
  },
  /** `{algorithm, key}` (PEM) and data → signature. */
  sign: ({ algorithm, ...key }, body) =>
    library.crypto.sign(algorithm === null ? null : text(algorithm), body, keyInput(key)),
  /** Body: signature, data → `true` or `false`. */
  verify: ({ algorithm, lengths, ...key }, body) => {
    const [signature = body, data = body] = split(body, lengths);
    return String(
      library.crypto.verify(algorithm === null ? null : text(algorithm), data, keyInput(key), signature),
    );
  },
  /** `{operation, key}` (PEM), a label and data → data encrypted or decrypted with an RSA key. */
  crypt: ({ operation, key, padding, oaepHash, lengths }, body) => {
    const [label = body, data = body] = split(body, lengths);
    const name = CRYPT.find((known) => known === operation);
    if (name === undefined) throw new TypeError("unknown function of node:crypto");
    return library.crypto[name](
      {
        key: text(key),
        ...(padding !== undefined && { padding: count(padding) }),
        ...(oaepHash !== undefined && { oaepHash: text(oaepHash) }),
        ...(label.length > 0 && { oaepLabel: label }),
      },
      data,
    );
  },
  /** `{isPublic, format, type, passphrase}`, the last in hex, and bytes, or `{isPublic, jwk}` → `{key}` as PEM. */
  keyRead: ({ isPublic, format, type, passphrase, jwk }, body) => {
    const input = (jwk === undefined
      ? {
          key: Buffer.from(body),
          format: format ?? "pem",
          ...(type !== undefined && { type }),
          ...(passphrase !== undefined && { passphrase: hexBytes(passphrase) }),
        }
      : { key: jwk, format: "jwk" }) as unknown as crypto.PrivateKeyInput;
    const key =
      isPublic === true
        ? library.crypto.createPublicKey(input as unknown as crypto.PublicKeyInput)
        : library.crypto.createPrivateKey(input);
    return JSON.stringify({ key: pemOf(key) });
  },
  /** `{key, isPublic}` (PEM) → `{kind, details}`. */
  keyDetails: ({ key, isPublic }) => {
    const { asymmetricKeyType, asymmetricKeyDetails } = readPem(key, isPublic);
    return JSON.stringify({ kind: asymmetricKeyType, details: asymmetricKeyDetails ?? {} }, (_, value) =>
      typeof value === "bigint" ? String(value) : (value as unknown),
    );
  },
  /** `{key, isPublic, format, type, cipher, passphrase}`, the last in hex → PEM or JWK text, or DER bytes. */
  keyExport: ({ key, isPublic, format, type, cipher, passphrase }) => {
    const exported = readPem(key, isPublic).export({
      format,
      ...(format !== "jwk" && { type }),
      ...(cipher !== undefined && { cipher: text(cipher), passphrase: hexBytes(passphrase) }),
    } as crypto.KeyExportOptions) as string | Buffer | object;
    return typeof exported === "string" || exported instanceof Uint8Array
      ? exported
      : JSON.stringify(exported);
  },
  /** `{type}` and the options of Node's function, a `prime` in hex → `{publicKey, privateKey}` as PEM. */
  keyPair: ({
    type,
    modulusLength,
    publicExponent,
    namedCurve,
    hashAlgorithm,
    mgf1HashAlgorithm,
    saltLength,
    group,
    prime,
    primeLength,
    generator,
  }) => {
    const { publicKey, privateKey } = library.crypto.generateKeyPairSync(
      text(type) as "rsa",
      {
        ...(modulusLength !== undefined && { modulusLength: count(modulusLength, MAX_MODULUS_BITS) }),
        ...(publicExponent !== undefined && { publicExponent: count(publicExponent) }),
        ...(namedCurve !== undefined && { namedCurve: text(namedCurve) }),
        ...(hashAlgorithm !== undefined && { hashAlgorithm: text(hashAlgorithm) }),
        ...(mgf1HashAlgorithm !== undefined && { mgf1HashAlgorithm: text(mgf1HashAlgorithm) }),
        ...(saltLength !== undefined && { saltLength: count(saltLength) }),
        ...(group !== undefined && { group: text(group) }),
        ...(prime !== undefined && { prime: hexBytes(prime, MAX_MODULUS_BITS / 8) }),
        ...(primeLength !== undefined && { primeLength: count(primeLength, MAX_SAFE_PRIME_BITS) }),
        ...(generator !== undefined && { generator: count(generator) }),
      } as never,
    ) as unknown as { readonly publicKey: crypto.KeyObject; readonly privateKey: crypto.KeyObject };
    return JSON.stringify({ publicKey: pemOf(publicKey), privateKey: pemOf(privateKey) });
  },
  /** `{privateKey, publicKey}` (PEM) → the secret that both share. */
  agree: ({ privateKey, publicKey }) =>
    library.crypto.diffieHellman({
      privateKey: library.crypto.createPrivateKey(text(privateKey)),
      publicKey: library.crypto.createPublicKey(text(publicKey)),
    }),
  /** Body: private key and, for a secret or a conversion, a public key → a private key, public key or secret. */
  ecdh: ({ action, curve, format, lengths }, body) => {
    const [privateKey = body, publicKey = body] = split(body, lengths);
    const form = format === undefined ? "uncompressed" : (text(format) as "hybrid");
    if (action === "convert")
      return library.crypto.ECDH.convertKey(publicKey, text(curve), undefined, undefined, form);
    const ecdh = library.crypto.createECDH(text(curve));
    if (action === "generate") {
      const bytes = (ecdh.generateKeys().length - 1) / 2;
      return Buffer.from(ecdh.getPrivateKey("hex").padStart(2 * bytes, "0"), "hex");
    }
    ecdh.setPrivateKey(privateKey);
    if (action === "secret") return ecdh.computeSecret(publicKey);
    return Buffer.from(ecdh.getPublicKey("hex", form), "hex");
  },
  /** `{name}` → the prime of a known group; nothing if there is no such group. */
  dhGroup: ({ name }) =>
    /^modp(1|2|5|14|15|16|17|18)$/.test(text(name))
      ? library.crypto.getDiffieHellman(text(name)).getPrime()
      : new Uint8Array(0),
  isPrime: ({ checks }, body) => String(library.crypto.checkPrimeSync(body, { checks: count(checks, 64) })),
  /** `{size, safe, add, rem}`, the last two in hex → a prime that leaves `rem` when it is divided by `add`. */
  prime: ({ size, safe, add, rem }) => {
    const isSafe = safe === true;
    const most = isSafe ? MAX_SAFE_PRIME_BITS : MAX_PRIME_BITS;
    if (Number(size) > most)
      throw new RangeError(
        `node:crypto: ${isSafe ? "safe primes" : "primes"} have at most ${most} bits in this sandbox`,
      );
    const bits = count(size);
    const [step, rest] = [add, rem].map((hex) => (hex === undefined ? hex : hexBytes(hex)));
    if (step !== undefined) checkStep(bits, isSafe, integerOf(step), rest && integerOf(rest));
    return new Uint8Array(
      library.crypto.generatePrimeSync(bits, {
        safe: isSafe,
        ...(step !== undefined && { add: step }),
        ...(rest !== undefined && { rem: rest }),
      }),
    );
  },
  cryptoConstants: () => {
    const all = { ...library.crypto.constants, ...DENO_CONSTANTS, defaultCipherList: undefined };
    const rank = (name: string): number => CONSTANT_KINDS.findIndex((kind) => name.startsWith(kind));
    const sorted = Object.entries(all).sort(
      ([a], [b]) => rank(a) - rank(b) || (a.startsWith("SSL_OP_") ? (a > b ? 1 : -1) : 0),
    );
    return JSON.stringify(Object.fromEntries(sorted));
  },
};

/** What Deno's constants begin with, in its order; those of `SSL_OP_` are in the alphabet's. */
const CONSTANT_KINDS = ["OPENSSL_", "SSL_OP_", "ENGINE_", "DH_", "ALPN_", ""];

/** What Deno's constants have otherwise: those of OpenSSL 1.1. */
const DENO_CONSTANTS = {
  ...Object.fromEntries(
    "EPHEMERAL_RSA MICROSOFT_BIG_SSLV3_BUFFER MICROSOFT_SESS_ID_BUG MSIE_SSLV2_RSA_PADDING NETSCAPE_CA_DN_BUG NETSCAPE_CHALLENGE_BUG NETSCAPE_DEMO_CIPHER_CHANGE_BUG NETSCAPE_REUSE_CIPHER_CHANGE_BUG PKCS1_CHECK_1 PKCS1_CHECK_2 SINGLE_DH_USE SINGLE_ECDH_USE SSLEAY_080_CLIENT_DH_BUG SSLREF2_REUSE_CERT_TYPE_BUG TLS_BLOCK_PADDING_BUG TLS_D5_BUG"
      .split(" ")
      .map((name) => [`SSL_OP_${name}`, 0]),
  ),
  OPENSSL_VERSION_NUMBER: 0x10_10_10_bf,
  SSL_OP_ALL: 0x80_00_08_54,
  ALPN_ENABLED: 1,
};

const CRYPT = ["publicEncrypt", "publicDecrypt", "privateEncrypt", "privateDecrypt"] as const;

const integerOf = (bytes: Buffer): bigint => BigInt(`0x0${bytes.toString("hex")}`);
const commonDivisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : commonDivisor(b, a % b));

/**
 * Refuses a divisor and remainder that no prime has, or too few: OpenSSL would look for one for ever. Every 0.7 × `bits`th number of that
 * size is a prime, and a safe one at every 0.4 × `bits`²th, so that among as many as are asked for here dozens are expected. Divisors beyond
 * 32 bits are refused as some take ten times as long.
 */
function checkStep(bits: number, isSafe: boolean, step: bigint, given: bigint | undefined): void {
  // Node itself refuses these.
  if (step >> BigInt(bits) > 0n || (given !== undefined && given >= step)) return;
  const rest = given ?? (isSafe ? 3n : 1n);
  const isPossible =
    commonDivisor(step, rest) === 1n && (!isSafe || commonDivisor(step, rest === 0n ? 1n : rest - 1n) <= 2n);
  const least = isSafe ? 32n * BigInt(bits) ** 2n : 64n * BigInt(bits);
  if (!isPossible || step >> 32n > 0n || (step * least) >> BigInt(bits - 1) > 0n)
    throw new RangeError(
      `too few primes of ${bits} bits leave ${rest} when they are divided by ${step}: choose another add or rem`,
    );
}

const readPem = (key: unknown, isPublic: unknown): crypto.KeyObject =>
  isPublic === true ? library.crypto.createPublicKey(text(key)) : library.crypto.createPrivateKey(text(key));

/** Writes a key that isn't a secret as PEM. */
export const pemOf = (key: crypto.KeyObject): string =>
  key.export({ format: "pem", type: key.type === "public" ? "spki" : "pkcs8" });

/** A key with the options of a signature. */
function keyInput({ key, padding, saltLength, dsaEncoding }: Readonly<Record<string, unknown>>) {
  return {
    key: text(key),
    ...(padding !== undefined && { padding: count(padding) }),
    ...(saltLength !== undefined && { saltLength: Number(saltLength) }),
    ...(dsaEncoding !== undefined && { dsaEncoding: text(dsaEncoding) as "der" }),
  };
}
