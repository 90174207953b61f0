import {
  checkObject,
  checkInteger,
  invalidArgument,
  nodeError,
  wrongArgument,
  wrongType,
} from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import type { KeyFields } from "../../crypto/key.ts";
import { bytesOf } from "../../webIdl.ts";
import { CURVES } from "./names.ts";
import { type ByteTools, checkFunction, checkText, checkUint32, queue } from "./bytes.ts";

type Bytes = Uint8Array;
type Options = Readonly<Record<string, unknown>>;

/** What a key is in the messages of most functions. */
export const KEY_TYPES =
  "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey";
const SECRET_TYPES = "of type string or an instance of ArrayBufferView, Buffer, or KeyObject";
const PRIVATE_KEY_TYPES = "of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView";
const AES_BITS = [128, 192, 256];
const DER_NAMES: Readonly<Record<string, string>> = {
  pkcs1: "PKCS#1",
  pkcs8: "PKCS#8",
  sec1: "SEC1",
  spki: "SPKI",
};
const KEY_TYPE = Symbol("kKeyType");
const HANDLE = Symbol("kHandle");
/** The parts of a JWK that Deno checks, public and private. */
const JWK_PARTS: Readonly<Record<string, readonly [string, string]>> = {
  RSA: ["n e", "d p q dp dq qi"],
  EC: ["crv x y", "d"],
  OKP: ["crv x", "d"],
};
/** Kinds of key pairs without options. */
const PLAIN_PAIRS = ["ed25519", "ed448", "x25519", "x448"];

/** `KeyObject`, and the functions that read one. */
export type KeyTools = ReturnType<typeof createKeys>;

/** How the `crypto` chunk sees the keys of Web Crypto, which the host holds. */
export interface WebKeys {
  /** Returns the number of a key; undefined for anything else. */
  readonly idOf: (value: unknown) => number | undefined;
  readonly create: (fields: KeyFields) => object;
}

/** Deno's words and names for keys that don't become one of Web Crypto. */
const IMPORT_ERRORS: readonly (readonly [RegExp, string, string])[] = [
  [/hash/i, " import requires 'hash'", "DataError"],
  [/length/i, "Invalid key length", "DataError"],
  [/curve mismatch/i, "Named curve mismatch", "DataError"],
  [/unrecognized/i, "Unrecognized algorithm name", "NotSupportedError"],
  [/cannot be empty/i, "Usages cannot be empty when importing a private key.", "SyntaxError"],
  [/usage/i, "Invalid key usage", "SyntaxError"],
];

/** Deno's error for a key that the host can't read. */
function readError(error: Error, isPublic: boolean, format: unknown, encoding: unknown, text: string): Error {
  const { code } = error as { code?: unknown };
  if (code === "ERR_MISSING_PASSPHRASE") return error;
  const library = "DECODER routines";
  const unsupported = Object.assign(new TypeError(`error:1E08010C:${library}::unsupported`), { library });
  if (format === "der" && encoding === "pkcs1" && !isPublic) return unsupported;
  if (format === "der" && typeof encoding === "string" && encoding in DER_NAMES)
    return new TypeError(`invalid ${DER_NAMES[encoding]} ${isPublic ? "public" : "private"} key`);
  if (error.message.endsWith("bad decrypt"))
    return Object.assign(
      new Error(error.message),
      text.includes("Proc-Type") && { code: "ERR_OSSL_EVP_BAD_DECRYPT" },
    );
  if (!/unsupported|unable to|not enough data|wrong tag|too long/i.test(error.message)) return error;
  const label = /^-----BEGIN ([A-Z ]+)-----\n[\w+/=\n]{8}/.exec(text)?.[1];
  if (label !== undefined && !(isPublic ? READABLE_LABELS : PRIVATE_LABELS).includes(label))
    return new TypeError(`unsupported PEM label: ${label}`);
  return isPublic ? new TypeError("invalid PEM public key") : unsupported;
}

/** Labels of PEM that can be read as private keys, and as public ones. */
const PRIVATE_LABELS = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"];
const READABLE_LABELS = [...PRIVATE_LABELS, "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE"];
const OKP_CURVES = ["Ed25519", "Ed448", "X25519", "X448"];
const PRIVATE_DER_TYPES = ["pkcs1", "pkcs8", "sec1"];
const DER_TYPES = ["spki", ...PRIVATE_DER_TYPES];

/** Deno's error for a JSON Web Key that can't be read. */
function jwkError(error: Error & { readonly code?: string }, { kty, crv }: Options): Error {
  if (error.code === "ERR_CRYPTO_INVALID_CURVE") return new TypeError(`unsupported curve: ${String(crv)}`);
  if (error.code !== "ERR_CRYPTO_INVALID_JWK") return error;
  return kty === "OKP" ? nodeError("ERR_CRYPTO_INVALID_JWK", "Invalid JWK") : new Error("crypto error");
}

/** Deno's error for a pair that the host can't generate. */
const pairError = (error: Error): Error =>
  /curve/i.test(error.message) ? new TypeError("Invalid EC curve name") : error;

/** Deno's error for a key that the host can't write. */
const exportError = (error: Error & { readonly code?: string }, cipher: unknown): Error =>
  error.code === "ERR_CRYPTO_UNKNOWN_CIPHER"
    ? new TypeError(`Unsupported cipher for PKCS#8 encryption: ${String(cipher)}`)
    : error;

/** Creates `KeyObject` and what reads, writes and generates keys; the host knows their formats. */
export function createKeys(
  { native, cloneRules, exception }: Internals,
  { Buffer, toBytes }: ByteTools,
  webKeys: WebKeys,
) {
  const json = (name: string, header: object, bytes?: Bytes): Record<string, unknown> =>
    JSON.parse(native(name, header, bytes) as string) as Record<string, unknown>;
  const hexOf = (value: Bytes | string): string => Buffer.from(value).toString("hex");
  /** A passphrase as the host reads it: in hex, as it needn't be text. */
  const passphraseOf = (value: unknown, name: string): string => {
    const bytes = typeof value === "string" ? value : bytesOf(value);
    if (bytes === undefined) throw invalidArgument(name, value);
    return hexOf(bytes);
  };
  let create: (type: string, value: Bytes | string) => KeyObject;
  /** The bytes of a secret, or an asymmetric key as PEM. */
  let valueOf: (key: KeyObject) => Bytes | string;

  class KeyObject {
    readonly #type: string;
    #value: Bytes | string = "";
    /** As printing shows a key. */
    readonly [KEY_TYPE]: string;
    readonly [HANDLE] = {};
    static {
      valueOf = (key) => key.#value;
      create = (type, value) => {
        const Type =
          type === "secret" ? SecretKeyObject : type === "public" ? PublicKeyObject : PrivateKeyObject;
        const key = new Type(type, {});
        key.#value = value;
        return key;
      };
    }
    constructor(type: unknown, handle: unknown) {
      if (type !== "secret" && type !== "public" && type !== "private") throw invalidArgument("type", type);
      if (typeof handle !== "object") throw wrongType("handle", "object", handle);
      this.#type = type;
      this[KEY_TYPE] = type;
    }
    get type(): string {
      return this.#type;
    }
    static from(key: unknown): KeyObject {
      const found = fromWeb(key);
      if (found === undefined) throw wrongArgument("key", "an instance of CryptoKey", key);
      return found;
    }
    equals(other: unknown): boolean {
      if (!(other instanceof KeyObject))
        throw wrongArgument("otherKeyObject", "an instance of KeyObject", other);
      return this.#type === other.#type && hexOf(this.#value) === hexOf(other.#value);
    }
    export(_options?: object): unknown {
      throw nodeError("ERR_NOT_IMPLEMENTED", "Not implemented: crypto.KeyObject.prototype.export");
    }
  }
  /** The same key as one of Web Crypto. */
  const fromWeb = (key: unknown): KeyObject | undefined => {
    const id = webKeys.idOf(key);
    if (id === undefined) return undefined;
    const value = native("webKeyRead", { id });
    return create((key as { type: string }).type, typeof value === "string" ? value : Buffer.from(value));
  };
  function toCryptoKey(this: KeyObject, algorithm: unknown, extractable?: unknown, usages?: unknown): object {
    const value = valueOf(this);
    const isText = typeof value === "string";
    const wanted = typeof algorithm === "string" ? { name: algorithm } : (algorithm as { name: unknown });
    const needsHash = wanted.name === "HMAC" && !("hash" in wanted);
    try {
      if (needsHash) throw new Error("hash");
      const header = {
        type: this.type,
        algorithm: wanted,
        extractable,
        usages,
        ...(isText && { key: value }),
      };
      return webKeys.create(
        JSON.parse(native("webKeyMake", header, isText ? undefined : value) as string) as KeyFields,
      );
    } catch (error) {
      const { message } = error as Error;
      const [, text = message, kind = "DataError"] =
        IMPORT_ERRORS.find(([words]) => words.test(message)) ?? [];
      const isRsa = String(wanted.name).startsWith("RSA");
      throw exception(text.replace(/^ /, isRsa ? "RSA " : "HMAC "), kind);
    }
  }
  Object.defineProperty(KeyObject.prototype, Symbol.toStringTag, { value: "KeyObject", configurable: true });
  class SecretKeyObject extends KeyObject {
    get symmetricKeySize(): number {
      return valueOf(this).length;
    }
    get asymmetricKeyType(): undefined {
      return undefined;
    }
    toCryptoKey(algorithm: unknown, extractable: unknown, usages: readonly unknown[]): object {
      const wanted = (typeof algorithm === "string" ? { name: algorithm } : algorithm) as Options;
      const name = wanted["name"];
      const derives = name === "PBKDF2" || name === "HKDF";
      if (valueOf(this).length === 0) throw exception("Zero-length key is not supported", "DataError");
      if (derives && extractable) throw exception(`${name} keys are not extractable`, "SyntaxError");
      if (derives && usages.some((usage) => usage !== "deriveKey" && usage !== "deriveBits"))
        throw exception(
          `Unsupported key usage for ${name === "HKDF" ? "an" : "a"} ${name} key`,
          "SyntaxError",
        );
      if (usages.length === 0)
        throw exception(
          derives ? "Invalid key usage" : "Usages cannot be empty when importing a secret key.",
          "SyntaxError",
        );
      if (name === "HMAC" && wanted["length"] === 0)
        throw exception("HmacImportParams.length cannot be 0", "DataError");
      return toCryptoKey.call(this, algorithm, extractable, usages);
    }
    override export(options: unknown = {}): unknown {
      checkObject(options, "options");
      const { format } = options as Options;
      const bytes = Buffer.from(valueOf(this));
      if (format === "jwk") return { kty: "oct", k: bytes.toString("base64url") };
      if (format !== undefined && format !== "buffer")
        throw invalidArgument("options.format", format, "must be one of: undefined, 'buffer', 'jwk'");
      return bytes;
    }
  }
  class AsymmetricKeyObject extends KeyObject {
    #read(): Record<string, unknown> {
      return json("keyDetails", { key: valueOf(this), isPublic: this.type === "public" });
    }
    get asymmetricKeyType(): string {
      return this.#read()["kind"] as string;
    }
    get asymmetricKeyDetails(): object {
      const details = this.#read()["details"] as Record<string, unknown>;
      const exponent = details["publicExponent"];
      return { ...details, ...(exponent !== undefined && { publicExponent: BigInt(exponent as string) }) };
    }
  }
  /** `path` is what errors call the options. */
  function exportKey(this: KeyObject, options: unknown, path = "options"): unknown {
    checkObject(options, "options");
    const isPublic = this.type === "public";
    const { format, type, cipher, passphrase } = options as Options;
    let secret = "";
    if (format === "jwk" && !isPublic && (cipher !== undefined || passphrase !== undefined))
      throw nodeError(
        "ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS",
        "The selected key encoding jwk does not support encryption.",
      );
    if (format !== "jwk") {
      if (!["pem", "der"].includes(format as string)) throw invalidArgument(`${path}.format`, format);
      if (!(isPublic ? ["pkcs1", "spki"] : ["pkcs1", "pkcs8", "sec1"]).includes(type as string))
        throw invalidArgument(`${path}.type`, type);
      if (!isPublic && cipher !== undefined && cipher !== null) {
        if (typeof cipher !== "string") throw invalidArgument(`${path}.cipher`, cipher);
        secret = passphraseOf(passphrase, `${path}.passphrase`);
      } else if (!isPublic && passphrase !== undefined) throw invalidArgument(`${path}.cipher`, cipher);
    }
    let answer: Bytes | string;
    try {
      answer = native("keyExport", {
        key: valueOf(this),
        isPublic,
        format,
        type,
        cipher: cipher ?? undefined,
        passphrase: secret,
      });
    } catch (error) {
      throw exportError(error as Error, cipher);
    }
    if (format === "jwk") {
      // In Deno's order.
      const { kty, crv, x, y, ...others } = JSON.parse(answer as string) as Record<string, unknown>;
      return kty === "OKP" && !isPublic
        ? { crv, x, ...others, kty }
        : kty === "EC" || kty === "OKP"
          ? { kty, crv, x, ...(kty === "EC" && { y }), ...others }
          : { kty, ...others };
    }
    return format === "pem" ? answer : Buffer.from(answer);
  }
  cloneRules.add({
    has: (value) => value instanceof KeyObject,
    copy: (key: KeyObject) => create(key.type, valueOf(key)),
  });
  class PublicKeyObject extends AsymmetricKeyObject {}
  class PrivateKeyObject extends AsymmetricKeyObject {}
  const visible = { writable: true, configurable: true };
  for (const { prototype } of [PublicKeyObject, PrivateKeyObject])
    Object.defineProperties(prototype, {
      toCryptoKey: { value: toCryptoKey, ...visible },
      export: {
        value: {
          export(this: KeyObject, options: unknown): unknown {
            return exportKey.call(this, options);
          },
        }.export,
        ...visible,
      },
    });

  const wrongKind = (key: KeyObject, expected: string): Error =>
    nodeError(
      "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE",
      `Invalid key object type ${key.type}, expected ${expected}.`,
      TypeError,
    );
  /** Reads text, bytes, or `{ key, format, type, passphrase }` as a key of the given type. */
  const parse = (given: unknown, isPublic: boolean, expected = KEY_TYPES): KeyObject => {
    const type = isPublic ? "public" : "private";
    const isBytes = typeof given === "string" || bytesOf(given) !== undefined;
    const web = fromWeb(given);
    if (web !== undefined) return parse(web, isPublic, expected);
    if (given instanceof KeyObject) {
      if (given.type === type) return given;
      if (!isPublic || given.type === "secret")
        throw wrongKind(given, isPublic ? "private or public" : "private");
      return create(type, json("keyRead", { isPublic }, Buffer.from(valueOf(given)))["key"] as string);
    }
    if (given === null) throw new TypeError("Cannot destructure property 'key' of 'e' as it is null.");
    if (!isBytes && typeof given !== "object") throw wrongArgument("key", expected, given);
    const { key, format = "pem", type: encoding, passphrase } = (isBytes ? { key: given } : given) as Options;
    if (key instanceof KeyObject) return parse(key, isPublic);
    if (!["pem", "der", "jwk"].includes(format as string)) throw invalidArgument("options.format", format);
    if (format === "jwk") {
      if (typeof key !== "object" || key === null) throw wrongType("key.key", "object", key);
      const fields = key as Options;
      const parts = JWK_PARTS[String(fields["kty"])];
      if (parts === undefined)
        throw invalidArgument("key.kty", fields["kty"], "must be one of: 'RSA', 'EC', 'OKP'");
      if (
        fields["kty"] === "OKP" &&
        typeof fields["crv"] === "string" &&
        !OKP_CURVES.includes(fields["crv"])
      ) {
        const known = OKP_CURVES.map((curve) => `'${curve}'`).join(", ");
        throw invalidArgument("key.crv", fields["crv"], `must be one of: ${known}`);
      }
      for (const name of parts
        .slice(0, isPublic ? 1 : 2)
        .join(" ")
        .split(" "))
        checkText(fields[name], `key.${name}`);
      try {
        return create(type, json("keyRead", { isPublic, jwk: key })["key"] as string);
      } catch (error) {
        throw jwkError(error as Error, fields);
      }
    }
    if (
      (format === "der" || encoding) &&
      !(isPublic ? DER_TYPES : PRIVATE_DER_TYPES).includes(encoding as string)
    )
      throw invalidArgument("options.type", encoding);
    const bytes = typeof key === "string" ? Buffer.from(key) : bytesOf(key);
    if (bytes === undefined) throw wrongArgument(isBytes ? "key" : "key.key", expected, key);
    const secret = passphrase === undefined ? undefined : passphraseOf(passphrase, "options.passphrase");
    let read: Record<string, unknown>;
    try {
      read = json("keyRead", { isPublic, format, type: encoding, passphrase: secret }, bytes);
    } catch (error) {
      throw readError(error as Error, isPublic, format, encoding, Buffer.from(bytes).toString());
    }
    return create(type, read["key"] as string);
  };
  /** The PEM text of a key that an operation is given. */
  const pemOf = (key: unknown, isPublic: boolean): string => valueOf(parse(key, isPublic)) as string;
  /** The bytes of a secret: text, bytes or a key object. */
  const secretBytes = (given: unknown, encoding: unknown, name: string, expected = SECRET_TYPES): Bytes => {
    const key = fromWeb(given) ?? given;
    // Deno's ciphers name such keys among what they take, and fail.
    if (!Object.is(key, given) && expected === SECRET_TYPES)
      throw new TypeError("expected typed ArrayBufferView");
    if (key instanceof KeyObject) {
      if (key.type !== "secret") throw wrongKind(key, "secret");
      return valueOf(key) as Bytes;
    }
    if (typeof key !== "string" && bytesOf(key) === undefined) throw wrongArgument(name, expected, key);
    return toBytes(key, encoding, name, true);
  };

  /** Checks what says which group the keys of a Diffie-Hellman pair are in, and returns it as the host reads it. */
  const groupOf = (given: Options): Options => {
    const [group, prime, primeLength, generator] = ["group", "prime", "primeLength", "generator"].map(
      (name) => given[name] ?? undefined,
    );
    const incompatible = (one: string, other: string): Error =>
      nodeError(
        "ERR_INCOMPATIBLE_OPTION_PAIR",
        `Option "${one}" cannot be used in combination with option "${other}"`,
        TypeError,
      );
    const others = Object.entries({ prime, primeLength, generator }).filter(
      ([, value]) => value !== undefined,
    );
    if (group !== undefined) {
      if (others[0] !== undefined) throw incompatible("group", others[0][0]);
      return { group: checkText(group, "options.group") };
    }
    const [first, second] = others.map(([name]) => name);
    if (first === "prime" && second === "primeLength") throw incompatible(first, second);
    const bytes = bytesOf(prime);
    if (first === "prime" && bytes === undefined)
      throw wrongArgument("options.prime", "an instance of Buffer, TypedArray, or DataView", prime);
    if (first === "primeLength") checkInteger(primeLength, "options.primeLength", 0, 2 ** 31 - 1);
    if (first === undefined || first === "generator")
      throw nodeError(
        "ERR_MISSING_OPTION",
        "At least one of the group, prime, or primeLength options is required",
        TypeError,
      );
    if (generator !== undefined) checkInteger(generator, "options.generator", 0, 2 ** 31 - 1);
    return { prime: bytes && hexOf(bytes), primeLength, generator };
  };

  const generateKeySync = (type: unknown, options: unknown): KeyObject => {
    checkText(type, "type");
    checkObject(options, "options");
    if (type !== "hmac" && type !== "aes")
      throw invalidArgument("type", type, "must be a supported key type");
    const { length } = options as Options;
    if (type === "aes" && !AES_BITS.includes(length as number))
      throw invalidArgument("options.length", length, `must be one of: ${AES_BITS.join(", ")}`);
    const bits = checkInteger(length, "options.length", 8, 2 ** 31 - 1);
    return create("secret", native("random", { bytes: bits >>> 3 }));
  };
  const generateKeyPairSync = (type: unknown, options?: unknown): object => {
    checkText(type, "type");
    const isPlain = PLAIN_PAIRS.includes(type as string);
    if (options !== undefined || ["rsa", "rsa-pss", "dsa", "ec", "dh"].includes(type as string))
      checkObject(options, "options");
    const given = (options ?? {}) as Options;
    if (type === "rsa" || type === "rsa-pss" || type === "dsa")
      checkUint32(given["modulusLength"], "options.modulusLength");
    else if (type === "ec") checkText(given["namedCurve"], "options.namedCurve");
    else if (type !== "dh" && !isPlain) throw invalidArgument("type", type, "must be a supported key type");
    const group = type === "dh" ? groupOf(given) : undefined;
    const { paramEncoding, modulusLength, publicExponent, namedCurve } = given;
    const { hashAlgorithm, mgf1HashAlgorithm, saltLength } = type === "rsa-pss" ? given : {};
    if (hashAlgorithm !== undefined) checkText(hashAlgorithm, "options.hashAlgorithm");
    if (mgf1HashAlgorithm !== undefined) checkText(mgf1HashAlgorithm, "options.mgf1HashAlgorithm");
    if (saltLength !== undefined) checkInteger(saltLength, "options.saltLength", 0, 2 ** 31 - 1);
    if (publicExponent !== undefined) checkUint32(publicExponent, "options.publicExponent");
    if (publicExponent !== undefined && (type as string).startsWith("rsa")) {
      const exponent = publicExponent as number;
      if (exponent < 3 || exponent % 2 === 0) throw new Error(`invalid RSA public exponent: ${exponent}`);
    }
    const curve = { "P-256": "prime256v1", "P-384": "secp384r1", "P-521": "secp521r1" }[String(namedCurve)];
    if (type === "ec" && !CURVES.includes(curve ?? String(namedCurve)))
      throw new TypeError("Invalid EC curve name");
    if (type === "ec" && ![undefined, null, "named", "explicit"].includes(paramEncoding as string))
      throw invalidArgument("options.paramEncoding", paramEncoding);
    let pair: Record<string, unknown>;
    try {
      pair = json("keyPair", {
        type,
        modulusLength,
        publicExponent,
        namedCurve,
        hashAlgorithm,
        mgf1HashAlgorithm,
        saltLength,
        ...group,
      });
    } catch (error) {
      throw pairError(error as Error);
    }
    return Object.fromEntries(
      ["public", "private"].map((kind) => {
        const key = create(kind, pair[`${kind}Key`] as string);
        const path = `options.${kind}KeyEncoding`;
        const encoding = given[`${kind}KeyEncoding`] ?? undefined;
        if (encoding !== undefined && typeof encoding !== "object") throw invalidArgument(path, encoding);
        return [`${kind}Key`, encoding === undefined ? key : exportKey.call(key, encoding, path)];
      }),
    );
  };
  /** The asynchronous form of a generator; the options of a pair can be left out. */
  const later =
    (work: (type: unknown, options?: unknown) => object, isPair: boolean) =>
    (type: unknown, options: unknown, callback?: unknown): void => {
      const isShort = isPair && typeof options === "function";
      if (isPair) checkFunction(isShort ? options : callback);
      else {
        checkText(type, "type");
        checkObject(options, "options");
      }
      const made = isShort ? work(type) : work(type, options);
      const done = checkFunction(isShort ? options : callback);
      queue(() => {
        const { publicKey, privateKey } = made as Record<string, unknown>;
        if (isPair) done(null, publicKey, privateKey);
        else done(null, made);
      });
    };
  const generateKeyPair = later(generateKeyPairSync, true);
  Object.defineProperty(generateKeyPair, Symbol.for("nodejs.util.promisify.custom"), {
    value: async function _generateKeyPair(type: unknown, options: unknown) {
      return generateKeyPairSync(type, options);
    },
  });
  const names = {
    KeyObject,
    createSecretKey: (key: unknown, encoding?: unknown) => {
      if (typeof key !== "string" && bytesOf(key) === undefined)
        throw wrongArgument("key", "an instance of ArrayBuffer, Buffer, TypedArray, or DataView", key);
      return create("secret", toBytes(key, encoding, "key", true));
    },
    createPublicKey: (key: unknown) => {
      const { key: inner = key, format, type } = Object(key) as Options;
      if (inner instanceof KeyObject && inner.type !== "private") throw wrongKind(inner, "private");
      if (format === "der" && (type === "pkcs8" || type === "sec1"))
        throw new TypeError(`unsupported key type: ${type}`);
      return parse(key, true);
    },
    createPrivateKey: (key: unknown) => {
      const { key: inner = key } = Object(key) as { readonly key?: unknown };
      if (inner instanceof KeyObject) throw wrongArgument("key", PRIVATE_KEY_TYPES, inner);
      return parse(key, false, PRIVATE_KEY_TYPES);
    },
    generateKey: later(generateKeySync, false),
    generateKeySync,
    generateKeyPair,
    generateKeyPairSync,
  };
  return { names, parse, pemOf, secretBytes };
}
