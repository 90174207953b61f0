/**
 * Arguments of Web Crypto, converted as Deno converts them: all of a call's, one after the other, before anything else is looked at.
 */
import { itemsOf } from "../convert.ts";
import { bytesOf } from "../webIdl.ts";
import * as types from "../types.ts";
import { CryptoKey } from "./key.ts";

/** An algorithm of a call: its name in the standard's spelling if the operation takes it, and its converted parameters. */
export interface Algorithm extends Readonly<Record<string, unknown>> {
  readonly name: string;
}

/** Creates the error of an argument. */
type Wrong = (text: string) => Error;

const LARGEST = 2 ** 32 - 1;

/** Returns a member, or `undefined` for one that throws. */
function member(value: object, name: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

/** Returns a value as text, or `undefined` if it has none. */
function textOf(value: unknown): string | undefined {
  try {
    return "".concat(value as string);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";

/** Says what is wrong with a value as a source of bytes. */
function bytesDefect(value: unknown): string | undefined {
  if (ArrayBuffer.isView(value))
    return types.isSharedArrayBuffer(value.buffer)
      ? "is a view on a SharedArrayBuffer, which is not allowed"
      : undefined;
  return types.isArrayBuffer(value) ? undefined : "";
}

/** Returns the bytes of a view or buffer; those of a detached one are none. */
const bytesIn = (value: unknown): Uint8Array => {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value;
  return types.isDetached(buffer) ? new Uint8Array(0) : (bytesOf(value) as Uint8Array);
};

/** `BufferSource`. */
export function bytes(value: unknown, wrong: Wrong): Uint8Array {
  const defect = bytesDefect(value);
  if (defect === undefined) return bytesIn(value);
  if (types.isSharedArrayBuffer(value)) throw wrong("is not an ArrayBuffer or a view on one");
  throw wrong(defect || "can not be converted to a BufferSource");
}

/** `CryptoKey`. */
export function key(value: unknown, wrong: Wrong): CryptoKey {
  if (value instanceof CryptoKey) return value;
  throw wrong("can not be converted to a CryptoKey");
}

const FORMATS = ["raw", "pkcs8", "spki", "jwk", "raw-public", "raw-private", "raw-seed", "raw-secret"];

/** `KeyFormat`. */
export function keyFormat(value: unknown, wrong: Wrong): string {
  const text = textOf(value);
  if (text === undefined) throw wrong("can not be converted to a KeyFormat");
  if (FORMATS.includes(text)) return text;
  throw wrong(`The provided value '${text}' is not a valid enum value of type KeyFormat`);
}

/** `sequence<DOMString>`; a text is one of its characters. */
export function texts(value: unknown, wrong: Wrong): string[] {
  const items: unknown =
    value === null || value === undefined
      ? undefined
      : member(Object(value) as object, Symbol.iterator as never);
  const refused = (): Error => wrong("can not be converted to a sequence");
  if (typeof items !== "function") throw refused();
  let found: unknown[];
  try {
    found = itemsOf(Object(value) as object);
  } catch {
    throw refused();
  }
  return found.map(String);
}

/** Returns the name in an `AlgorithmIdentifier` and the object that has its parameters. */
export function identifier(value: unknown, wrong: Wrong): readonly [name: string, of: object | undefined] {
  if (typeof value === "string") return [value, undefined];
  if (!isObject(value)) throw wrong("can not be converted to a AlgorithmIdentifier");
  const given = member(value, "name");
  if (given === undefined) throw wrong("required member 'name' is undefined");
  const name = textOf(given);
  if (name === undefined) throw wrong("algorithm.name is not convertible to DOMString");
  return [name, value];
}

/** Converts a parameter. */
type Parameter = (value: unknown, name: string, wrong: Wrong) => unknown;

const required =
  (convert: Parameter, isNullMissing = false): Parameter =>
  (value, name, wrong) => {
    if (value === undefined || (isNullMissing && value === null))
      throw wrong(`required dictionary member '${name}'`);
    return convert(value, name, wrong);
  };
const optional =
  (convert: Parameter): Parameter =>
  (value, name, wrong) =>
    value === undefined || value === null ? undefined : convert(value, name, wrong);
const source: Parameter = (value, name, wrong) => {
  const defect = bytesDefect(value);
  if (defect === undefined) return bytesIn(value);
  if (types.isSharedArrayBuffer(value)) throw wrong(`'${name}' is a SharedArrayBuffer, which is not allowed`);
  throw wrong(`'${name}' ${defect || "is not a BufferSource"}`);
};
const uint =
  (range: string, unconverted = `is outside ${range}`): Parameter =>
  (value, name, wrong) => {
    let number = NaN;
    try {
      number = Math.trunc(+(value as string));
    } catch {
      throw wrong(`'${name}' ${unconverted}`);
    }
    if (Number.isFinite(number) && number >= 0 && number <= LARGEST) return number + 0;
    throw wrong(`'${name}' is outside ${range}`);
  };
const cipherUint = uint("the [0, 2**32-1] range");
const otherUint = uint("the accepted range for [EnforceRange] unsigned long", "must be convertible to u32");
const hash: Parameter = (value, name, wrong) => {
  if (typeof value === "string") return value;
  if (!isObject(value)) throw wrong(`'${name}' must be a HashAlgorithmIdentifier`);
  const text = textOf(member(value, "name"));
  if (text === undefined) throw wrong(`'${name}.name' is not a DOMString`);
  return text;
};

type Parameters = Readonly<Record<string, Parameter>>;
const [bytes1, bytes0, given] = [required(source), optional(source), required(source, true)];
const authenticated: Parameters = { iv: bytes1, additionalData: bytes0, tagLength: optional(cipherUint) };
const argon2: Parameters = {
  memory: required(otherUint),
  passes: required(otherUint),
  parallelism: required(otherUint),
  nonce: bytes1,
  secretValue: bytes0,
  associatedData: bytes0,
};
const kmac: Parameters = { outputLength: required(otherUint), customization: bytes0 };
const agreement: Parameters = { public: required((value, _, wrong) => key(value, wrong), true) };

/** The parameters of an operation's algorithms, in the order in which Deno reads them. */
export type Table = Readonly<Record<string, Parameters>>;
export const CIPHERS: Table = {
  "AES-CBC": { iv: bytes1 },
  "AES-CTR": { counter: bytes1, length: required(cipherUint) },
  "AES-GCM": authenticated,
  "AES-OCB": authenticated,
  "ChaCha20-Poly1305": { ...authenticated, iv: bytes0 },
  "RSA-OAEP": { label: bytes0 },
};
export const SIGNATURES: Table = {
  ECDSA: { hash: required(hash) },
  Ed25519: {},
  HMAC: {},
  KMAC128: kmac,
  KMAC256: kmac,
  "ML-DSA-44": { context: bytes0 },
  "ML-DSA-65": { context: bytes0 },
  "ML-DSA-87": { context: bytes0 },
  "RSA-PSS": { saltLength: required(otherUint) },
  "RSASSA-PKCS1-v1_5": {},
};
export const DERIVATIONS: Table = {
  Argon2d: argon2,
  Argon2i: argon2,
  Argon2id: argon2,
  ECDH: agreement,
  HKDF: { hash: required(hash), salt: given, info: given },
  PBKDF2: { hash: required(hash), salt: given, iterations: required(otherUint) },
  X25519: agreement,
  X448: agreement,
};
/** Those that a plain name suffices for. */
const BARE = /^(?:RSA-OAEP|ML-DSA-\d+)$/;

/** Converts the algorithm of an operation; an unknown one has its given name alone. */
export function algorithm(
  table: Table,
  value: unknown,
  wrong: Wrong,
): Algorithm & { readonly isKnown: boolean } {
  const [given, of] = identifier(value, wrong);
  const name = Object.keys(table).find((known) => known.toLowerCase() === given.toLowerCase());
  const parameters = table[name as string];
  if (name === undefined || parameters === undefined) return { name: given, isKnown: false };
  const entries = Object.entries(parameters);
  if (of === undefined && entries.length > 0 && !BARE.test(name))
    throw wrong("Algorithm requires a parameter dictionary");
  const made: Record<string, unknown> = { name, isKnown: true };
  if (of === undefined) return made as never;
  for (const [parameter, convert] of entries) {
    const converted = convert(member(of, parameter), parameter, wrong);
    if (converted !== undefined) made[parameter] = converted;
  }
  return made as never;
}

/** The parameters of a key to make or to import, none of which must be there. */
export function keyAlgorithm(value: unknown, wrong: Wrong): Algorithm & { readonly of: object | undefined } {
  const [name, of] = identifier(value, wrong);
  if (of === undefined) return { name, of };
  const read = (parameter: string): unknown => member(of, parameter) ?? undefined;
  const uint32 = (parameter: string): number | undefined => {
    const number = read(parameter);
    try {
      return number === undefined ? undefined : +(number as string) >>> 0;
    } catch {
      return undefined;
    }
  };
  const hashGiven = read("hash");
  const hashName = isObject(hashGiven) ? textOf(member(hashGiven, "name")) : hashGiven;
  const length = uint32("length");
  const curve = read("namedCurve");
  const modulusLength = uint32("modulusLength");
  const exponent = read("publicExponent");
  return {
    name,
    of,
    hash: typeof hashName === "string" ? hashName : undefined,
    length,
    namedCurve: curve === undefined ? undefined : (textOf(curve) ?? ""),
    modulusLength,
    publicExponent: bytesDefect(exponent) === undefined ? bytesIn(exponent) : undefined,
  };
}
