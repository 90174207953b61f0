import { checkInteger, nodeError, outOfRange } from "../../buffer/errors.ts";
import { type ByteTools, checkFunction, checkText, checkUint32, queue } from "./bytes.ts";
import type { KeyTools } from "./key.ts";
import { HASHES } from "./names.ts";

type Options = Readonly<Record<string, unknown>>;

const HKDF_TYPES = "of type string or an instance of ArrayBuffer, TypedArray, DataView, or Buffer";
const IKM_TYPES =
  "of type string or an instance of SecretKeyObject, ArrayBuffer, TypedArray, DataView, or Buffer";
const MAX_INT32 = 2 ** 31 - 1;
/** Most bytes of context for HKDF. */
const MAX_INFO_BYTES = 1_024;

/** The digests that keys are derived with, in lower case. */
const DIGESTS = new Set(
  HASHES.filter((name) => !/^(?:blake2|shake)/.test(name)).map((name) => name.toLowerCase()),
);
const wrongDigest = (name: string): Error =>
  nodeError("ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${name}`, TypeError);

/** Creates the key derivation functions. */
export function createDerivations(
  { Buffer, toBytes, bytesFrom }: ByteTools,
  { secretBytes }: KeyTools,
): Readonly<Record<string, unknown>> {
  const secretAndSalt = (password: unknown, salt: unknown) =>
    [toBytes(password, undefined, "password", true), toBytes(salt, undefined, "salt", true)] as const;
  /** Each checks its arguments and returns what computes the key. */
  const pbkdf2 = (
    password: unknown,
    salt: unknown,
    iterations: unknown,
    length: unknown,
    digest: unknown,
  ): (() => unknown) => {
    checkText(digest, "digest");
    const parts = secretAndSalt(password, salt);
    const header = {
      iterations: checkInt32(iterations, "iterations", 1),
      keyLength: checkInt32(length, "keylen", 0),
      digest,
    };
    if (!DIGESTS.has(String(digest).toLowerCase())) throw wrongDigest(String(digest));
    return () => Buffer.from(header.keyLength === 0 ? [] : bytesFrom("pbkdf2", header, ...parts));
  };
  const scrypt = (
    password: unknown,
    salt: unknown,
    length: unknown,
    options: unknown = {},
  ): (() => unknown) => {
    const parts = secretAndSalt(password, salt);
    const given = (options ?? {}) as Options;
    const pick = (short: string, long: string, otherwise: number): number => {
      if (given[short] !== undefined && given[long] !== undefined)
        throw nodeError(
          "ERR_INCOMPATIBLE_OPTION_PAIR",
          `Option "${short}" cannot be used in combination with option "${long}"`,
          TypeError,
        );
      const value = given[short] ?? given[long];
      return value === undefined ? otherwise : checkUint32(value, given[short] === undefined ? long : short);
    };
    const header = {
      keyLength: checkInteger(length, "keylen", 0, MAX_INT32),
      cost: pick("N", "cost", 16_384),
      blockSize: pick("r", "blockSize", 8),
      parallelization: pick("p", "parallelization", 1),
      ...(given["maxmem"] !== undefined && { memory: checkInteger(given["maxmem"], "maxmem") }),
    };
    return () => {
      try {
        return Buffer.from(bytesFrom("scrypt", header, ...parts));
      } catch (error) {
        const { code } = error as { code?: unknown };
        if (code !== "ERR_CRYPTO_INVALID_SCRYPT_PARAMS") throw error;
        const { cost } = header;
        const text = "Invalid scrypt params";
        const isTooMuch = cost > 1 && Number.isInteger(Math.log2(cost));
        const message = isTooMuch ? `${text}: error:1C800066:Provider routines::MEMORY_LIMIT_EXCEEDED` : text;
        throw nodeError(code, message, RangeError);
      }
    };
  };
  const hkdf = (
    digest: unknown,
    key: unknown,
    salt: unknown,
    info: unknown,
    length: unknown,
  ): (() => unknown) => {
    const name = checkText(digest, "digest");
    const parts = [
      secretBytes(key, undefined, "ikm", IKM_TYPES),
      secretBytes(salt, undefined, "salt", HKDF_TYPES),
      secretBytes(info, undefined, "info", HKDF_TYPES),
    ];
    const keyLength = checkInteger(length, "length", 0, Number.MAX_SAFE_INTEGER);
    if ((parts[2] as Uint8Array).length > MAX_INFO_BYTES)
      throw outOfRange("info", "must not contain more than 1024 bytes", (parts[2] as Uint8Array).length);
    if (!HASHES.includes(name)) throw wrongDigest(name);
    if (!DIGESTS.has(name.toLowerCase())) throw wrongDigest(`TypeError: Unsupported digest: ${name}`);
    return () =>
      keyLength === 0
        ? new ArrayBuffer(0)
        : bytesFrom("hkdf", { digest: name, keyLength }, ...parts, new Uint8Array(0)).slice().buffer;
  };
  const names: Record<string, unknown> = {};
  for (const [name, start, arity] of [
    ["pbkdf2", pbkdf2, 5],
    ["scrypt", scrypt, 4],
    ["hkdf", hkdf, 5],
  ] as const) {
    const prepare: (...args: unknown[]) => () => unknown = start;
    names[`${name}Sync`] = (...args: unknown[]) => prepare(...args)();
    names[name] = (...args: unknown[]): void => {
      // The last argument before the callback can be left out, but for HKDF.
      const at = name !== "hkdf" && typeof args[arity - 1] === "function" ? arity - 1 : arity;
      const run = prepare(...args.slice(0, at));
      const callback = checkFunction(args[at]);
      // What Deno finds wrong it throws at once.
      const result = run();
      queue(() => callback(null, result));
    };
  }
  return names;
}

/** Checks a count in the two steps of Deno. */
function checkInt32(value: unknown, name: string, least: 0 | 1): number {
  const count = checkUint32(value, name, least);
  if (count > MAX_INT32) throw outOfRange(name, `<= ${MAX_INT32}`, count);
  return count;
}
