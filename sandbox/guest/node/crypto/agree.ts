import { checkObject, invalidArgument, nodeError, outOfRange, wrongArgument } from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { bytesOf } from "../../webIdl.ts";
import { type ByteTools, checkFunction, checkText } from "./bytes.ts";
import { callable } from "./callable.ts";
import type { KeyTools } from "./key.ts";
import { CURVES } from "./names.ts";

type Bytes = Uint8Array;

const VIEW_BUFFER = Object.getOwnPropertyDescriptor(DataView.prototype, "buffer")?.get as () => unknown;
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
  const checkCurve = (curve: unknown): string => {
    const name = checkText(curve, "curve");
    if (!CURVES.includes(name)) throw new Error("invalid curve");
    return name;
  };
  const convertPoint = (convert: () => Bytes, point: Bytes): Bytes => {
    try {
      if (point[0] !== 0 && point.length > 0) return convert();
    } catch {
      // Said below.
    }
    throw new Error("Failed to convert Buffer to EC_POINT");
  };
  class ECDHImpl {
    readonly #curve: string;
    #private: Bytes | undefined;
    /** What `setPublicKey` was given. */
    #public: Bytes | undefined;
    constructor(curve: unknown) {
      this.#curve = checkCurve(curve);
      if (this.#curve === "secp521r1") throw new Error("invalid curve");
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
      if (!CURVES.includes(name)) throw new TypeError("Invalid EC curve name");
      const header = { action: "convert", curve: name, format: checkFormat(format) };
      return output(
        convertPoint(() => bytesFrom("ecdh", header, none, point), point),
        outEncoding,
      );
    }
    #run(action: string, key: Bytes, body: Bytes = none, format?: unknown): Bytes {
      return bytesFrom("ecdh", { action, curve: this.#curve, format }, key, body);
    }
    generateKeys(encoding?: unknown, format?: unknown): unknown {
      checkFormat(format);
      this.#private = this.#run("generate", none);
      this.#public = undefined;
      return this.getPublicKey(encoding, format);
    }
    getPublicKey(encoding?: unknown, format?: unknown): unknown {
      if (this.#public !== undefined)
        return output(this.#run("convert", none, this.#public, checkFormat(format)), encoding);
      if (this.#private === undefined) throw new Error("Failed to get ECDH public key");
      checkFormat(format);
      return output(this.#run("public", this.#private, none, format), encoding);
    }
    getPrivateKey(encoding?: unknown): unknown {
      if (this.#private === undefined) throw new Error("Failed to get ECDH private key");
      return output(this.#private, encoding);
    }
    setPrivateKey(key: unknown, encoding?: unknown): this {
      const bytes = viewOf(key, encoding);
      try {
        if (bytes.length < MIN_KEY_BYTES) throw new Error("too short");
        this.#run("public", bytes);
      } catch {
        throw new Error("Private key is not valid for specified curve");
      }
      this.#private = bytes;
      this.#public = undefined;
      return this;
    }
    setPublicKey(key: unknown, encoding?: unknown): this {
      const point = viewOf(key, encoding);
      convertPoint(() => this.#run("convert", none, point), point);
      this.#public = point;
      return this;
    }
    computeSecret(key: unknown, inEncoding?: unknown, outEncoding?: unknown): unknown {
      let secret: Bytes;
      try {
        const other = toBytes(key, inEncoding, "otherPublicKey", true);
        if (other[0] === 0 || other.length === 0) throw new Error("no point");
        secret = this.#run(this.#private === undefined ? "convert" : "secret", this.#private ?? none, other);
      } catch {
        throw nodeError("ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY", "Public key is not valid for specified curve");
      }
      if (this.#private === undefined) throw new Error("Failed to get ECDH private key");
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
  /** What both kinds of Diffie-Hellman do once they have a prime and a generator. */
  class Agreement {
    readonly #prime: Bytes;
    readonly #generator: Bytes;
    #private: Bytes = none;
    #public: Bytes = none;
    /** As in Deno, which checks nothing. */
    readonly verifyError = 0;
    constructor(prime: Bytes, generator: Bytes) {
      if (numberOf(generator) < 2n) throw nodeError("ERR_OSSL_DH_BAD_GENERATOR", "bad generator");
      this.#prime = prime;
      this.#generator = generator;
    }
    /** Raises a number to the private key's power, and returns it with at least so many bytes. */
    #raise(base: Bytes, bytes: number): Bytes {
      const digits = raise(numberOf(base), numberOf(this.#private), numberOf(this.#prime)).toString(16);
      return Buffer.from(
        digits.padStart(Math.max(bytes * 2, digits.length + (digits.length % 2)), "0"),
        "hex",
      );
    }
    /** As in Deno, which ignores the encoding. */
    generateKeys(_encoding?: unknown): unknown {
      if (this.#private.length === 0)
        this.#private = Buffer.from(native("random", { bytes: this.#prime.length }));
      this.#public = this.#raise(this.#generator, 1);
      return output(this.#public);
    }
    computeSecret(key: unknown, inEncoding?: unknown, outEncoding?: unknown): unknown {
      const other = toBytes(key, inEncoding, "key", true);
      if (other.length === 0) throw nodeError("ERR_CRYPTO_INVALID_KEYLEN", "Unspecified validation error");
      if (this.#private.length === 0) throw new TypeError("expected typed ArrayBufferView");
      return output(this.#raise(other, this.#prime.length), outEncoding);
    }
    getPrime(encoding?: unknown): unknown {
      return output(this.#prime, encoding === null ? "null" : encoding);
    }
    getGenerator(encoding?: unknown): unknown {
      return output(this.#generator, encoding === null ? "null" : encoding);
    }
    getPublicKey(encoding?: unknown): unknown {
      return this.#public.length === 0 ? undefined : output(this.#public, encoding);
    }
    getPrivateKey(encoding?: unknown): unknown {
      return this.#private.length === 0 ? undefined : output(this.#private, encoding);
    }
    setPublicKey(key: unknown, encoding?: unknown): void {
      this.#public = Buffer.from(key, encoding);
    }
    setPrivateKey(key: unknown, encoding?: unknown): void {
      this.#private = Buffer.from(key, encoding);
    }
  }
  class DiffieHellmanImpl extends Agreement {
    constructor(prime: unknown, second?: unknown, third?: unknown, fourth?: unknown) {
      const isNamed = typeof second === "string" && (Buffer.isEncoding(second) || second === "buffer");
      const encoding = isNamed ? second : undefined;
      const [generator, generatorEncoding] = encoding === undefined ? [second, third] : [third, fourth];
      if (typeof prime !== "number" && typeof prime !== "string" && bytesOf(prime) === undefined)
        throw wrongArgument(
          "sizeOrKey",
          "one of type number or string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView",
          prime,
        );
      if (generator && typeof generator === "object" && bytesOf(generator) === undefined)
        throw wrongArgument(
          "generator",
          "one of type number or string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView",
          generator,
        );
      if (typeof prime === "number") {
        if (!Number.isInteger(prime)) throw outOfRange("sizeOrKey", "an integer", prime);
        if (prime < 2) throw nodeError("ERR_OSSL_DH_MODULUS_TOO_SMALL", "modulus too small");
      }
      super(
        typeof prime === "number"
          ? // No prime of so few bits is safe.
            (native("prime", { size: prime, safe: prime > 5 }) as Bytes)
          : toBytes(prime, encoding, "sizeOrKey", true),
        !generator
          ? Buffer.from([2])
          : typeof generator === "number"
            ? Buffer.from([generator])
            : toBytes(generator, generatorEncoding, "generator", true),
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
      if (from?.["asymmetricKeyType"]?.startsWith("ed"))
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
