import { packMessage, unpackMessage } from "../hostCalls.ts";
import type { Internals } from "../internals.ts";
import {
  bytesOf,
  concatBytes,
  exposeInterface,
  exposeStatics,
  illegalConstructor,
  printable,
  requireArguments,
  printWith,
  wrongThis,
} from "../webIdl.ts";
import { order } from "../shape.ts";
import * as types from "../types.ts";
import { orderJwk } from "./jwk.ts";
import { CryptoKey, type KeyFields, SECRET, fieldsOf, isKey } from "./key.ts";
import { withNumbers } from "./numbers.ts";

/** In `value`, `{$bytes: [start, end]}` stands for a part of the answer's body and `{$key: KeyFields}` for a key. */
interface Answer {
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

/** Node's messages that Deno words differently. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^AES key length must be 128, 192, or 256 bits$/, "Invalid AES key length"],
  [/^Usages cannot be empty when creating a key\.?$/, "Usages cannot be empty"],
  [/^Zero-length key is not supported$/, "Key length is zero"],
  [/^length must be a multiple of 8$|^HmacKeyGenParams\.length cannot be 0$/, "Invalid length"],
  [/^AES-CTR algorithm\.length must be .*/, "Counter length must not be 0 or greater than 128"],
  [/^(\d+) is not a valid AES-GCM tag length$/, "Invalid tag length: $1"],
  [/^algorithm\.iv must contain exactly 16 bytes$/, "Initialization vector must be 16 bytes"],
  [/^length exceeds the maximum derived bit length$/, "The length provided for HKDF is too large"],
  [/^derived bit length is too small$/, "Invalid length"],
  [/^algorithm\.counter must contain exactly 16 bytes$/, "Counter vector must be 16 bytes"],
  [/^The provided data is too small\.?$/, "The provided data is too small"],
  [/^algorithm\.public must be a public key$/, "Invalid key type"],
  [/^key algorithm mismatch$/, "Algorithm mismatch"],
  [/^Invalid keyData$/, "Invalid key data"],
  [/^algorithm\.publicExponent .*/, "Bad public exponent"],
  [/^Usages cannot be empty when importing a secret key\.$/, "Invalid key usage"],
  [/^JWK "alg" does not match the requested algorithm$/, "Invalid algorithm"],
  [
    /^JWK "ext" Parameter and extractable mismatch$/,
    "'ext' property of JsonWebKey must not be false if extractable is true",
  ],
  [/^Key must be a (private|public) key$/, "Key is not a $1 key"],
  [/^Unable to (?:im|ex)port .* format$/, "Not implemented"],
  [/^Key operations and usage mismatch$/, "'key_ops' property of JsonWebKey is invalid"],
  [/^baseKey does not have (\w+) usage$/, "'baseKey' usages does not contain '$1'"],
  [/^iterations cannot be zero$/, "iterations must not be zero"],
  [/^length cannot be null$/, "Invalid length"],
  [/^nonce must be at least .*/, "Argon2 derivation failed"],
  [/^memory must be at least .*/, "Invalid Argon2 parameters"],
  [/^(?:TurboShakeParams\.domainSeparation|Invalid KangarooTwelveParams) .*/, "Invalid XOF parameters"],
];
const DIGESTS = "SHA-1 SHA-256 SHA-384 SHA-512 SHA3-256 SHA3-384 SHA3-512".split(" ");
/** Digests of any length, which take their parameters as an object. */
const XOF_DIGESTS = "cSHAKE128 cSHAKE256 KangarooTwelve KT128 KT256 TurboSHAKE128 TurboSHAKE256".split(" ");
const CIPHERS = "AES-CBC AES-CTR AES-GCM AES-OCB ChaCha20-Poly1305 RSA-OAEP".split(" ");
const SIGNATURES = "ECDSA Ed25519 ML-DSA-44 ML-DSA-65 ML-DSA-87 RSA-PSS RSASSA-PKCS1-v1_5".split(" ");
/** Those that take no plain name: each needs parameters. */
const PARAMETERIZED = CIPHERS.slice(0, -1);
const SIGNED_WITH = ["ECDSA", "RSA-PSS"];
const FORMATS = ["raw", "pkcs8", "spki", "jwk", "raw-public", "raw-private", "raw-seed", "raw-secret"];
const CURVES = ["P-256", "P-384", "P-521"];
/** Those whose public keys can be exported as they are. */
const SECRETS = /^(?:aes-(?:cbc|ctr|gcm|kw)|hmac)$/i;
const RAW_PUBLIC = ["ECDSA", "ECDH", "Ed25519", "X25519", "X448"];
const MACS = ["HMAC", "KMAC128", "KMAC256"];
const AGREEMENTS = ["ECDH", "X25519", "X448"];
const DERIVATIONS = "Argon2d Argon2i Argon2id HKDF PBKDF2".split(" ");
const DERIVED_WITH = [...AGREEMENTS, ...DERIVATIONS];
/** Lengths of ciphertexts, in bytes. */
const CIPHERTEXT_BYTES: Readonly<Record<string, number>> = {
  "ML-KEM-512": 768,
  "ML-KEM-768": 1_088,
  "ML-KEM-1024": 1_568,
};
const ENCAPSULATIONS = Object.keys(CIPHERTEXT_BYTES);
/** Block lengths of SHA-3, the default lengths of an HMAC's key, in bits. */
const SHA3_BLOCKS: Readonly<Record<string, number>> = { "SHA3-256": 1_088, "SHA3-384": 832, "SHA3-512": 576 };
const KEY_PAIRS = [...SIGNATURES, ...AGREEMENTS, ...ENCAPSULATIONS, "RSA-OAEP"];
const GENERATED = [
  ...KEY_PAIRS,
  ...MACS,
  ..."AES-CBC AES-CTR AES-GCM AES-KW AES-OCB ChaCha20-Poly1305".split(" "),
];
/** Algorithms by the operations that take them, as `SubtleCrypto.supports` reports. */
const SUPPORTED: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  digest: [...DIGESTS, ...XOF_DIGESTS],
  encrypt: CIPHERS,
  decrypt: CIPHERS,
  sign: [...SIGNATURES, ...MACS],
  verify: [...SIGNATURES, ...MACS],
  deriveBits: [...AGREEMENTS, ...DERIVATIONS],
  deriveKey: [...AGREEMENTS, ...DERIVATIONS],
  generateKey: GENERATED,
  importKey: [...GENERATED, ...DERIVATIONS],
  exportKey: [...GENERATED, ...DERIVATIONS],
  encapsulateBits: ENCAPSULATIONS,
  encapsulateKey: ENCAPSULATIONS,
  decapsulateBits: ENCAPSULATIONS,
  decapsulateKey: ENCAPSULATIONS,
  getPublicKey: KEY_PAIRS,
  wrapKey: [...CIPHERS, "AES-KW"],
  unwrapKey: [...CIPHERS, "AES-KW"],
};

/** Returns an algorithm's name in the spelling of the standard if an operation takes it. */
function findAlgorithm(op: string, name: unknown): string | undefined {
  return SUPPORTED[op]?.find((known) => known.toLowerCase() === String(name).toLowerCase());
}

/** Returns the name in an `AlgorithmIdentifier`, a text or an object. */
function nameIn(algorithm: unknown): unknown {
  return typeof algorithm === "object" && algorithm !== null
    ? (algorithm as { name?: unknown }).name
    : algorithm;
}

/** Restores a value of the host's answer; members stand in alphabetical order, as Deno's do. A key has the usages that it may have of those that are `asked` for. */
function revive(value: unknown, body: Uint8Array, asked: unknown, hash: string | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => revive(item, body, asked, hash));
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  if (Array.isArray(fields["$bytes"])) return body.slice(...(fields["$bytes"] as [number, number])).buffer;
  if (fields["$key"] !== undefined) {
    const key = fields["$key"] as KeyFields;
    const usages = Array.isArray(asked)
      ? asked.filter((usage: string) => key.usages.includes(usage))
      : key.usages;
    const algorithm = hash === undefined ? key.algorithm : { ...key.algorithm, hash: { name: hash } };
    return new CryptoKey(SECRET, { ...key, algorithm, usages });
  }
  const isPair = fields["publicKey"] !== undefined;
  const names = isPair ? ["publicKey", "privateKey"] : Object.keys(fields).sort();
  return Object.fromEntries(names.map((name) => [name, revive(fields[name], body, asked, hash)]));
}

/** Where the algorithm stands among the arguments, if not first. */
const ALGORITHM_AT: Readonly<Record<string, number>> = {
  __proto__: null as never,
  importKey: 2,
  wrapKey: 3,
  unwrapKey: 3,
};

/** The hash of a key in the spelling that it was asked for, which Deno keeps. */
function spelledHash(op: string, algorithm: unknown): string | undefined {
  const { name, hash } = Object(algorithm) as { name?: unknown; hash?: unknown };
  const keeps = op === "importKey" ? /^(?:hmac|rs)/i : /^rs/i;
  return (op === "importKey" || op === "generateKey") && keeps.test(String(name)) && hash !== undefined
    ? String(nameIn(hash))
    : undefined;
}

/** Names of the tags of ASN.1, as Deno's errors have them. */
const DER_TAGS: Readonly<Record<string, string>> = {
  __proto__: null as never,
  1: "BOOLEAN",
  2: "INTEGER",
  3: "BIT STRING",
  4: "OCTET STRING",
  5: "NULL",
  6: "OBJECT IDENTIFIER",
  9: "REAL",
  10: "ENUMERATED",
  12: "UTF8String",
  18: "NumericString",
  19: "PrintableString",
  22: "IA5String",
  23: "UTCTime",
  24: "GeneralizedTime",
  49: "SET",
};
const SEQUENCE = 48;

/** Says in Deno's words why bytes don't begin as the DER of a key does; undefined if they do. */
function derDefect(bytes: Uint8Array): string | undefined {
  const [tag, length] = bytes;
  const isShort = (expected: number, at: number): string =>
    `ASN.1 DER message is incomplete: expected ${expected}, actual ${bytes.length} at DER byte ${at}`;
  if (tag === undefined) return isShort(1, 0);
  if (tag === SEQUENCE) {
    if (length === undefined) return isShort(2, 1);
    return length < 128 && length + 2 > bytes.length ? isShort(length + 2, 2) : undefined;
  }
  if (DER_TAGS[tag] !== undefined) return `unexpected ASN.1 DER tag: expected SEQUENCE, got ${DER_TAGS[tag]}`;
  return (tag & 31) === 31
    ? "invalid tag number"
    : `unknown/unsupported ASN.1 DER tag: 0x${tag.toString(16).padStart(2, "0").toUpperCase()}`;
}

/** The dictionary that a kind of key is generated from, by the member that is missing. */
const DICTIONARIES: Readonly<Record<string, string>> = {
  __proto__: null as never,
  hash: "HMAC",
  namedCurve: "EC",
  modulusLength: "RSA",
};

/** Where errors say that the usages stand. */
const USAGES_AT: Readonly<Record<string, number>> = {
  __proto__: null as never,
  generateKey: 2,
  importKey: 5,
  deriveKey: 4,
  unwrapKey: 7,
};

/** What errors call an operation with a key. */
const USES: Readonly<Record<string, string>> = {
  encrypt: "Encryption",
  decrypt: "Decryption",
  sign: "Signing",
  verify: "Verifying",
};

const wrongAt = (at: number, text: string): TypeError =>
  new TypeError(`Failed to execute 'call' on 'SubtleCrypto': Argument ${at} ${text}`);

/** Creates a `DOMException`. */
type Exception = (message: string, name: string) => Error;

/** Creates `SubtleCrypto` (Web Cryptography, §14): the host does the work. */
export function createSubtle(hostCall: Internals["hostCall"], exception: Exception) {
  async function call(op: string, given: readonly unknown[]): Promise<unknown> {
    const place = ALGORITHM_AT[op] ?? 0;
    const args = given.map((arg, at) =>
      at === place ? withNumbers(op, arg, (text) => wrongAt(place, text)) : arg,
    );
    const bytesAt = args.findIndex((arg) => types.isSharedArrayBuffer(arg));
    if (bytesAt >= 0) throw wrongAt(bytesAt, "is not an ArrayBuffer or a view on one");
    checkParameters(op, args[place], given);
    const parts: Uint8Array[] = [];
    let length = 0;
    const plain = (value: unknown): unknown => {
      if (typeof value !== "object" || value === null) return value;
      if (value instanceof CryptoKey) return { $key: fieldsOf(value).id };
      const bytes = bytesOf(value);
      if (bytes !== undefined) {
        parts.push(bytes);
        length += bytes.length;
        return { $bytes: [length - bytes.length, length] };
      }
      if (Array.isArray(value)) return value.map(plain);
      const out: Record<string, unknown> = {};
      for (const key in value) out[key] = plain((value as Record<string, unknown>)[key]);
      return out;
    };
    const header = { op, args: args.map(plain) };
    const answer = unpackMessage(await hostCall("subtle", packMessage(header, concatBytes(parts))));
    const { value, error } = answer.header as Answer;
    if (error !== undefined)
      throw toError(
        algorithmName(args),
        op,
        error,
        Object(args[0]) as { namedCurve?: unknown; hash?: unknown },
        args,
      );
    return revive(value, answer.body, args.at(-1), spelledHash(op, args[place]));
  }

  /** Checks what Deno checks where Node differs. */
  function checkParameters(op: string, algorithm: unknown, args: readonly unknown[]): void {
    const { name, hash, length } = Object(algorithm) as Record<string, unknown>;
    const is = (known: string): boolean => String(name).toUpperCase() === known;
    const isCipher = USES[op] !== undefined || op.endsWith("rapKey");
    if (isCipher && is("AES-CTR") && Number(length) > 128)
      throw exception("Counter length must not be 0 or greater than 128", "OperationError");
    const bits = Number(length ?? 0);
    if (
      op === "generateKey" &&
      is("HMAC") &&
      (bits % 8 !== 0 || (bits > 1024 && !/^sha3/i.test(String(nameIn(hash)))))
    )
      throw exception("Invalid HMAC key length", "OperationError");
    if (
      op === "generateKey" &&
      /^AES-/i.test(String(name)) &&
      length !== undefined &&
      ![128, 192, 256].includes(bits)
    )
      throw exception("Invalid AES key length", "OperationError");
    if (op !== "importKey" || !is("HMAC")) return;
    if (length === 0) throw exception("Key length is invalid", "DataError");
    const hashName = String(nameIn(hash));
    if (args[0] === "jwk" && /^sha/i.test(hashName) && hashName !== hashName.toUpperCase())
      throw exception("Hash algorithm not supported", "NotSupportedError");
  }

  /** Converts a host error to Deno's wording. */
  function toError(
    algorithm: string,
    op: string,
    { name, message }: { readonly name: string; readonly message: string },
    { namedCurve, hash }: { namedCurve?: unknown; hash?: unknown },
    args: readonly unknown[],
  ): Error {
    const place = op === "importKey" ? 2 : 0;
    const isText = typeof args[0] === "string";
    const [, , derived] = args as readonly { length?: unknown }[];
    const length = typeof derived === "object" ? derived?.length : undefined;
    const lengthText = `Length must be 128, 192, or 256: received ${String(length ?? 0)}`;
    const [, missing, dictionary = ""] = /because '(\w+)' is required in '?(\w+)/.exec(message) ?? [];
    if (missing !== undefined && op === "deriveKey" && /^(?:Aes|Hmac)/.test(dictionary))
      return missing === "length"
        ? exception(lengthText, "OperationError")
        : exception("Unrecognized hash algorithm: ", "NotSupportedError");
    if (missing !== undefined && isText && op === "generateKey")
      return wrongAt(place, `Missing ${DICTIONARIES[missing] ?? "AES"} dict`);
    if (missing !== undefined && isText && !(op === "importKey" && /^hmac$/i.test(algorithm)))
      return wrongAt(place, "Algorithm requires a parameter dictionary");
    if (missing === "hash" && op === "importKey" && /^hmac$/i.test(algorithm))
      return exception("HMAC import requires 'hash'", "DataError");
    if (missing !== undefined)
      return wrongAt(
        place,
        op === "generateKey" || op === "importKey"
          ? `Missing '${missing}'`
          : `required dictionary member '${missing}'`,
      );
    const member = /^Failed to normalize algorithm: (\w+) in passed algorithm is not instance/.exec(
      message,
    )?.[1];
    if (member !== undefined) return wrongAt(place, `'${member}' is not a BufferSource`);
    if (message.endsWith("argument cannot be converted to sequence."))
      return typeof args.at(-1) === "string"
        ? op === "deriveKey"
          ? new TypeError("Invalid key usage")
          : exception("Invalid key usage", "SyntaxError")
        : wrongAt(USAGES_AT[op] ?? 0, "can not be converted to a sequence");
    if (op === "deriveKey" && /^(?:AES key length must be|Invalid AES key length)/.test(message))
      return exception(lengthText, "OperationError");
    if (/is not a valid enum value of type KeyUsage/.test(message))
      return exception("Invalid key usage", "SyntaxError");
    const format = /'([^']*)' is not a valid enum value of type KeyFormat/.exec(message);
    if (format !== null)
      return wrongAt(1, `The provided value '${format[1]}' is not a valid enum value of type KeyFormat`);
    if (message.includes("public in passed algorithm is not of type CryptoKey"))
      return wrongAt(0, "can not be converted to a CryptoKey");
    if (message === "Invalid wrapped JWK key") return exception("Wrapped key is not valid JSON", name);
    if (op === "deriveBits" && /3rd argument is not a finite/.test(message))
      return new TypeError("expected f64");
    if (name === "TypeError") return new TypeError(message);
    if (op === "sign" && name === "OperationError" && /^rsa-pss$/i.test(algorithm))
      return new Error("internal error");
    if (message === "Only SHA hashes are supported in Pbkdf2Params")
      return exception("Unrecognized algorithm name", name);
    if (op === "wrapKey" && args[0] === "raw" && isKey(Object(args[1]) as object)) {
      const { type } = args[1] as CryptoKey;
      if (type === "private") return exception("Key is not a public key", "InvalidAccessError");
    }
    for (const [pattern, text] of TEXTS)
      if (pattern.test(message)) return exception(message.replace(pattern, text), name);
    if (message === "Unrecognized namedCurve")
      return exception(`Unsupported named curve: ${String(namedCurve)}`, name);
    if (message === "Invalid key length" && /^hmac$/i.test(algorithm))
      return exception("Key length is invalid", name);
    const use = USES[op];
    if (message === "Key algorithm mismatch" && use !== undefined)
      return exception(`${use} algorithm '${algorithm}' does not match key algorithm`, name);
    if (message === "Key algorithm mismatch" && op.startsWith("derive"))
      return exception("Invalid algorithm name", name);
    if (
      /^(?:Unrecognized algorithm name$|Only SHA hashes)/.test(message) &&
      (op === "generateKey" ? /^(?:ecdsa|hmac)$/i : /^ecdsa$/i).test(algorithm)
    )
      return exception(`Unrecognized hash algorithm: ${String(nameIn(hash))}`, name);
    if (message === "Unrecognized algorithm name" && use !== undefined && op !== "decrypt")
      return exception(`${use} algorithm '${algorithm}' does not match key algorithm`, "InvalidAccessError");
    if (message === "Unrecognized algorithm name" && op !== "importKey")
      return exception(`${message}: ${algorithm}`, name);
    if (name === "SyntaxError" && message.startsWith("Unsupported key usage"))
      return exception("Invalid key usage", name);
    const wrapped = op === "unwrapKey" ? bytesOf(args[1])?.length : undefined;
    if (
      name === "OperationError" &&
      /^aes-kw$/i.test(algorithm) &&
      (op === "wrapKey" || Number(wrapped) % 8 > 0)
    )
      return new TypeError("Data must be multiple of 8 bytes");
    if (name === "OperationError" && (op === "decrypt" || op === "unwrapKey"))
      return exception(
        /^aes-kw$/i.test(algorithm)
          ? "decryption error - integrity check failed"
          : /^rsa/i.test(algorithm)
            ? "decryption error"
            : "Decryption failed",
        name,
      );
    if (name === "OperationError" && op === "encrypt") return exception("Encryption failed", name);
    if (name === "InvalidAccessError" && /extractable/.test(message))
      return exception("Key is not extractable", name);
    if (
      name === "InvalidAccessError" &&
      /Unable to use this key|operation is not valid|usages/.test(message)
    ) {
      return exception("The requested operation is not valid for the provided key", name);
    }
    return exception(message, name);
  }

  const requireBytes = (value: unknown, at = 1): void => {
    if (bytesOf(value) === undefined) throw wrongAt(at, "can not be converted to a BufferSource");
  };
  const requireKey = (value: unknown): CryptoKey => {
    if (value instanceof CryptoKey) return value;
    throw wrongAt(1, "can not be converted to a CryptoKey");
  };
  /** Checks what Deno checks before a key encapsulation, in its words. */
  function requireKemKey(
    algorithm: unknown,
    value: unknown,
    type: string,
    usage: string,
    ciphertext?: unknown,
  ) {
    const key = requireKey(value);
    const word = type === "public" ? "Encapsulation" : "Decapsulation";
    const name = findAlgorithm(usage, nameIn(algorithm));
    if (name === undefined)
      throw exception(`${word} not supported for ${String(nameIn(algorithm))}`, "NotSupportedError");
    const fail = (text: string) => exception(`${word} key ${text}`, "InvalidAccessError");
    if (nameIn(key.algorithm) !== name) throw fail("algorithm does not match");
    if (key.type !== type) throw fail(`must be a ${type} key`);
    if (!key.usages.includes(usage)) throw fail(`usages must include '${usage}'`);
    const length = CIPHERTEXT_BYTES[name];
    if (ciphertext !== undefined && bytesOf(ciphertext)?.length !== length)
      throw exception(`ML-KEM ${name} ciphertext must be ${length} bytes`, "OperationError");
  }
  /** Returns the parameters of a digest of any length, for the host. */
  function xofParameters(algorithm: unknown, name: string): object {
    if (typeof algorithm !== "object") throw wrongAt(0, `'${name}' requires a parameter dictionary`);
    const { outputLength } = algorithm as { outputLength?: unknown };
    if (outputLength === undefined) throw wrongAt(0, "required dictionary member 'outputLength'");
    const bits = Number(outputLength);
    if (bits % 8 !== 0) throw exception("Invalid XOF parameters", "OperationError");
    return { ...algorithm, outputLength: bits, name: name === "KangarooTwelve" ? "KT128" : name };
  }
  const arity = (given: number, required: number): void => {
    if (given < required)
      throw new TypeError(
        `Failed to execute 'call' on 'SubtleCrypto': ${required} arguments required, but only ${given} present`,
      );
  };
  /** Checks an algorithm's form; `needs` are the operations whose algorithms take parameters. */
  function requireAlgorithm(algorithm: unknown, needs: readonly string[] = []): void {
    if (typeof algorithm !== "string" && (typeof algorithm !== "object" || algorithm === null))
      throw wrongAt(0, "can not be converted to a AlgorithmIdentifier");
    if (nameIn(algorithm) === undefined) throw wrongAt(0, "required member 'name' is undefined");
    if (typeof nameIn(algorithm) === "symbol")
      throw wrongAt(0, "algorithm.name is not convertible to DOMString");
    const known = needs.find((name) => name.toLowerCase() === String(algorithm).toLowerCase());
    if (typeof algorithm === "string" && known !== undefined)
      throw wrongAt(0, "Algorithm requires a parameter dictionary");
  }
  function requireFormat(format: unknown): void {
    if (!FORMATS.includes(String(format)))
      throw wrongAt(0, `The provided value '${String(format)}' is not a valid enum value of type KeyFormat`);
  }

  /** Whether a key of AES-GCM may be used so with an algorithm. */
  const takesGcm = (use: string, algorithm: unknown, key: unknown): boolean =>
    /^aes-gcm$/i.test(String(nameIn(algorithm))) &&
    nameIn(requireKey(key).algorithm) === "AES-GCM" &&
    requireKey(key).usages.includes(use);
  function requireGcmVector(algorithm: unknown): void {
    const vector = bytesOf((algorithm as { iv?: unknown }).iv);
    if (vector !== undefined && vector.length !== 12 && vector.length !== 16)
      throw exception("Initialization vector length not supported", "NotSupportedError");
  }

  class SubtleCrypto {
    constructor(secret?: unknown) {
      if (secret !== SECRET) throw illegalConstructor();
    }
    async digest(algorithm: unknown, data: unknown): Promise<unknown> {
      requireAlgorithm(algorithm);
      const name = nameIn(algorithm);
      requireBytes(data);
      const known = findAlgorithm("digest", name);
      if (known === undefined)
        throw exception(`Algorithm '${String(name)}' is not supported`, "NotSupportedError");
      if (DIGESTS.includes(known)) return call("digest", [known, data]);
      return call("digest", [xofParameters(algorithm, known), data]);
    }
    async encrypt(algorithm: unknown, key: unknown, data: unknown): Promise<unknown> {
      requireAlgorithm(algorithm, PARAMETERIZED);
      requireKey(key);
      requireBytes(data, 2);
      if (takesGcm("encrypt", algorithm, key)) requireGcmVector(algorithm);
      return call("encrypt", [algorithm, key, data]);
    }
    async decrypt(algorithm: unknown, key: unknown, data: unknown): Promise<unknown> {
      requireAlgorithm(algorithm, PARAMETERIZED);
      requireKey(key);
      requireBytes(data, 2);
      if (takesGcm("decrypt", algorithm, key)) {
        const tagLength = Number((algorithm as { tagLength?: unknown }).tagLength ?? 128);
        if (bytesOf(data)!.length < tagLength / 8)
          throw exception("The provided data is too small", "OperationError");
        requireGcmVector(algorithm);
        if ([32, 64, 96, 104, 112, 120].includes(tagLength)) throw new TypeError("invalid tag length");
      }
      return call("decrypt", [algorithm, key, data]);
    }
    async sign(algorithm: unknown, key: unknown, data: unknown): Promise<unknown> {
      requireAlgorithm(algorithm, SIGNED_WITH);
      requireKey(key);
      requireBytes(data, 2);
      return call("sign", [algorithm, key, data]);
    }
    async verify(algorithm: unknown, key: unknown, signature: unknown, data: unknown): Promise<unknown> {
      requireAlgorithm(algorithm, SIGNED_WITH);
      requireKey(key);
      requireBytes(signature, 2);
      requireBytes(data, 3);
      return call("verify", [algorithm, key, signature, data]);
    }
    async generateKey(algorithm: unknown, extractable: unknown, usages: unknown): Promise<unknown> {
      requireAlgorithm(algorithm);
      if (usages === undefined && typeof algorithm === "string" && SECRETS.test(algorithm))
        throw wrongAt(0, `Missing ${/^aes/i.test(algorithm) ? "AES" : "HMAC"} dict`);
      if (findAlgorithm("generateKey", nameIn(algorithm)) === undefined)
        throw exception(`Unrecognized algorithm name: ${String(nameIn(algorithm))}`, "NotSupportedError");
      const { name, hash, length } = Object(algorithm) as Record<string, unknown>;
      const block = SHA3_BLOCKS[String(nameIn(hash)).toUpperCase()];
      if (/^hmac$/i.test(String(name)) && length === undefined && block !== undefined)
        return call("generateKey", [{ name, hash, length: block }, Boolean(extractable), usages]);
      return call("generateKey", [algorithm, Boolean(extractable), usages]);
    }
    async deriveKey(
      algorithm: unknown,
      baseKey: unknown,
      derivedType: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      requireAlgorithm(algorithm, DERIVED_WITH);
      const name = findAlgorithm("deriveKey", nameIn(algorithm));
      if (nameIn(requireKey(baseKey).algorithm) !== name && name !== undefined)
        throw exception(`Invalid algorithm name: ${name}`, "InvalidAccessError");
      return call("deriveKey", [algorithm, baseKey, derivedType, Boolean(extractable), usages]);
    }
    async deriveBits(algorithm: unknown, baseKey: unknown, length: unknown = null): Promise<unknown> {
      requireAlgorithm(algorithm, DERIVED_WITH);
      requireKey(baseKey);
      return call("deriveBits", [algorithm, baseKey, length]);
    }
    async importKey(
      format: unknown,
      data: unknown,
      algorithm: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      arity(arguments.length, 4);
      const isJwk = format === "jwk";
      const isObject = typeof data === "object" && data !== null;
      if (isJwk ? !isObject || bytesOf(data) !== undefined : bytesOf(data) === undefined)
        throw new TypeError(`Cannot import key: 'keyData' is ${isJwk ? "not " : ""}a JsonWebKey`);
      const { name = algorithm, namedCurve } = Object(algorithm) as { name?: unknown; namedCurve?: unknown };
      if (isJwk) {
        const digest = String(nameIn((Object(algorithm) as { hash?: unknown }).hash));
        const defect = defectOf(data as Record<string, unknown>, String(name).toUpperCase(), digest);
        if (defect !== undefined) throw exception(defect, "DataError");
      }
      const isCurve = /^ec(?:dsa|dh)$/i.test(String(name));
      const { hash } = Object(algorithm) as { hash?: unknown };
      if (typeof algorithm === "object" && isCurve && namedCurve === undefined)
        throw exception("EC import requires 'namedCurve'", "DataError");
      if (typeof algorithm === "object" && /^rsa/i.test(String(name)) && hash === undefined)
        throw exception("RSA import requires 'hash'", "DataError");
      if (isCurve && format === "raw" && !CURVES.includes(String(namedCurve)))
        throw exception("Invalid namedCurve", "DataError");
      // Keys to derive from are never extractable in Deno, whatever is asked for.
      const isDerived = DERIVATIONS.slice(3).includes(String(nameIn(algorithm)).toUpperCase());
      const isArgon2 = /^argon2/i.test(String(nameIn(algorithm)));
      try {
        return await call("importKey", [
          isArgon2 && format === "raw" ? "raw-secret" : format,
          data,
          algorithm,
          !isDerived && Boolean(extractable),
          usages,
        ]);
      } catch (error) {
        const { message } = error as Error;
        if (message !== "Invalid key data") throw error;
        const isRsa = /^rsa/i.test(String(name));
        const defect =
          (isCurve && format === "spki") || isRsa ? derDefect(bytesOf(data) as Uint8Array) : undefined;
        if (defect !== undefined)
          throw exception(format === "spki" ? `ASN.1 error: ${defect}` : defect, "DataError");
        if (!isCurve) throw error;
        if (format === "raw")
          throw exception(`invalid ${String(namedCurve)} elliptic curve point`, "DataError");
        throw format === "pkcs8" ? exception("expected valid PKCS#8 data", "DataError") : error;
      }
    }
    async exportKey(format: unknown, key: unknown): Promise<unknown> {
      requireFormat(format);
      const { type, algorithm, usages } = requireKey(key);
      if (format === "raw" && type === "private" && RAW_PUBLIC.includes(String(nameIn(algorithm))))
        throw exception("Key is not a public key", "InvalidAccessError");
      const exported = await call("exportKey", [format, key]);
      if (format !== "jwk") return exported;
      return orderJwk({ ...(exported as Record<string, unknown>), key_ops: [...usages] });
    }
    async wrapKey(format: unknown, key: unknown, wrappingKey: unknown, algorithm: unknown): Promise<unknown> {
      requireFormat(format);
      requireKey(key);
      return call("wrapKey", [format, key, wrappingKey, algorithm]);
    }
    async unwrapKey(...args: unknown[]): Promise<unknown> {
      arity(args.length, 7);
      return call("unwrapKey", args);
    }
    async encapsulateBits(algorithm: unknown, key: unknown): Promise<unknown> {
      requireKemKey(algorithm, key, "public", "encapsulateBits");
      return call("encapsulateBits", [algorithm, key]);
    }
    async encapsulateKey(
      algorithm: unknown,
      key: unknown,
      sharedType: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      arity(arguments.length, 5);
      requireKemKey(algorithm, key, "public", "encapsulateKey");
      return call("encapsulateKey", [algorithm, key, sharedType, Boolean(extractable), usages]);
    }
    async decapsulateBits(algorithm: unknown, key: unknown, ciphertext: unknown): Promise<unknown> {
      arity(arguments.length, 3);
      requireKemKey(algorithm, key, "private", "decapsulateBits", ciphertext);
      return call("decapsulateBits", [algorithm, key, ciphertext]);
    }
    async decapsulateKey(
      algorithm: unknown,
      key: unknown,
      ciphertext: unknown,
      sharedType: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      arity(arguments.length, 6);
      requireKemKey(algorithm, key, "private", "decapsulateKey", ciphertext);
      return call("decapsulateKey", [algorithm, key, ciphertext, sharedType, Boolean(extractable), usages]);
    }
    async getPublicKey(key: unknown, usages: unknown): Promise<unknown> {
      arity(arguments.length, 2);
      const { type, algorithm } = requireKey(key);
      const name = String(nameIn(algorithm));
      if (type === "secret")
        throw exception(`getPublicKey() is not supported for ${name}`, "NotSupportedError");
      if (type === "public")
        throw exception("Public keys can only be derived from private keys", "InvalidAccessError");
      return call("getPublicKey", [key, usages]);
    }
    static supports(op: unknown, algorithm: unknown, ...[second]: unknown[]): boolean {
      requireArguments(arguments.length, 2, "Failed to execute 'SubtleCrypto.call'");
      const name = findAlgorithm(String(op), nameIn(algorithm));
      if (name === undefined) return false;
      const other = typeof second === "number" ? undefined : nameIn(second);
      switch (op) {
        case "deriveBits":
          return !DERIVATIONS.includes(name) || (typeof second === "number" && second % 8 === 0);
        case "deriveKey":
          if (typeof second !== "object") return !DERIVATIONS.includes(name) && second === undefined;
          return findAlgorithm("generateKey", other) !== undefined && !KEY_PAIRS.includes(String(other));
        case "encapsulateKey":
        case "decapsulateKey":
        case "wrapKey":
        case "unwrapKey":
          return other === undefined || findAlgorithm("importKey", other) !== undefined;
        default:
          return true;
      }
    }
  }

  order(
    SubtleCrypto.prototype,
    "constructor digest encrypt decrypt sign verify deriveBits deriveKey importKey exportKey encapsulateBits decapsulateBits generateKey getPublicKey wrapKey unwrapKey encapsulateKey decapsulateKey",
  );
  Object.defineProperty(SubtleCrypto.prototype.unwrapKey, "length", { value: 7, configurable: true });
  exposeStatics(SubtleCrypto, "supports");
  exposeInterface(SubtleCrypto, "SubtleCrypto", false, wrongThis("expected SubtleCrypto"));
  Object.defineProperty(SubtleCrypto, "length", { value: 0, configurable: true });
  printWith(SubtleCrypto.prototype as object, (_, inspect, options) =>
    inspect(printable("SubtleCrypto", {}), options),
  );
  return SubtleCrypto;
}

/** Returns what Deno says of a JSON Web Key that lacks what every key of its kind has; `name` is in upper case. */
function defectOf(jwk: Readonly<Record<string, unknown>>, name: string, hash: string): string | undefined {
  const { kty, crv, k, x, y, n, alg, use } = jwk;
  if (/^(?:ED|X)(?:25519|448)$/.test(name)) {
    if (kty !== "OKP") return "Invalid key type";
    return String(crv).toUpperCase() === name ? undefined : "Invalid curve";
  }
  const type = /^(?:AES|HMAC)/.test(name) ? "oct" : name.startsWith("EC") ? "EC" : /^RSA/.exec(name)?.[0];
  if (type === undefined) return undefined;
  if (kty !== type) return `'kty' property of JsonWebKey must be '${type}'`;
  if (type === "RSA")
    return n === undefined ? "'n' property of JsonWebKey is required for public keys" : undefined;
  if (type === "EC") {
    const missing = x === undefined ? "x" : y === undefined ? "y" : undefined;
    return missing && `'${missing}' property of JsonWebKey is required for EC keys`;
  }
  if (k === undefined) return "'k' property of JsonWebKey must be present";
  if (!/^[\w-]*$/.test(String(k))) return "'k' property of JsonWebKey is required";
  if (name === "HMAC") {
    const wanted = `HS${/^SHA-(1|256|384|512)$/i.exec(hash)?.[1]}`;
    if (alg !== undefined && alg !== wanted) return `'alg' property of JsonWebKey must be '${wanted}'`;
    return use !== undefined && use !== "sig" ? "'use' property of JsonWebKey must be 'sig'" : undefined;
  }
  const expected = `A${Math.floor((String(k).length * 3) / 4) * 8}${name.slice(4)}`;
  if (alg !== undefined && alg !== expected) return `Invalid algorithm: ${String(alg)}`;
  return use !== undefined && use !== "enc" ? "'use' property of JsonWebKey must be 'enc'" : undefined;
}

/** Returns the name of the algorithm among a call's arguments, for the error's text. */
function algorithmName(args: readonly unknown[]): string {
  for (const arg of args) {
    const name = nameIn(arg);
    if (typeof name === "string" && !["raw", "jwk", "pkcs8", "spki"].includes(name)) return name;
  }
  return "";
}
