import { plainJson } from "../builtins.ts";
import { packMessage, unpackMessage } from "../hostCalls.ts";
import type { Internals } from "../internals.ts";
import {
  bytesOf,
  concatBytes,
  exposeInterface,
  exposeInternals,
  exposeStatics,
  illegalConstructor,
  moveToEnd,
  printable,
  requireCount,
  printWith,
  wrongThis,
} from "../webIdl.ts";
import { order } from "../shape.ts";
import { orderJwk } from "./jwk.ts";
import { CryptoKey, type KeyFields, SECRET, fieldsOf, isKey } from "./key.ts";
import {
  type Algorithm,
  CIPHERS,
  DERIVATIONS,
  SIGNATURES,
  algorithm,
  bytes,
  identifier,
  key,
  keyAlgorithm,
  keyFormat,
  texts,
} from "./parameters.ts";

/** In `value`, `{$bytes: [start, end]}` stands for a part of the answer's body and `{$key: KeyFields}` for a key. */
interface Answer {
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

/** Node's messages that Deno words differently. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^algorithm\.modulusLength must be at least 512$/, "Failed to generate RSA key"],
  [/^Usages cannot be empty when creating a key\.?$/, "Usages cannot be empty"],
  [/^length exceeds the maximum derived bit length$/, "The length provided for HKDF is too large"],
  [/^The provided data is too small\.?$/, "The provided data is too small"],
  [/^Invalid keyData$/, "Invalid key data"],
  [/^algorithm\.publicExponent .*/, "Bad public exponent"],
  [/^Usages cannot be empty when importing a (?:secret|private) key\.$/, "Invalid key usage"],
  [/^Key must be a (private|public) key$/, "Key is not a $1 key"],
  [/^Unable to (?:im|ex)port .* format$/, "Not implemented"],
  [/^Key operations and usage mismatch$/, "'key_ops' property of JsonWebKey is invalid"],
  [/^nonce must be at least .*/, "Argon2 derivation failed"],
  [/^memory must be at least .*/, "Invalid Argon2 parameters"],
  [/^(?:TurboShakeParams\.domainSeparation|Invalid KangarooTwelveParams) .*/, "Invalid XOF parameters"],
];
const DIGESTS = "SHA-1 SHA-256 SHA-384 SHA-512 SHA3-256 SHA3-384 SHA3-512".split(" ");
/** Digests of any length, which take their parameters as an object. */
const XOF_DIGESTS = "cSHAKE128 cSHAKE256 KangarooTwelve KT128 KT256 TurboSHAKE128 TurboSHAKE256".split(" ");
const CIPHER_NAMES = Object.keys(CIPHERS);
const CURVES = ["P-256", "P-384", "P-521"];
/** Those whose public keys can be exported as they are. */
const RAW_PUBLIC = ["ECDSA", "ECDH", "Ed25519", "X25519", "X448"];
const MACS = ["HMAC", "KMAC128", "KMAC256"];
const AGREEMENTS = ["ECDH", "X25519", "X448"];
const DERIVATION_NAMES = "Argon2d Argon2i Argon2id HKDF PBKDF2".split(" ");
const SIGNATURE_NAMES = Object.keys(SIGNATURES).filter((name) => !MACS.includes(name));
/** Lengths of ciphertexts, in bytes. */
const CIPHERTEXT_BYTES: Readonly<Record<string, number>> = {
  "ML-KEM-512": 768,
  "ML-KEM-768": 1_088,
  "ML-KEM-1024": 1_568,
};
const ENCAPSULATIONS = Object.keys(CIPHERTEXT_BYTES);
/** Block lengths of SHA-3, the default lengths of an HMAC's key, in bits. */
const SHA3_BLOCKS: Readonly<Record<string, number>> = { "SHA3-256": 1_088, "SHA3-384": 832, "SHA3-512": 576 };
const KEY_PAIRS = [...SIGNATURE_NAMES, ...AGREEMENTS, ...ENCAPSULATIONS, "RSA-OAEP"];
const GENERATED = [
  ...KEY_PAIRS,
  ...MACS,
  ..."AES-CBC AES-CTR AES-GCM AES-KW AES-OCB ChaCha20-Poly1305".split(" "),
];
const CIPHERING = ["encrypt", "decrypt", "wrapKey", "unwrapKey"];
const SIGNING = ["sign", "verify"];
const DERIVING = ["deriveKey", "deriveBits"];
const ENCAPSULATING = ["encapsulateKey", "encapsulateBits", "decapsulateKey", "decapsulateBits"];
const ALL_USAGES = [...CIPHERING, ...SIGNING, ...DERIVING, ...ENCAPSULATING];
/** What secret keys may be used for. */
const SECRET_USES: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  "AES-CBC": CIPHERING,
  "AES-CTR": CIPHERING,
  "AES-GCM": CIPHERING,
  "AES-KW": ["wrapKey", "unwrapKey"],
  HMAC: SIGNING,
  KDF: DERIVING,
};
/** What other keys may be used for. */
const PAIR_USES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:AES-OCB|ChaCha20-Poly1305|RSA-OAEP)$/, CIPHERING],
  [/^(?:ECDH|X25519|X448)$/, DERIVING],
  [/^ML-KEM/, ENCAPSULATING],
  [/^(?:ECDSA|Ed25519|KMAC\d+|ML-DSA-\d+|RS.*)$/, SIGNING],
];
/** The parameters that a kind of key is made from, by the dictionary that has them. */
const REQUIRED: readonly (readonly [RegExp, readonly [kind: string, members: readonly string[]]])[] = [
  [/^RS/, ["RSA", ["modulusLength", "publicExponent", "hash"]]],
  [/^EC/, ["EC", ["namedCurve"]]],
  [/^AES/, ["AES", ["length"]]],
  [/^HMAC$/, ["HMAC", ["hash"]]],
];
/** How bytes that are no key are given to the host as one. */
const CARRIER = [{ name: "HMAC", hash: "SHA-256" }, true, ["sign"]];
const WRAPPINGS = { ...CIPHERS, "AES-KW": {} };

/** Returns a digest's name in the spelling of the standard. */
const findDigest = (name: unknown): string | undefined =>
  DIGESTS.find((known) => known.toLowerCase() === String(name).toLowerCase());

/** Algorithms by the operations that take them, as `SubtleCrypto.supports` reports. */
const SUPPORTED: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  digest: [...DIGESTS, ...XOF_DIGESTS],
  encrypt: CIPHER_NAMES,
  decrypt: CIPHER_NAMES,
  sign: [...SIGNATURE_NAMES, ...MACS],
  verify: [...SIGNATURE_NAMES, ...MACS],
  deriveBits: [...AGREEMENTS, ...DERIVATION_NAMES],
  deriveKey: [...AGREEMENTS, ...DERIVATION_NAMES],
  generateKey: GENERATED,
  importKey: [...GENERATED, ...DERIVATION_NAMES],
  exportKey: [...GENERATED, ...DERIVATION_NAMES],
  encapsulateBits: ENCAPSULATIONS,
  encapsulateKey: ENCAPSULATIONS,
  decapsulateBits: ENCAPSULATIONS,
  decapsulateKey: ENCAPSULATIONS,
  getPublicKey: KEY_PAIRS,
  wrapKey: [...CIPHER_NAMES, "AES-KW"],
  unwrapKey: [...CIPHER_NAMES, "AES-KW"],
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
  48: "SEQUENCE",
  49: "SET",
};
const SEQUENCE = 48;
const INTEGER = 2;

/** Says in Deno's words that the key in the bytes is none for the algorithm. */
function wrongKeyData(message: string, algorithm: string, args: readonly unknown[]): string {
  const isSpki = args[0] === "spki";
  if (message === "Named curve mismatch") {
    const { namedCurve } = args.findLast((arg) => Object.hasOwn(Object(arg), "namedCurve")) as {
      namedCurve: unknown;
    };
    return isSpki ? `invalid ${String(namedCurve)} elliptic curve SPKI data` : "curve mismatch";
  }
  if (message !== "Invalid key type" || !(isSpki || args[0] === "pkcs8")) return message;
  if (/^EC/i.test(algorithm)) return isSpki ? "unsupported algorithm" : "malformed parameters";
  return /^RSA/i.test(algorithm) ? "unsupported algorithm" : "Invalid key data";
}

/** Says in Deno's words why bytes don't begin as the DER of a public or private key does; undefined if they do. */
function derDefect(bytes: Uint8Array, isPublic: boolean): string | undefined {
  const [tag, length] = bytes;
  const isShort = (expected: number, at: number): string =>
    `ASN.1 DER message is incomplete: expected ${expected}, actual ${bytes.length} at DER byte ${at}`;
  if (tag === undefined) return isShort(1, 0);
  if (tag === SEQUENCE) {
    if (length === undefined) return isShort(2, 1);
    if (length < 128 && length + 2 > bytes.length) return isShort(length + 2, 2);
    const first = bytes[length < 128 ? 2 : 2 + (length & 127)];
    if (first === undefined || first === (isPublic ? SEQUENCE : INTEGER)) return undefined;
    const found = tagName(first);
    if (found === undefined) return isPublic ? `${wrongTag(first)} at DER byte 1` : undefined;
    const wrong = "unexpected ASN.1 DER tag: expected";
    return isPublic ? `${wrong} SEQUENCE, got ${found} at DER byte 2` : `${wrong} INTEGER, got ${found}`;
  }
  const name = tagName(tag);
  return name === undefined ? wrongTag(tag) : `unexpected ASN.1 DER tag: expected SEQUENCE, got ${name}`;
}

/** Returns the name of a tag of DER; undefined if there is none. */
function tagName(tag: number): string | undefined {
  const group = ["", "APPLICATION", "CONTEXT-SPECIFIC", "PRIVATE"][tag >> 6];
  if (group === "") return DER_TAGS[tag];
  return (tag & 31) === 31 ? undefined : `${group} [${tag & 31}] (${tag & 32 ? "constructed" : "primitive"})`;
}

const wrongTag = (tag: number): string =>
  (tag & 31) === 31
    ? "invalid tag number"
    : `unknown/unsupported ASN.1 DER tag: 0x${tag.toString(16).padStart(2, "0")}`;

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
export function createSubtle(
  hostCall: Internals["hostCall"],
  exception: Exception,
  { atob, decodeUtf8 }: { readonly atob: (text: string) => string } & Pick<Internals, "decodeUtf8">,
) {
  async function call(
    op: string,
    args: readonly unknown[],
    asked: unknown = args.at(-1),
    hash?: string,
  ): Promise<unknown> {
    const parts: Uint8Array[] = [];
    let length = 0;
    const uses = args.at(-1);
    // The host derives bits for a key, too.
    if (Array.isArray(uses) && uses.includes("deriveKey") && !uses.includes("deriveBits"))
      args = [...args.slice(0, -1), [...(uses as string[]), "deriveBits"]];
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
    if (error !== undefined) throw toError(algorithmName(args), op, error, args);
    return revive(value, answer.body, asked, hash);
  }

  /** Converts a host error to Deno's wording. */
  function toError(
    algorithm: string,
    op: string,
    { name, message }: { readonly name: string; readonly message: string },
    args: readonly unknown[],
  ): Error {
    if (name === "TypeError") return new TypeError(message);
    if (op === "sign" && name === "OperationError" && /^rsa-pss$/i.test(algorithm))
      return new Error("internal error");
    if (op === "wrapKey" && args[0] === "raw" && isKey(Object(args[1]) as object)) {
      const { type } = args[1] as CryptoKey;
      if (type === "private") return exception("Key is not a public key", "InvalidAccessError");
    }
    if (name === "DataError") message = wrongKeyData(message, algorithm, args);
    for (const [pattern, text] of TEXTS)
      if (pattern.test(message)) return exception(message.replace(pattern, text), name);
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

  const at =
    (index: number) =>
    (text: string): Error =>
      wrongAt(index, text);
  /** Checks what Deno checks before a key encapsulation, in its words. */
  function requireKemKey(
    algorithm: unknown,
    keyGiven: unknown,
    type: string,
    usage: string,
    ciphertext?: Uint8Array,
  ) {
    const word = type === "public" ? "Encapsulation" : "Decapsulation";
    const base = usage.endsWith("Bits") ? 0 : 1;
    identifier(algorithm, at(base));
    const kemKey = key(keyGiven, at(base + 1));
    const name = findAlgorithm(usage, nameIn(algorithm));
    if (name === undefined)
      throw exception(`${word} not supported for ${String(nameIn(algorithm))}`, "NotSupportedError");
    const fail = (text: string) => exception(`${word} key ${text}`, "InvalidAccessError");
    if (nameIn(kemKey.algorithm) !== name) throw fail("algorithm does not match");
    if (kemKey.type !== type) throw fail(`must be a ${type} key`);
    if (!kemKey.usages.includes(usage)) throw fail(`usages must include '${usage}'`);
    const length = CIPHERTEXT_BYTES[name];
    if (ciphertext !== undefined && ciphertext.length !== length)
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
  const exportJwk = async (key: unknown, usages: readonly string[]): Promise<object> =>
    orderJwk({ ...((await call("exportKey", ["jwk", key])) as object), key_ops: [...usages] });
  const invalidAccess = (text: string): Error => exception(text, "InvalidAccessError");
  const operation = (text: string): Error => exception(text, "OperationError");
  const notSupported = (text: string): Error => exception(text, "NotSupportedError");

  /** Checks that a key may be used so with an algorithm. */
  function requireUse(use: string, name: string, { algorithm, usages }: CryptoKey): void {
    if (name !== nameIn(algorithm)) {
      if (use === "decrypt") throw operation(`Decryption algorithm "${name}" does not match key algorithm`);
      throw invalidAccess(
        use.endsWith("rapKey")
          ? `${use === "wrapKey" ? "Wrapping" : "Unwrapping"} algorithm does not match key algorithm`
          : `${USES[use]} algorithm '${name}' does not match key algorithm`,
      );
    }
    if (!usages.includes(use))
      throw invalidAccess("The requested operation is not valid for the provided key");
  }
  function requireType(key: CryptoKey, type: string): void {
    if (key.type !== type) throw invalidAccess("Key type not supported");
  }
  /** Checks the parameters of a cipher; `length` is that of the data, in bytes. */
  function checkCipher(decrypts: boolean, given: Algorithm, key: CryptoKey, length: number): void {
    const { name, tagLength = 128 } = given as { name: string; tagLength?: number };
    const [iv, counter] = [given["iv"], given["counter"]] as (Uint8Array | undefined)[];
    const requireTag = (lengths: readonly number[]): void => {
      if (!lengths.includes(tagLength)) throw operation(`Invalid tag length: ${tagLength}`);
      if (decrypts && length < tagLength / 8) throw operation("The provided data is too small");
    };
    if (name === "RSA-OAEP") requireType(key, decrypts ? "private" : "public");
    else if (name === "AES-CBC" && iv?.length !== 16)
      throw operation(decrypts ? "Counter must be 16 bytes" : "Initialization vector must be 16 bytes");
    else if (name === "AES-CTR") {
      if (counter?.length !== 16) throw operation("Counter vector must be 16 bytes");
      const bits = given["length"] as number;
      if (bits === 0 || bits > 128)
        throw operation(
          `Counter length must not be 0 or greater than 128${decrypts ? `: received ${bits}` : ""}`,
        );
      if (![32, 64, 128].includes(bits))
        throw new TypeError("invalid counter length. Currently supported 32/64/128 bits");
    } else if (name === "AES-GCM") {
      requireTag([32, 64, 96, 104, 112, 120, 128]);
      if (iv?.length !== 12 && iv?.length !== 16)
        throw notSupported("Initialization vector length not supported");
      if (decrypts && tagLength !== 128) throw new TypeError("invalid tag length");
    } else if (name === "AES-OCB") {
      requireTag([64, 96, 128]);
      if (iv === undefined || iv.length < 6 || iv.length > 15)
        throw operation("Invalid nonce length for AES-OCB (must be 6-15 bytes)");
    } else if (name === "ChaCha20-Poly1305") {
      if (iv === undefined) throw new TypeError("iv is required");
      if (iv.length !== 12) throw operation("ChaCha20-Poly1305 iv must be 12 bytes");
      if (tagLength !== 128) throw operation("ChaCha20-Poly1305 tagLength must be 128");
      if (decrypts && length < 16) throw operation("The provided data is too small");
    }
  }
  /** Checks the parameters of a signature; returns them as the host takes them. */
  function checkSignature(given: Algorithm, key: CryptoKey, type: string): Algorithm {
    const { name } = given;
    const made = { ...given };
    if (name === "ECDSA") {
      const known = findDigest(given["hash"]);
      if (known === undefined) throw notSupported(`Unrecognized hash algorithm: ${String(given["hash"])}`);
      if (known.startsWith("SHA3")) throw new TypeError("unsupported algorithm");
      made["hash"] = known;
    }
    if (!MACS.includes(name)) requireType(key, type);
    const { hash } = key.algorithm as { hash?: { name: string } };
    if (hash !== undefined && !DIGESTS.includes(hash.name)) throw operation(`${name} key is missing 'hash'`);
    return made;
  }
  /** Derives bits as Deno does; `length` is in bits, none for as many as an agreement gives. */
  async function derive(
    given: Algorithm,
    baseKey: CryptoKey,
    length: number | undefined,
  ): Promise<ArrayBuffer> {
    const { name } = given;
    if (!given["isKnown"]) throw notSupported(`Algorithm '${name}' is not supported`);
    if (name !== nameIn(baseKey.algorithm)) throw invalidAccess("Invalid algorithm name");
    const bits =
      length === undefined ? undefined : Math.min(Math.max(Math.trunc(length) || 0, 0), 2 ** 32 - 1);
    const isAgreement = AGREEMENTS.includes(name);
    const invalid = (): Error => operation("Invalid length");
    if (isAgreement) {
      const other = given["public"] as CryptoKey;
      if (baseKey.type !== "private" || other.type !== "public") throw invalidAccess("Invalid key type");
      if (nameIn(other.algorithm) !== name) throw invalidAccess("Algorithm mismatch");
      const curveOf = ({ algorithm }: CryptoKey): unknown =>
        (algorithm as { namedCurve?: unknown }).namedCurve;
      if (curveOf(other) !== curveOf(baseKey)) throw invalidAccess("'namedCurve' mismatch");
      const all = (await call("deriveBits", [given, baseKey, null])) as ArrayBuffer;
      if (bits === undefined) return all;
      if (all.byteLength * 8 < bits) throw invalid();
      return all.slice(0, Math.ceil(bits / 8));
    }
    if (given["hash"] !== undefined && !DIGESTS.includes(given["hash"] as string))
      throw notSupported("Unrecognized algorithm name");
    if (bits === undefined || bits % 8 !== 0) throw invalid();
    if (given["iterations"] === 0) throw operation("iterations must not be zero");
    if (bits === 0 && !name.startsWith("Argon2")) return new ArrayBuffer(0);
    if (name === "PBKDF2" && String(given["hash"]).startsWith("SHA3"))
      throw new TypeError("unsupported algorithm");
    return (await call("deriveBits", [given, baseKey, bits])) as ArrayBuffer;
  }
  /** Imports the bytes of a secret key; `undefined` for an algorithm of another kind. */
  function importSecret(
    format: string,
    data: unknown,
    { name, hash, length }: Algorithm,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<unknown> | undefined {
    const isKdf = DERIVATION_NAMES.includes(name);
    const allowed = SECRET_USES[isKdf ? "KDF" : name];
    if (allowed === undefined) return undefined;
    const refuse = (text: string, type = "DataError"): Error => exception(text, type);
    const requireUsages = (): void => {
      if (!usages.every((usage) => allowed.includes(usage)))
        throw exception("Invalid key usage", "SyntaxError");
    };
    if (!isKdf) requireUsages();
    if (name === "HMAC" && hash === undefined) throw refuse("HMAC import requires 'hash'");
    const isRaw = format === "raw" || format === "raw-secret";
    if (!isRaw && (format !== "jwk" || isKdf)) throw notSupported("Not implemented");
    const raw = isRaw
      ? (data as Uint8Array)
      : readOctets(data as object, name, String(hash), usages, extractable);
    if (isKdf) {
      requireUsages();
      if (usages.length === 0) throw exception("Invalid key usage", "SyntaxError");
      const format = name.startsWith("Argon2") ? "raw-secret" : "raw";
      return call("importKey", [format, raw, { name }, false, usages]);
    }
    const bits = raw.length * 8;
    if (name === "HMAC") {
      if (bits === 0) throw refuse("Key length is zero");
      if (typeof length === "number" && (length > bits || length <= bits - 8))
        throw refuse("Key length is invalid");
    } else if (![128, 192, 256].includes(bits)) throw refuse("Invalid key length");
    const { asked, given } = { asked: usages, given: usages.length === 0 ? allowed : usages };
    const known = DIGESTS.includes(String(hash)) ? hash : "SHA-256";
    const algorithm =
      name === "HMAC" ? { name, hash: known, ...(length !== undefined && { length }) } : { name };
    return call(
      "importKey",
      ["raw", raw, algorithm, extractable, given],
      asked,
      name === "HMAC" ? String(hash) : undefined,
    );
  }
  /** Checks a JSON Web Key of bytes, and returns them. */
  function readOctets(
    jwk: object,
    name: string,
    hash: string,
    usages: readonly string[],
    extractable: boolean,
  ): Uint8Array {
    const read = (member: string): unknown => (jwk as Readonly<Record<string, unknown>>)[member] ?? undefined;
    const refuse = (text: string): Error => exception(text, "DataError");
    const of = (member: string, text: string): Error => refuse(`'${member}' property of JsonWebKey ${text}`);
    if (String(read("kty")) !== "oct") throw of("kty", "must be 'oct'");
    if (read("k") === undefined) throw of("k", "must be present");
    const use = name === "HMAC" ? "sig" : "enc";
    if (usages.length > 0 && read("use") !== undefined && String(read("use")) !== use)
      throw of("use", `must be '${use}'`);
    const operations = read("key_ops");
    if (Array.isArray(operations)) {
      const names = operations.map(String);
      if (!names.every((each) => ALL_USAGES.includes(each)) || !usages.every((each) => names.includes(each)))
        throw of("key_ops", "is invalid");
    }
    if (read("ext") !== undefined && !read("ext") && extractable)
      throw of("ext", "must not be false if extractable is true");
    const text = String(read("k")).replace(/=+$/, "");
    if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) throw of("k", "is required");
    const raw = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
      character.charCodeAt(0),
    );
    const alg = read("alg") === undefined ? undefined : String(read("alg"));
    if (name === "HMAC") {
      if (!DIGESTS.includes(hash)) throw notSupported("Hash algorithm not supported");
      const expected = `HS${hash.replace("SHA-", "").replace("SHA3", "3")}`;
      if (alg !== undefined && alg !== expected) throw of("alg", `must be '${expected}'`);
    } else if ([16, 24, 32].includes(raw.length) && alg !== undefined) {
      if (alg !== `A${raw.length * 8}${name.slice(4)}`) throw refuse(`Invalid algorithm: ${alg}`);
    }
    return raw;
  }

  /** Checks that the parameters are there from which a key is made. */
  function requireParameters(name: string, of: object | undefined, given: Algorithm): void {
    const [kind, members] = REQUIRED.find(([pattern]) => pattern.test(name))?.[1] ?? [];
    if (members === undefined || !GENERATED.includes(name)) return;
    if (of === undefined) throw wrongAt(0, `Missing ${kind} dict`);
    for (const member of members) if (given[member] === undefined) throw wrongAt(0, `Missing '${member}'`);
  }
  /** Checks the parameters of a key to make; returns them as the host takes them. */
  function checkGeneration(given: Algorithm, usages: readonly string[]): object {
    const { name, hash, length, namedCurve, modulusLength, publicExponent } = given as Algorithm &
      Record<string, number | undefined>;
    const allowed = SECRET_USES[name] ?? PAIR_USES.find(([pattern]) => pattern.test(name))?.[1];
    if (allowed === undefined) throw notSupported(`Unrecognized algorithm name: ${name}`);
    const known = findDigest(hash);
    if (hash !== undefined && known === undefined && /^(?:RSA|HMAC)/.test(name))
      throw notSupported(`Unrecognized hash algorithm: ${String(hash)}`);
    if (name.startsWith("EC") && !CURVES.includes(String(namedCurve)))
      throw notSupported(`Unsupported named curve: ${String(namedCurve)}`);
    if (name.startsWith("AES") && ![128, 192, 256].includes(Number(length)))
      throw operation("Invalid AES key length");
    if (!usages.every((usage) => allowed.includes(usage)))
      throw exception("Invalid key usage", "SyntaxError");
    if (MACS.includes(name) && length === 0) throw operation("Invalid length");
    if (
      name === "HMAC" &&
      length !== undefined &&
      (length % 8 !== 0 || (length > 1024 && !known!.startsWith("SHA3")))
    )
      throw operation("Invalid HMAC key length");
    if (usages.length === 0) throw exception("Usages cannot be empty", "SyntaxError");
    if (name.startsWith("RSA")) return { name, hash: known, modulusLength, publicExponent };
    if (name.startsWith("EC")) return { name, namedCurve };
    if (name === "HMAC") return { name, hash: known, length: length ?? SHA3_BLOCKS[known!] };
    return length === undefined ? { name } : { name, length };
  }
  /** Returns how many bits a key of an algorithm has; `undefined` if as many as there are. */
  function keyLength({ name, hash, length }: Algorithm): number | undefined {
    if (name.startsWith("AES-")) {
      if ([128, 192, 256].includes(Number(length))) return length as number;
      throw operation(`Length must be 128, 192, or 256: received ${Number(length ?? 0)}`);
    }
    if (name === "HMAC") {
      if (length === 0) throw new TypeError("Invalid length: 0");
      if (length !== undefined) return length as number;
      if (DIGESTS.includes(String(hash))) return /^SHA(?:-1$|-256$|3-256$)/.test(String(hash)) ? 512 : 1_024;
      throw notSupported(`Unrecognized hash algorithm: ${String(hash ?? "")}`);
    }
    if (name === "ChaCha20-Poly1305") return 256;
    if (DERIVATION_NAMES.includes(name)) return undefined;
    throw new TypeError("Unreachable");
  }
  async function importKey(
    format: string,
    data: unknown,
    given: Algorithm,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<unknown> {
    const isJwk = format === "jwk";
    const isObject = (typeof data === "object" && data !== null) || typeof data === "function";
    if (isJwk ? !isObject || bytesOf(data) !== undefined : bytesOf(data) === undefined)
      throw new TypeError(`Cannot import key: 'keyData' is ${isJwk ? "not " : ""}a JsonWebKey`);
    const name = findAlgorithm("importKey", given.name);
    if (name === undefined) throw notSupported("Unrecognized algorithm name");
    const algorithm: Algorithm = { ...given, name, of: undefined };
    const input = isJwk ? data : bytes(data, at(2));
    const secret = importSecret(format, input, algorithm, extractable, usages);
    if (secret !== undefined) {
      if (usages.length === 0) throw exception("Invalid key usage", "SyntaxError");
      return secret;
    }
    return importPair(format, input, algorithm, extractable, usages);
  }
  function readJson(data: ArrayBuffer): unknown {
    const refuse = (what: string): Error => exception(`Wrapped key is not valid ${what}`, "DataError");
    let text: string;
    try {
      text = decodeUtf8(new Uint8Array(data), true, true);
    } catch {
      throw refuse("UTF-8");
    }
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw refuse("JSON");
    }
  }
  /** Imports a public or a private key. */
  async function importPair(
    format: string,
    data: unknown,
    algorithm: Algorithm,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<unknown> {
    const { name, namedCurve, hash } = algorithm;
    const isCurve = name.startsWith("EC");
    const isRsa = name.startsWith("RS");
    if (isCurve && namedCurve === undefined) throw exception("EC import requires 'namedCurve'", "DataError");
    if (isRsa && hash === undefined) throw exception("RSA import requires 'hash'", "DataError");
    if (isCurve && !CURVES.includes(String(namedCurve))) throw exception("Invalid namedCurve", "DataError");
    if (isRsa && format.startsWith("raw")) throw notSupported("Not implemented");
    if (name.startsWith("ML-") && (format === "raw" || format === "raw-private" || format === "raw-secret"))
      throw notSupported(`Unsupported key format for ${name.slice(0, 6)}`);
    if (name === "ECDH" && format === "spki" && usages.length > 0)
      throw exception("Key usage must be empty", "SyntaxError");
    if (!usages.every((usage) => ALL_USAGES.includes(usage)))
      throw exception("Invalid key usage", "SyntaxError");
    const input =
      format === "jwk" && KEY_PAIRS.includes(name)
        ? checkJwk(data as Record<string, unknown>, algorithm, extractable, usages)
        : data;
    try {
      return await call(
        "importKey",
        [format, input, algorithm, extractable, usages],
        usages,
        isRsa ? (hash as string) : undefined,
      );
    } catch (error) {
      const { message } = error as Error;
      if (message !== "Invalid key data") throw error;
      if (format === "jwk" && /^(?:Ed|X)/.test(name))
        throw exception(
          `Invalid ${(data as { d?: unknown }).d === undefined ? "public" : "private"} key data`,
          "DataError",
        );
      const defect =
        (isCurve && format === "spki") || isRsa
          ? derDefect(bytesOf(data) as Uint8Array, format === "spki")
          : undefined;
      if (defect !== undefined)
        throw exception(format === "spki" ? `ASN.1 error: ${defect}` : defect, "DataError");
      if (!isCurve) throw error;
      if (format === "raw")
        throw exception(`invalid ${String(namedCurve)} elliptic curve point`, "DataError");
      throw format === "pkcs8" ? exception("expected valid PKCS#8 data", "DataError") : error;
    }
  }

  /** Checks a JSON Web Key of a pair as Deno does; returns what the host needs of it. */
  function checkJwk(
    jwk: Readonly<Record<string, unknown>>,
    { name, namedCurve, hash }: Algorithm,
    extractable: boolean,
    usages: readonly string[],
  ): object {
    const kind = name.startsWith("EC")
      ? "EC"
      : name.startsWith("RS")
        ? "RSA"
        : name.startsWith("ML")
          ? "AKP"
          : "OKP";
    const isOkp = kind === "OKP" || kind === "AKP";
    const refuse = (text: string): Error => exception(text, "DataError");
    const of = (member: string, text: string): Error => refuse(`'${member}' property of JsonWebKey ${text}`);
    const read = (member: string): string | undefined => {
      const value = jwk[member] ?? undefined;
      return value === undefined ? undefined : String(value);
    };
    const isPrivate = read(kind === "AKP" ? "priv" : "d") !== undefined;
    const allowed = (PAIR_USES.find(([pattern]) => pattern.test(name))?.[1] ?? []).filter((usage) =>
      /^(?:verify|encrypt|wrapKey|encapsulate.*)$/.test(usage) ? !isPrivate : isPrivate,
    );
    const requireUsages = (): void => {
      if (!usages.every((usage) => allowed.includes(usage)))
        throw exception("Invalid key usage", "SyntaxError");
    };
    if (kind !== "OKP") requireUsages();
    const kty = read("kty");
    if ((kind === "RSA" ? kty?.toUpperCase() : kty) !== kind)
      throw isOkp ? refuse("Invalid key type") : of("kty", `must be '${kind}'`);
    if (kind === "OKP" && read("crv") !== name) throw refuse("Invalid curve");
    if (kind === "AKP" && read("alg") !== name) throw refuse("Invalid algorithm");
    const use = /^(?:RSA-OAEP|ECDH|X|ML-KEM)/.test(name) ? "enc" : "sig";
    if (usages.length > 0 && (read("use") ?? use) !== use)
      throw kind === "OKP"
        ? refuse("Invalid key use")
        : kind === "AKP"
          ? refuse("Invalid key usage")
          : of("use", `must be '${use}'`);
    const operations: unknown = jwk["key_ops"];
    if (Array.isArray(operations)) {
      const names = operations.map(String);
      if (!names.every((each) => ALL_USAGES.includes(each)) || !usages.every((each) => names.includes(each)))
        throw refuse(`'key_ops' ${kind === "EC" ? "member" : "property"} of JsonWebKey is invalid`);
    }
    const ext = jwk["ext"] ?? undefined;
    if (ext !== undefined && !ext && extractable)
      throw isOkp
        ? refuse("Invalid key extractability")
        : of("ext", "must not be false if extractable is true");
    if (kind === "OKP") requireUsages();
    const defect =
      kind === "EC"
        ? curveDefect(name, namedCurve, read)
        : kind === "RSA"
          ? rsaDefect(name, hash, isPrivate, read)
          : undefined;
    if (defect !== undefined) throw refuse(defect);
    if (kind === "RSA" && isPrivate && read("oth") !== undefined)
      throw exception("'oth' property of JsonWebKey is not supported", "NotSupportedError");
    if (kind === "OKP" && !isPrivate && !/^[\w-]+$/.test(read("x") ?? ""))
      throw refuse("Invalid public key data");
    const members = "x y d n e p q dp dq qi pub priv"
      .split(" ")
      .filter((member) => read(member) !== undefined);
    return {
      kty: kind,
      ...(kind === "AKP" && { alg: name }),
      ...(kind === "EC" && { crv: namedCurve }),
      ...(kind === "OKP" && { crv: name }),
      ...(Object.fromEntries(members.map((member) => [member, read(member)])) as object),
    };
  }

  /** Encrypts or decrypts. */
  function cipher(
    op: "encrypt" | "decrypt",
    given: unknown,
    keyGiven: unknown,
    data: unknown,
  ): Promise<unknown> {
    const made = algorithm(CIPHERS, given, at(0));
    const [used, input] = [key(keyGiven, at(1)), bytes(data, at(2))];
    requireUse(op, made.name, used);
    checkCipher(op === "decrypt", made, used, input.length);
    return call(op, [made, used, input]);
  }

  class SubtleCrypto {
    constructor(secret?: unknown) {
      if (secret !== SECRET) throw illegalConstructor();
    }
    async digest(given: unknown, data: unknown): Promise<unknown> {
      const [name] = identifier(given, at(0));
      const known = findAlgorithm("digest", name);
      const isXof = known !== undefined && !DIGESTS.includes(known);
      const parameters = isXof ? xofParameters(given, known) : known;
      const input = bytes(data, at(1));
      if (known === undefined) throw notSupported(`Algorithm '${name}' is not supported`);
      return call("digest", [parameters, input]);
    }
    async encrypt(given: unknown, keyGiven: unknown, data: unknown): Promise<unknown> {
      return cipher("encrypt", given, keyGiven, data);
    }
    async decrypt(given: unknown, keyGiven: unknown, data: unknown): Promise<unknown> {
      return cipher("decrypt", given, keyGiven, data);
    }
    async sign(given: unknown, keyGiven: unknown, data: unknown): Promise<unknown> {
      const made = algorithm(SIGNATURES, given, at(0));
      const [used, input] = [key(keyGiven, at(1)), bytes(data, at(2))];
      requireUse("sign", made.name, used);
      return call("sign", [checkSignature(made, used, "private"), used, input]);
    }
    async verify(given: unknown, keyGiven: unknown, signature: unknown, data: unknown): Promise<unknown> {
      const made = algorithm(SIGNATURES, given, at(0));
      const [used, signed, input] = [key(keyGiven, at(1)), bytes(signature, at(2)), bytes(data, at(3))];
      requireUse("verify", made.name, used);
      return call("verify", [checkSignature(made, used, "public"), used, signed, input]);
    }
    async generateKey(given: unknown, extractable: unknown, usages: unknown): Promise<unknown> {
      const { of, ...parameters } = keyAlgorithm(given, at(0));
      const name = findAlgorithm("generateKey", parameters.name) ?? parameters.name;
      requireParameters(name, of, parameters);
      const asked = texts(usages, at(2));
      const made = checkGeneration({ ...parameters, name }, asked);
      const hash = KEY_PAIRS.includes(name) ? (parameters["hash"] as string | undefined) : undefined;
      return call("generateKey", [made, extractable === true, asked], asked, hash);
    }
    async deriveKey(
      given: unknown,
      baseKey: unknown,
      derivedType: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      const made = algorithm(DERIVATIONS, given, at(0));
      const base = key(baseKey, at(1));
      const { name: asked, ...parameters } = keyAlgorithm(derivedType, at(2));
      const uses = texts(usages, at(4));
      if (made.name !== nameIn(base.algorithm)) throw invalidAccess(`Invalid algorithm name: ${made.name}`);
      if (!base.usages.includes("deriveKey"))
        throw invalidAccess("'baseKey' usages does not contain 'deriveKey'");
      const type = { ...parameters, name: findAlgorithm("importKey", asked) ?? asked };
      const bits = await derive(made, base, keyLength(type));
      const make = async (): Promise<unknown> =>
        importSecret("raw", new Uint8Array(bits), type, extractable === true, uses);
      return make().catch((error: Error) => {
        throw new TypeError(error.message);
      });
    }
    async deriveBits(given: unknown, baseKey: unknown, length: unknown = null): Promise<unknown> {
      const made = algorithm(DERIVATIONS, given, at(0));
      const base = key(baseKey, at(1));
      if (length !== null && typeof length !== "number") throw new TypeError("expected f64");
      if (!base.usages.includes("deriveBits"))
        throw invalidAccess("'baseKey' usages does not contain 'deriveBits'");
      return derive(made, base, length ?? undefined);
    }
    async importKey(
      format: unknown,
      data: unknown,
      algorithm: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      const form = keyFormat(format, at(1));
      const parameters = keyAlgorithm(algorithm, at(3));
      const asked = texts(usages, at(5));
      return importKey(form, data, parameters, extractable === true, asked);
    }
    async exportKey(format: unknown, keyGiven: unknown): Promise<unknown> {
      const form = keyFormat(format, at(0));
      const { type, algorithm, usages, extractable } = key(keyGiven, at(1));
      if (!extractable) throw invalidAccess("Key is not extractable");
      if (
        /^raw(?:-public)?$/.test(form) &&
        type === "private" &&
        RAW_PUBLIC.includes(String(nameIn(algorithm)))
      )
        throw invalidAccess("Key is not a public key");
      return form === "jwk" ? exportJwk(keyGiven, usages) : call("exportKey", [form, keyGiven]);
    }
    async wrapKey(
      format: unknown,
      keyGiven: unknown,
      wrappingKey: unknown,
      given: unknown,
    ): Promise<unknown> {
      const form = keyFormat(format, at(0));
      const [wrapped, wrapping] = [key(keyGiven, at(1)), key(wrappingKey, at(2))];
      const made = algorithm(WRAPPINGS, given, at(3));
      requireUse("wrapKey", made.name, wrapping);
      if (!wrapped.extractable) throw invalidAccess("Key is not extractable");
      if (made.name !== "AES-KW") checkCipher(false, made, wrapping, 0);
      if (form !== "jwk") return call("wrapKey", [form, wrapped, wrapping, made]);
      // The host wraps keys in its own order of members.
      const text = plainJson(await exportJwk(wrapped, wrapped.usages));
      const padded = made.name === "AES-KW" ? text.padEnd(Math.ceil(text.length / 8) * 8) : text;
      const json = Uint8Array.from(padded, (character) => character.charCodeAt(0));
      const carrier = await call("importKey", ["raw", json, ...CARRIER]);
      return call("wrapKey", ["raw", carrier, wrapping, made]);
    }
    async unwrapKey(
      ...[format, data, keyGiven, given, type, extractable, usages]: unknown[]
    ): Promise<unknown> {
      const [form, wrapped, unwrapping] = [
        keyFormat(format, at(1)),
        bytes(data, at(2)),
        key(keyGiven, at(3)),
      ];
      const made = algorithm(WRAPPINGS, given, at(4));
      const parameters = keyAlgorithm(type, at(5));
      const asked = texts(usages, at(7));
      requireUse("unwrapKey", made.name, unwrapping);
      if (made.name !== "AES-KW") checkCipher(true, made, unwrapping, wrapped.length);
      // The host unwraps keys, not bytes.
      const secret = await call("unwrapKey", ["raw", wrapped, unwrapping, made, ...CARRIER]);
      const plain = (await call("exportKey", ["raw", secret])) as ArrayBuffer;
      return importKey(
        form,
        form === "jwk" ? readJson(plain) : plain,
        parameters,
        extractable === true,
        asked,
      );
    }
    async encapsulateBits(algorithm: unknown, keyGiven: unknown): Promise<unknown> {
      requireKemKey(algorithm, keyGiven, "public", "encapsulateBits");
      return call("encapsulateBits", [algorithm, keyGiven]);
    }
    async encapsulateKey(
      algorithm: unknown,
      keyGiven: unknown,
      sharedType: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      requireKemKey(algorithm, keyGiven, "public", "encapsulateKey");
      return call("encapsulateKey", [algorithm, keyGiven, sharedType, extractable === true, usages]);
    }
    async decapsulateBits(algorithm: unknown, keyGiven: unknown, ciphertext: unknown): Promise<unknown> {
      requireKemKey(algorithm, keyGiven, "private", "decapsulateBits", bytesOf(ciphertext));
      return call("decapsulateBits", [algorithm, keyGiven, ciphertext]);
    }
    async decapsulateKey(
      algorithm: unknown,
      keyGiven: unknown,
      ciphertext: unknown,
      sharedType: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      requireKemKey(algorithm, keyGiven, "private", "decapsulateKey", bytesOf(ciphertext));
      return call("decapsulateKey", [
        algorithm,
        keyGiven,
        ciphertext,
        sharedType,
        extractable === true,
        usages,
      ]);
    }
    async getPublicKey(keyGiven: unknown, usages: unknown): Promise<unknown> {
      const { type, algorithm } = key(keyGiven, at(1));
      const name = String(nameIn(algorithm));
      if (type === "secret") throw notSupported(`getPublicKey() is not supported for ${name}`);
      if (type === "public") throw invalidAccess("Public keys can only be derived from private keys");
      return call("getPublicKey", [keyGiven, usages]);
    }
    static supports(op: unknown, algorithm: unknown, ...[second]: unknown[]): boolean {
      requireCount(arguments.length, 2, "Failed to execute 'SubtleCrypto.call'");
      const name = findAlgorithm(String(op), nameIn(algorithm));
      if (name === undefined) return false;
      const other = typeof second === "number" ? undefined : nameIn(second);
      switch (op) {
        case "deriveBits":
          return !DERIVATION_NAMES.includes(name) || (typeof second === "number" && second % 8 === 0);
        case "deriveKey":
          if (typeof second !== "object") return !DERIVATION_NAMES.includes(name) && second === undefined;
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
  exposeInternals(SubtleCrypto, "create/0");
  moveToEnd({ prototype: SubtleCrypto }, ["supports"]);
  exposeInterface(SubtleCrypto, "SubtleCrypto", false, wrongThis("expected SubtleCrypto"), {
    importKey: 4,
    unwrapKey: 7,
    getPublicKey: 2,
  });
  Object.defineProperty(SubtleCrypto, "length", { value: 0, configurable: true });
  printWith(SubtleCrypto.prototype as object, (_, inspect, options) =>
    inspect(printable("SubtleCrypto", {}), options),
  );
  return SubtleCrypto;
}

type ReadMember = (member: string) => string | undefined;

/** Says what is wrong with the members of an elliptic curve's JSON Web Key. */
function curveDefect(name: string, namedCurve: unknown, read: ReadMember): string | undefined {
  const alg = read("alg");
  if (name === "ECDSA" && alg !== undefined) {
    const curve = { ES256: "P-256", ES384: "P-384", ES512: "P-521" }[alg];
    if (curve === undefined) return "Curve algorithm not supported";
    if (curve !== namedCurve) return "Mismatched curve algorithm";
  }
  for (const member of ["x", "y"])
    if (read(member) === undefined) return `'${member}' property of JsonWebKey is required for EC keys`;
  return ["x", "y"].every(
    (member) => /^[\w-]*=*$/.test(read(member) as string) && (read(member) as string).length % 4 !== 1,
  )
    ? undefined
    : "invalid b64 coordinate";
}

/** Says what is wrong with the members of an RSA key's JSON Web Key. */
function rsaDefect(name: string, hash: unknown, isPrivate: boolean, read: ReadMember): string | undefined {
  const alg = read("alg");
  if (alg !== undefined) {
    const [, digest] = {
      "RSASSA-PKCS1-v1_5": /^RS((?:3-)?\d+)$/,
      "RSA-PSS": /^PS((?:3-)?\d+)$/,
      "RSA-OAEP": /^RSA-OAEP(?:-?((?:3-)?\d+))?$/,
    }[name]!.exec(alg) ?? [undefined, undefined];
    const known = DIGESTS.find(
      (each) => each === (digest?.startsWith("3-") ? `SHA${digest}` : `SHA-${digest ?? 1}`),
    );
    if (known === undefined || (digest === undefined && alg !== "RSA-OAEP"))
      return `'alg' property of JsonWebKey unrecognized for ${name}: ${alg}`;
    if (known !== hash) return `'alg' property of JsonWebKey must be '${name}': received ${alg}`;
  }
  const kind = isPrivate ? "private" : "public";
  const required = (members: string, suffix: string): string | undefined => {
    const missing = members.split(" ").find((member) => read(member) === undefined);
    return missing && `'${missing}' property of JsonWebKey is required${suffix}`;
  };
  if (!isPrivate) return required("n e", " for public keys");
  if ("p q dp dq qi".split(" ").every((member) => read(member) === undefined))
    return "Only optimized private keys are supported";
  return required("p q dp dq qi", ` for ${kind} keys`) ?? required("n e", "");
}

/** Returns the name of the algorithm among a call's arguments, for the error's text. */
function algorithmName(args: readonly unknown[]): string {
  for (const arg of args) {
    const name = nameIn(arg);
    if (typeof name === "string" && !["raw", "jwk", "pkcs8", "spki"].includes(name)) return name;
  }
  return "";
}
