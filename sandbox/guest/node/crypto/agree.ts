import {
  checkInteger,
  checkObject,
  invalidArgument,
  nodeError,
  warnDeprecated,
  wrongArgument,
} from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { bytesOf } from "../../webIdl.ts";
import { type ByteTools, checkFunction, checkText } from "./bytes.ts";
import { callable } from "./callable.ts";
import type { KeyTools } from "./key.ts";
import { CURVES } from "./names.ts";

type Bytes = Uint8Array;

const VIEW_BUFFER = Object.getOwnPropertyDescriptor(DataView.prototype, "buffer")?.get as () => unknown;
/** What Deno's `verifyError` says. */
const NO_PRIME = 16;
const NO_GENERATOR = 2;
/** The only generators. */
const GENERATORS = [2n, 5n];
const badGenerator = (): Error => nodeError("ERR_OSSL_DH_BAD_GENERATOR", "bad generator");
/** Fewest bytes of a private key. */
const MIN_KEY_BYTES = 24;

/** Creates the key agreements; the host computes each step from what these objects hold. */
export function createAgreements(
  native: Internals["native"],
  { Buffer, toBytes, output, bytesFrom }: ByteTools,
  { pemOf }: KeyTools,
): Readonly<Record<string, unknown>> {
  const none = new Uint8Array(0);
  /** Reads a text or view; whatever else is refused in V8's words. */
  const viewOf = (key: unknown, encoding: unknown): Bytes => {
    if (typeof key !== "string" && !ArrayBuffer.isView(key)) VIEW_BUFFER.call(key as DataView);
    return toBytes(key, encoding, "key", true);
  };
  const checkFormat = (format: unknown): unknown => {
    if (format !== undefined && !["compressed", "uncompressed", "hybrid"].includes(format as string))
      throw nodeError("ERR_CRYPTO_ECDH_INVALID_FORMAT", `Invalid ECDH format: ${String(format)}`, TypeError);
    return format;
  };
  const isKnown = (curve: string): boolean => [...CURVES, "secp256r1"].includes(curve);
  /** Calls the host, to which P-256 has one name. */
  const run = (action: string, curve: string, format: unknown, key: Bytes, point: Bytes = none): Bytes =>
    bytesFrom(
      "ecdh",
      { action, curve: curve === "secp256r1" ? "prime256v1" : curve, format: format || undefined },
      key,
      point,
    );
  /** Converts a point, which Deno reads in every form but hybrid. */
  const convert = (curve: string, point: Bytes, format?: unknown): Bytes => {
    try {
      if ([2, 3, 4].includes(point[0] as number)) return run("convert", curve, format, none, point);
    } catch {
      // Said below.
    }
    throw new Error("Failed to convert Buffer to EC_POINT");
  };
  class ECDHImpl {
    readonly #curve: string;
    #private: Bytes | undefined;
    #public: Bytes | undefined;
    constructor(curve: unknown) {
      this.#curve = checkText(curve, "curve");
      if (!isKnown(this.#curve) || this.#curve === "secp521r1") throw new Error("invalid curve");
    }
    static convertKey(
      key: unknown,
      curve: unknown,
      inEncoding?: unknown,
      outEncoding?: unknown,
      format?: unknown,
    ): unknown {
      const name = checkText(curve, "curve");
      const point = toBytes(key, inEncoding, "key", true);
      checkFormat(format || undefined);
      if (!isKnown(name)) throw new TypeError("Invalid EC curve name");
      return output(convert(name, point, format), outEncoding);
    }
    generateKeys(encoding?: unknown, format?: unknown): unknown {
      checkFormat(format);
      this.#private = run("generate", this.#curve, undefined, none);
      this.#public = run("public", this.#curve, format, this.#private);
      return output(this.#public, encoding);
    }
    getPublicKey(encoding?: unknown, format?: unknown): unknown {
      if (this.#public === undefined) throw new Error("Failed to get ECDH public key");
      return output(run("convert", this.#curve, checkFormat(format), none, this.#public), encoding);
    }
    getPrivateKey(encoding?: unknown): unknown {
      if (this.#private === undefined) throw new Error("Failed to get ECDH private key");
      return output(this.#private, encoding);
    }
    setPrivateKey(key: unknown, encoding?: unknown): unknown {
      const bytes = viewOf(key, encoding);
      try {
        if (bytes.length < MIN_KEY_BYTES) throw new Error("too short");
        this.#public = run("public", this.#curve, undefined, bytes);
      } catch {
        throw new Error("Private key is not valid for specified curve");
      }
      this.#private = bytes;
      return output(this.#public);
    }
    setPublicKey(key: unknown, encoding?: unknown): void {
      warnDeprecated("DEP0031", "ecdh.setPublicKey() is deprecated.");
      const point = viewOf(key, encoding);
      convert(this.#curve, point);
      this.#public = point;
    }
    computeSecret(key: unknown, inEncoding?: unknown, outEncoding?: unknown): unknown {
      const wrong = (): Error =>
        nodeError("ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY", "Public key is not valid for specified curve");
      if (this.#private === undefined) throw wrong();
      const other = viewOf(key, inEncoding);
      let secret: Bytes;
      try {
        secret = run("secret", this.#curve, undefined, this.#private, convert(this.#curve, other));
      } catch {
        throw wrong();
      }
      const own = run("public", this.#curve, "compressed", this.#private);
      const stored = run("convert", this.#curve, "compressed", none, this.#public);
      if (numberOf(own) !== numberOf(stored)) throw new Error("Invalid key pair");
      return output(secret, outEncoding);
    }
  }

  const numberOf = (bytes: Bytes): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);
  const raise = (base: bigint, exponent: bigint, modulus: bigint): bigint => {
    let result = 1n;
    for (let power = base % modulus, left = exponent; left > 0n; left >>= 1n) {
      if (left & 1n) result = (result * power) % modulus;
      power = (power * power) % modulus;
    }
    return result;
  };
  /** Deno's way to give bytes that may be missing. */
  const shown = (bytes: Bytes | undefined, encoding: unknown): unknown =>
    encoding === undefined || encoding === "buffer"
      ? bytes && output(bytes)
      : (bytes as unknown as { toString(encoding: unknown): string }).toString(encoding);
  /** What both kinds of Diffie-Hellman do once they have a prime and a generator. */
  class Agreement {
    readonly #prime: Bytes;
    readonly #generator: Bytes;
    #private: Bytes | undefined;
    #public: Bytes | undefined;
    /** Whether the public key is that of an earlier private key. */
    #isStale = false;
    /** As in Deno: whether the prime is below 2, and whether the generator isn't below it. */
    readonly verifyError: number;
    constructor(prime: Bytes, generator: Bytes) {
      // Of three bytes Deno reads one too many.
      const length = generator.length === 3 ? 0 : Math.min(generator.length, 4);
      if (!GENERATORS.includes(numberOf(generator.subarray(0, length)))) throw badGenerator();
      this.#prime = Buffer.from(prime);
      this.#generator = Buffer.from(generator);
      const size = numberOf(prime);
      this.verifyError = (size < 2n ? NO_PRIME : 0) | (numberOf(generator) >= size ? NO_GENERATOR : 0);
    }
    /** Raises a number to the private key's power, and returns it with at least so many bytes. */
    #raise(base: Bytes, bytes: number): Bytes {
      const digits = raise(numberOf(base), numberOf(this.#private as Bytes), numberOf(this.#prime)).toString(
        16,
      );
      return Buffer.from(
        digits.padStart(Math.max(bytes * 2, digits.length + (digits.length % 2)), "0"),
        "hex",
      );
    }
    /** As in Deno, which ignores the encoding. */
    generateKeys(_encoding?: unknown): unknown {
      this.#private ??= Buffer.from(native("random", { bytes: this.#prime.length }));
      if (this.#isStale || this.#public === undefined) this.#public = this.#raise(this.#generator, 1);
      this.#isStale = false;
      return output(this.#public);
    }
    computeSecret(key: unknown, inEncoding?: unknown, outEncoding?: unknown): unknown {
      const other = toBytes(key, inEncoding, "key", true);
      if (other.length === 0) throw nodeError("ERR_CRYPTO_INVALID_KEYLEN", "Unspecified validation error");
      if (this.#private === undefined) throw new TypeError("expected typed ArrayBufferView");
      return output(this.#raise(other, this.#prime.length), outEncoding);
    }
    getPrime(encoding?: unknown): unknown {
      return shown(this.#prime, encoding);
    }
    getGenerator(encoding?: unknown): unknown {
      return shown(this.#generator, encoding);
    }
    getPublicKey(encoding?: unknown): unknown {
      return shown(this.#public, encoding);
    }
    getPrivateKey(encoding?: unknown): unknown {
      return shown(this.#private, encoding);
    }
    setPublicKey(key: unknown, encoding?: unknown): void {
      this.#public = Buffer.from(key, encoding);
    }
    setPrivateKey(key: unknown, encoding?: unknown): void {
      this.#private = Buffer.from(key, encoding);
      this.#isStale = true;
    }
  }
  class DiffieHellmanImpl extends Agreement {
    constructor(prime: unknown, second?: unknown, third?: unknown, fourth?: unknown) {
      const isNamed = typeof second === "string" && (Buffer.isEncoding(second) || second === "buffer");
      const encoding = isNamed ? second : undefined;
      const [generator, generatorEncoding] = encoding === undefined ? [second, third] : [third, fourth];
      for (const [name, value] of [
        ["sizeOrKey", prime],
        ["generator", generator || 2],
      ] as const) {
        if (typeof value !== "number" && typeof value !== "string" && bytesOf(value) === undefined)
          throw wrongArgument(
            name,
            "one of type number or string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView",
            value,
          );
        if (typeof value === "number") checkInteger(value, name, -(2 ** 31), 2 ** 31 - 1);
      }
      if (typeof prime === "number" && prime < 2)
        throw nodeError("ERR_OSSL_DH_MODULUS_TOO_SMALL", "modulus too small");
      // Every other number is refused.
      if (typeof generator === "number" && generator && !GENERATORS.includes(BigInt(generator)))
        throw badGenerator();
      super(
        typeof prime === "number"
          ? (native("prime", { size: prime }) as Bytes)
          : toBytes(prime, encoding, "sizeOrKey", true),
        typeof generator === "string" && generator
          ? toBytes(generator, generatorEncoding, "generator", true)
          : Buffer.from(typeof generator === "object" && generator ? generator : [generator || 2]),
      );
    }
  }
  class DiffieHellmanGroup extends Agreement {
    constructor(name: unknown) {
      const prime = typeof name === "string" ? (native("dhGroup", { name }) as Bytes) : none;
      if (prime.length === 0) throw nodeError("ERR_CRYPTO_UNKNOWN_DH_GROUP", "Unknown DH group");
      super(prime, Buffer.from([2]));
    }
  }
  const methods = "computeSecret generateKeys getGenerator getPrime getPrivateKey getPublicKey";
  const setters = "setPrivateKey setPublicKey";
  const [ECDH, DiffieHellman, Group] = [
    callable(ECDHImpl, "ECDH", `computeSecret generateKeys getPrivateKey getPublicKey ${setters}`),
    callable(DiffieHellmanImpl, "DiffieHellman", `${methods} ${setters}`),
    callable(DiffieHellmanGroup, "DiffieHellmanGroup", methods),
  ];
  const createGroup = (name: unknown) => new Group(name);
  return {
    ECDH: Object.assign(ECDH, { convertKey: ECDHImpl.convertKey }),
    createECDH: (curve: unknown) => new ECDH(curve),
    DiffieHellman,
    DiffieHellmanGroup: Group,
    createDiffieHellman: (...args: unknown[]) => new DiffieHellman(...args),
    createDiffieHellmanGroup: createGroup,
    getDiffieHellman: createGroup,
    diffieHellman: (options: unknown, callback?: unknown): unknown => {
      const done = callback === undefined ? undefined : checkFunction(callback);
      checkObject(options, "options");
      const { privateKey, publicKey } = options as { privateKey?: unknown; publicKey?: unknown };
      if (!privateKey) throw invalidArgument("options.privateKey", privateKey);
      if (!publicKey) throw invalidArgument("options.publicKey", publicKey);
      const [from, to] = [privateKey, publicKey] as readonly Partial<Record<string, string>>[];
      for (const [key, isAllowed, expected] of [
        [from, from?.["type"] === "private", "private"],
        [to, to?.["type"] === "public" || to?.["type"] === "private", "private or public"],
      ] as const)
        if (!isAllowed)
          throw nodeError(
            "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE",
            `Invalid key object type ${String(key?.["type"])}, expected ${expected}.`,
            TypeError,
          );
      const [type, other] = [from?.["asymmetricKeyType"], to?.["asymmetricKeyType"]];
      if (type?.startsWith("ed") && type !== other)
        throw nodeError(
          "ERR_CRYPTO_INCOMPATIBLE_KEY",
          `Incompatible key types for Diffie-Hellman: ${type} and ${other}`,
        );
      if (type?.startsWith("ed") || (type === "rsa" && type === other))
        throw new TypeError("Unsupported key type for diffie hellman, or key type mismatch");
      try {
        const secret = output(
          native("agree", {
            privateKey: pemOf(privateKey, false),
            publicKey: pemOf(publicKey, true),
          }) as Bytes,
        );
        return done === undefined ? secret : done(null, secret);
      } catch (error) {
        if (done === undefined) throw error;
        return done(error);
      }
    },
  };
}
