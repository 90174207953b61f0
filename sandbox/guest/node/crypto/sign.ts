import { invalidArgument, nodeError } from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { bytesOf, concatBytes } from "../../webIdl.ts";
import { type ByteTools, checkFunction, checkText, queue } from "./bytes.ts";
import { callable } from "./callable.ts";
import type { KeyTools } from "./key.ts";
import { createLazyStream } from "./lazyStream.ts";
import { HASHES } from "./names.ts";

type Bytes = Uint8Array;

/** `RSA_PKCS1_PADDING` and `RSA_PKCS1_PSS_PADDING`. */
const PKCS1_PADDING = 1;
const PSS_PADDING = 6;

/** Paddings of encryption: that of PKCS #1, none, OAEP. */
const PADDINGS = [1, 3, 4];
/** Lengths of a salt: that of the digest, and what the signature has. */
const SALT_OF_DIGEST = -1;
const SALT_OF_SIGNATURE = -2;

const WRONG_KIND = "operation not supported for this keytype";
/** What no key of RSA signs. */
const NOT_FOR_RSA = /^(?:shake|blake2)/i;

/** Deno's error for data that a key can't encrypt or decrypt. */
function cryptError(operation: string, error: Error & { readonly code?: string }): Error {
  const { code } = error;
  if (code === "ERR_OSSL_RSA_OAEP_DECODING_ERROR") {
    const routine = "RSA_padding_check_PKCS1_OAEP_mgf1";
    return Object.assign(new Error(`error:04099079:rsa routines:${routine}:oaep decoding error`), { code });
  }
  if (code?.endsWith("OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE")) return new Error(WRONG_KIND);
  if (code === "ERR_OSSL_EVP_INVALID_DIGEST")
    error.message = "error:060800A3:digital envelope routines::unknown message digest algorithm";
  if (!code?.startsWith("ERR_OSSL_RSA_")) return error;
  return new Error(operation.endsWith("Encrypt") ? "message too long" : "decryption error");
}

/** Deno's error for what can't be read as a key that encrypts or decrypts. */
function keyError(error: Error & { readonly code?: string }, isPublic: boolean): Error {
  const { code, message } = error;
  // It is encrypted.
  if (message.endsWith("bad decrypt") || (!isPublic && code === "ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED"))
    return error;
  if (code === "ERR_INVALID_ARG_TYPE" || code === "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE")
    return new TypeError("Invalid key type");
  return new Error(
    isPublic
      ? "SPKI cryptographic key data malformed"
      : "PKCS#8 ASN.1 error: PEM error: PEM preamble contains invalid data (NUL byte)",
  );
}

/** Deno's error for what a key can't sign: OpenSSL's reason without its prefix, or that a salt is too long. */
function signError(error: Error & { readonly code?: string }): Error {
  if (error.code === "ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_KEY_SIZE")
    return new Error("failed to sign digest with RSA-PSS");
  if (error.message.endsWith(WRONG_KIND)) error.message = WRONG_KIND;
  return error;
}

/** What is given beside a key that signs or verifies. */
interface KeyOptions {
  readonly padding: unknown;
  readonly isPkcs1: boolean;
  readonly saltLength: number | undefined;
  readonly dsaEncoding: unknown;
}

/** Such a key, read once: it may be encrypted, which takes long. Each getter asks the host. */
interface SigningKey extends KeyOptions {
  readonly key: {
    readonly asymmetricKeyType: string;
    readonly asymmetricKeyDetails: {
      readonly modulusLength: number;
      readonly hashAlgorithm?: string;
      readonly saltLength?: number;
    };
  };
}

/** Creates the functions that sign, verify, encrypt and decrypt with asymmetric keys. */
export function createSigning(
  { native, load }: Internals,
  { Buffer, toBytes, viewBytes, output, bytesFrom }: ByteTools,
  { pemOf, parse }: KeyTools,
): Readonly<Record<string, unknown>> {
  const known = new Set(HASHES.map((name) => name.toLowerCase()));
  const checkDigest = (algorithm: unknown): string | null => {
    if (algorithm === null || algorithm === undefined) return null;
    const name = checkText(algorithm, "algorithm");
    if (!known.has(name.toLowerCase())) throw new Error(`Invalid digest: ${name}`);
    return name;
  };
  /** Checks that there is a key, and returns its options. */
  const keyOptions = (key: unknown, isPublic: boolean): KeyOptions => {
    if (key === undefined || key === null || (!isPublic && !key))
      throw nodeError("ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
    const { padding, saltLength, dsaEncoding } = (
      typeof key === "object" && bytesOf(key) === undefined ? key : {}
    ) as Partial<KeyOptions>;
    if (dsaEncoding !== undefined && dsaEncoding !== "der" && dsaEncoding !== "ieee-p1363")
      throw invalidArgument("options.dsaEncoding", dsaEncoding);
    if (saltLength !== undefined && saltLength >> 0 !== saltLength)
      throw invalidArgument("options.saltLength", saltLength);
    if (padding !== undefined && (padding as number) >> 0 !== padding)
      throw invalidArgument("options.padding", padding);
    // Deno signs with any other padding as without one.
    return {
      padding: padding === PSS_PADDING ? padding : undefined,
      isPkcs1: padding === PKCS1_PADDING,
      saltLength: (saltLength as number) < SALT_OF_SIGNATURE ? SALT_OF_DIGEST : saltLength,
      dsaEncoding,
    };
  };
  const readKey = (key: unknown, isPublic: boolean): SigningKey => ({
    ...keyOptions(key, isPublic),
    key: parse(key, isPublic) as unknown as SigningKey["key"],
  });
  /** The length of the salt that Deno uses: the longest, unless it is told. */
  const saltOf = (algorithm: string | null, read: SigningKey): number | undefined => {
    const { key, padding, saltLength } = read;
    if (algorithm === null || (saltLength !== undefined && saltLength !== SALT_OF_SIGNATURE))
      return saltLength;
    const isPss = key.asymmetricKeyType === "rsa-pss";
    const isLongest = isPss
      ? saltLength === SALT_OF_SIGNATURE
      : padding === PSS_PADDING && saltLength === undefined;
    if (!isLongest) return saltLength;
    const digest = native("hash", { algorithm }, new Uint8Array(0));
    return Math.ceil((key.asymmetricKeyDetails.modulusLength - 1) / 8) - digest.length - 2;
  };
  /** What the host reads. */
  const headerOf = (algorithm: string | null, read: SigningKey, isPublic: boolean): object => ({
    ...read,
    algorithm,
    key: pemOf(read.key, isPublic),
    saltLength: saltOf(algorithm, read),
  });
  /** Refuses what a key of RSA-PSS doesn't do, and any of RSA. */
  const checkRsa = (algorithm: string | null, { key, isPkcs1, saltLength }: SigningKey): void => {
    if (!key.asymmetricKeyType.startsWith("rsa")) return;
    if (NOT_FOR_RSA.test(String(algorithm)))
      throw new TypeError(`digest not allowed for RSA signature: ${String(algorithm).toLowerCase()}`);
    if (key.asymmetricKeyType === "rsa") return;
    const { hashAlgorithm, saltLength: least = 0 } = key.asymmetricKeyDetails;
    if (isPkcs1)
      throw Object.assign(
        new Error("error:1C8000A5:Provider routines::illegal or unsupported padding mode"),
        { code: "ERR_OSSL_ILLEGAL_OR_UNSUPPORTED_PADDING_MODE" },
      );
    if (saltLength !== undefined && saltLength >= 0 && saltLength < least)
      throw new Error("pss saltlen too small");
    const name = algorithm?.toLowerCase().replace(/^rsa-/, "");
    if (hashAlgorithm !== undefined && hashAlgorithm !== name) throw new Error(`${name} digest not allowed`);
  };
  const signBytes = (algorithm: string | null, data: Bytes, read: SigningKey): Bytes => {
    checkRsa(algorithm, read);
    // Such a key has its padding, and the length of its salt.
    const isPss = read.key.asymmetricKeyType === "rsa-pss";
    const given = isPss ? { ...read, padding: undefined } : read;
    try {
      return native("sign", headerOf(algorithm, given, false), data) as Bytes;
    } catch (error) {
      throw signError(error as Error);
    }
  };
  const verifyBytes = (
    algorithm: string | null,
    data: Bytes,
    read: SigningKey,
    signature: Bytes,
  ): boolean => {
    if (NOT_FOR_RSA.test(String(algorithm))) checkRsa(algorithm, read);
    try {
      const header = headerOf(algorithm, read, true);
      return String(bytesFrom("verify", header, signature, data)) === "true";
    } catch (error) {
      throw signError(error as Error);
    }
  };
  /** Returns the digest that the host is to use. */
  const digestFor = (
    algorithm: unknown,
    data: unknown,
    { key }: SigningKey,
    isVerified: boolean,
  ): string | null => {
    const { asymmetricKeyType: kind } = key;
    if (kind.startsWith("x") && isVerified) throw new TypeError(WRONG_KIND);
    if (!kind.startsWith("ed")) {
      const digest = checkDigest(algorithm);
      if (digest === null)
        throw new TypeError(
          isVerified ? "no default digest" : "Algorithm must be specified when using non-Ed25519 keys",
        );
      return digest;
    }
    if (typeof data === "string") throw new TypeError("expected typed ArrayBufferView");
    if (algorithm !== null && algorithm !== undefined && (algorithm as string).toLowerCase() !== "sha512")
      throw new TypeError("Only 'sha512' is supported for Ed25519 keys");
    return null;
  };
  const readBytes = (value: unknown, name: string): Bytes =>
    typeof value === "string" ? Buffer.from(value) : viewBytes(value, name);
  const checkAlgorithm = (algorithm: unknown): void => {
    if (algorithm !== null && algorithm !== undefined) checkText(algorithm, "algorithm");
  };
  /** Both check their arguments and return what does the work. */
  const sign = (algorithm: unknown, data: unknown, key: unknown) => {
    checkAlgorithm(algorithm);
    const bytes = readBytes(data, "data");
    keyOptions(key, false);
    return () => {
      const read = readKey(key, false);
      return Buffer.from(signBytes(digestFor(algorithm, data, read, false), bytes, read));
    };
  };
  const verify = (algorithm: unknown, data: unknown, key: unknown, signature: unknown) => {
    checkAlgorithm(algorithm);
    const bytes = readBytes(data, "data");
    const signed = readBytes(signature, "signature");
    keyOptions(key, true);
    return () => {
      const read = readKey(key, true);
      return verifyBytes(digestFor(algorithm, data, read, true), bytes, read, signed);
    };
  };
  const later =
    (prepare: (...args: never[]) => () => unknown, arity: number, failed: () => unknown) =>
    (...args: unknown[]): unknown => {
      const callback = args[arity] === undefined ? undefined : checkFunction(args[arity]);
      const work = Reflect.apply(prepare, undefined, args) as () => unknown;
      if (callback === undefined) return work();
      let answer: unknown[];
      try {
        answer = [null, work()];
      } catch (error) {
        answer = [error, failed()];
      }
      queue(() => callback(...answer));
      return undefined;
    };

  const finalized = (): Error => nodeError("ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
  const toStream = createLazyStream(load, "Writable");
  /** Base of both: takes what is to be signed piece by piece. */
  class Signed {
    readonly #algorithm: string | null;
    readonly #parts: Bytes[] = [];
    #done = false;
    constructor(algorithm: unknown) {
      this.#algorithm = checkDigest(checkText(algorithm, "algorithm"));
    }
    update(data: unknown, encoding?: unknown): this {
      const bytes = toBytes(data, encoding, "data");
      if (this.#done) throw finalized();
      this.#parts.push(bytes);
      return this;
    }
    _write(data: unknown, encoding: unknown, done: () => void): void {
      this.update(data, encoding);
      done();
    }
    static finish<T>(signed: Signed, work: (algorithm: string | null, data: Bytes) => T): T {
      if (signed.#done) throw finalized();
      const result = work(signed.#algorithm, concatBytes(signed.#parts));
      signed.#done = true;
      return result;
    }
  }
  /** Reads a key; only the functions `sign` and `verify` take one of an Edwards curve. */
  const readClassicKey = (key: unknown, isPublic: boolean): SigningKey => {
    const read = readKey(key, isPublic);
    if (read.key.asymmetricKeyType.startsWith("ed"))
      throw Object.assign(new Error("Unsupported crypto operation"), {
        code: "ERR_CRYPTO_UNSUPPORTED_OPERATION",
      });
    return read;
  };
  const { finish } = Signed;
  delete (Signed as { finish?: unknown }).finish;
  class SignImpl extends Signed {
    sign(key: unknown, encoding?: unknown): unknown {
      const sign = (algorithm: string | null, data: Bytes): Bytes =>
        signBytes(algorithm, data, readClassicKey(key, false));
      return output(finish(this, sign), encoding);
    }
  }
  class VerifyImpl extends Signed {
    verify(key: unknown, signature: unknown, encoding?: unknown): boolean {
      const bytes =
        typeof signature === "string"
          ? toBytes(signature, encoding, "signature")
          : viewBytes(signature, "signature");
      return finish(this, (algorithm, data) => {
        if (key === null) throw new TypeError("Cannot destructure property 'key' of 'e' as it is null.");
        return verifyBytes(algorithm, data, readClassicKey(key, true), bytes);
      });
    }
  }

  const Sign = callable(SignImpl, "Sign", "sign update", toStream);
  const Verify = callable(VerifyImpl, "Verify", "update verify", toStream);

  /** Reads the key of what encrypts or decrypts, with Deno's errors. */
  const cryptKey = (key: unknown, isPublic: boolean): string => {
    try {
      return pemOf(key, isPublic);
    } catch (error) {
      throw keyError(error as Error, isPublic);
    }
  };
  const crypt =
    (operation: string, isPublic: boolean) =>
    (key: unknown, data: unknown): unknown => {
      if (key === null) throw new TypeError("Cannot destructure property 'key' of 'e' as it is null.");
      const isGiven =
        typeof key === "string" ||
        (typeof key === "object" && ("key" in key || bytesOf(key) !== undefined || "type" in key));
      if (!isGiven) throw new TypeError("Invalid key type");
      const bytes = toBytes(data, undefined, "buffer", true);
      const { padding, oaepHash, oaepLabel } = (
        typeof key === "object" && key !== null && bytesOf(key) === undefined ? key : {}
      ) as Record<string, unknown>;
      const label = oaepLabel === undefined ? new Uint8Array(0) : viewBytes(oaepLabel, "oaepLabel");
      const pem = cryptKey(key, isPublic || operation === "publicDecrypt");
      if (padding !== undefined && !PADDINGS.includes(padding as number))
        throw new TypeError("Unknown padding");
      try {
        const header = { operation, key: pem, isPublic, padding, oaepHash };
        return Buffer.from(bytesFrom("crypt", header, label, bytes));
      } catch (error) {
        throw cryptError(operation, error as Error & { readonly code?: string });
      }
    };
  return {
    sign: later(sign, 3, () => Buffer.from([])),
    verify: later(verify, 4, () => false),
    createSign: (algorithm: unknown) => new Sign(algorithm),
    createVerify: (algorithm: unknown) => new Verify(algorithm),
    Sign,
    Verify,
    publicEncrypt: crypt("publicEncrypt", true),
    publicDecrypt: crypt("publicDecrypt", true),
    privateEncrypt: crypt("privateEncrypt", false),
    privateDecrypt: crypt("privateDecrypt", false),
  };
}
