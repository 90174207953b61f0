import { wrongType } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { bytesOf, concatBytes } from "../webIdl.ts";

type Bytes = Uint8Array;
interface BufferLike extends Uint8Array {
  toString(encoding?: string): string;
}

const failure = (message: string, code: string, Type: ErrorConstructor = Error): Error =>
  Object.assign(new Type(message), { code });

/** Creates `node:crypto`: what is done at once by the host's natives; data is gathered until it is asked for. */
export function createCrypto({ load, native }: Internals): Readonly<Record<string, unknown>> {
  const { Buffer } = load("buffer") as unknown as {
    Buffer: { from(value: unknown, encoding?: unknown): BufferLike };
  };
  const { crypto: webcrypto } = load("crypto") as {
    crypto: { subtle: unknown; getRandomValues(array: unknown): unknown };
  };
  /** A key that was made once: secret bytes, or PEM text. */
  class KeyObject {
    readonly type: string;
    readonly asymmetricKeyType: string | undefined;
    readonly asymmetricKeyDetails: object | undefined;
    readonly #value: Bytes | string;
    constructor(type: string, value: Bytes | string, kind?: string, details?: object) {
      this.type = type;
      this.#value = value;
      this.asymmetricKeyType = kind;
      this.asymmetricKeyDetails = details;
    }
    static reveal(key: KeyObject): Bytes | string {
      return key.#value;
    }
    get symmetricKeySize(): number | undefined {
      return typeof this.#value === "string" ? undefined : this.#value.length;
    }
    export(): unknown {
      return typeof this.#value === "string" ? this.#value : Buffer.from(this.#value);
    }
    equals(other: KeyObject): boolean {
      return this.type === other.type && String(this.#value) === String(other.#value);
    }
  }
  const { reveal: valueOfKey } = KeyObject;
  delete (KeyObject as { reveal?: unknown }).reveal;
  /** A key as PEM text: as such, as bytes, as `{ key }` or as a key object. */
  const pemOf = (key: unknown): string => {
    const value = key instanceof KeyObject ? valueOfKey(key) : key;
    if (typeof value === "string") return value;
    const bytes = bytesOf(value);
    if (bytes !== undefined) return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return pemOf((value as { key?: unknown } | null)?.key ?? "");
  };
  const createKey = (key: unknown, isPublic: boolean): KeyObject => {
    const [kind, pem, modulusLength] = JSON.parse(native("key", { key: pemOf(key), isPublic }) as string) as [
      string,
      string,
      number | null,
    ];
    return new KeyObject(
      isPublic ? "public" : "private",
      pem,
      kind,
      modulusLength === null ? {} : { modulusLength },
    );
  };

  const toBytes = (value: unknown, encoding?: unknown, name = "data"): Bytes => {
    if (value instanceof KeyObject) return toBytes(valueOfKey(value), undefined, name);
    if (typeof value === "string") return Buffer.from(value, encoding === "buffer" ? undefined : encoding);
    const bytes = bytesOf(value);
    if (bytes === undefined) {
      throw Object.assign(
        new TypeError(
          `The "${name}" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ${received(value)}`,
        ),
        { code: "ERR_INVALID_ARG_TYPE" },
      );
    }
    return bytes.slice();
  };
  const output = (bytes: Bytes, encoding?: unknown): unknown => {
    const buffer = Buffer.from(bytes);
    return encoding === undefined || encoding === "buffer" ? buffer : buffer.toString(encoding as string);
  };
  const bytesFrom = (name: string, header: object, ...parts: Bytes[]): Bytes =>
    native(
      name,
      { ...header, lengths: parts.slice(0, -1).map((part) => part.length) },
      concatBytes(parts),
    ) as Bytes;

  const hashes = (): string[] => JSON.parse(native("hashes", {}) as string) as string[];
  const assertDigest = (algorithm: unknown): string => {
    if (typeof algorithm !== "string") throw wrongType("algorithm", "string", algorithm);
    try {
      native("hash", { algorithm }, new Uint8Array(0));
    } catch (error) {
      throw Object.assign(new Error(`Digest method not supported: ${algorithm}`, { cause: error }), {
        code: "ERR_OSSL_EVP_UNSUPPORTED",
      });
    }
    return algorithm;
  };

  /** What hashes and message codes share: `update` until `digest`. */
  class Digest {
    #parts: Bytes[] = [];
    #done = false;
    readonly #compute: (data: Bytes) => Bytes;
    constructor(compute: (data: Bytes) => Bytes, parts: readonly Bytes[] = []) {
      this.#compute = compute;
      this.#parts = [...parts];
    }
    update(data: unknown, encoding?: unknown): this {
      if (this.#done) throw failure("Digest already called", "ERR_CRYPTO_HASH_FINALIZED");
      this.#parts.push(toBytes(data, encoding));
      return this;
    }
    digest(encoding?: unknown): unknown {
      if (this.#done) throw failure("Digest already called", "ERR_CRYPTO_HASH_FINALIZED");
      this.#done = true;
      return output(this.#compute(concatBytes(this.#parts)), encoding);
    }
    copy(): Digest {
      return new Digest(this.#compute, this.#parts);
    }
  }
  class Hash extends Digest {}
  class Hmac extends Digest {}

  class Cipher {
    readonly #algorithm: string;
    readonly #decrypt: boolean;
    readonly #key: Bytes;
    readonly #iv: Bytes;
    readonly #authTagLength: number | undefined;
    readonly #parts: Bytes[] = [];
    #aad: Bytes = new Uint8Array(0);
    #tag: Bytes = new Uint8Array(0);
    #padding = true;
    constructor(
      algorithm: unknown,
      key: unknown,
      iv: unknown,
      decrypt: boolean,
      options: { authTagLength?: number } = {},
    ) {
      if (typeof algorithm !== "string") throw wrongType("cipher", "string", algorithm);
      this.#algorithm = algorithm.toLowerCase();
      this.#decrypt = decrypt;
      this.#key = toBytes(key, undefined, "key");
      this.#iv = iv === null || iv === undefined ? new Uint8Array(0) : toBytes(iv, undefined, "iv");
      this.#authTagLength = options.authTagLength;
      const expected = /-(128|192|256)-/.exec(this.#algorithm)?.[1];
      if (expected !== undefined && this.#key.length * 8 !== Number(expected))
        throw failure("Invalid key length", "ERR_CRYPTO_INVALID_KEYLEN", RangeError);
    }
    get #isAuthenticated(): boolean {
      return /gcm|ccm|ocb|poly1305/.test(this.#algorithm);
    }
    setAutoPadding(on = true): this {
      this.#padding = on;
      return this;
    }
    setAAD(data: unknown): this {
      this.#aad = toBytes(data);
      return this;
    }
    setAuthTag(tag: unknown): this {
      this.#tag = toBytes(tag);
      return this;
    }
    getAuthTag(): unknown {
      return Buffer.from(this.#tag);
    }
    update(data: unknown, inputEncoding?: unknown, outputEncoding?: unknown): unknown {
      this.#parts.push(toBytes(data, inputEncoding));
      return output(new Uint8Array(0), outputEncoding);
    }
    final(encoding?: unknown): unknown {
      let bytes = bytesFrom(
        "cipher",
        {
          algorithm: this.#algorithm,
          decrypt: this.#decrypt,
          padding: this.#padding,
          ...(this.#authTagLength !== undefined && { authTagLength: this.#authTagLength }),
        },
        this.#key,
        this.#iv,
        this.#aad,
        this.#decrypt ? this.#tag : new Uint8Array(0),
        concatBytes(this.#parts),
      );
      if (this.#isAuthenticated && !this.#decrypt) {
        const tagLength = this.#authTagLength ?? 16;
        this.#tag = bytes.slice(bytes.length - tagLength);
        bytes = bytes.slice(0, bytes.length - tagLength);
      }
      return output(bytes, encoding);
    }
  }

  const randomBytes = (size: unknown, callback?: (error: unknown, bytes: unknown) => void): unknown => {
    if (typeof size !== "number") throw wrongType("size", "number", size);
    const bytes = Buffer.from(native("random", { bytes: size }));
    if (callback === undefined) return bytes;
    queue(() => callback(null, bytes));
    return undefined;
  };
  const queue = (work: () => void): void => void Promise.resolve().then(work);
  const pbkdf2Sync = (
    password: unknown,
    salt: unknown,
    iterations: number,
    keyLength: number,
    digest: string,
  ): unknown =>
    Buffer.from(
      bytesFrom(
        "pbkdf2",
        { iterations, keyLength, digest },
        toBytes(password, undefined, "password"),
        toBytes(salt, undefined, "salt"),
      ),
    );
  const scryptSync = (
    password: unknown,
    salt: unknown,
    keyLength: number,
    options: Record<string, number> = {},
  ): unknown =>
    Buffer.from(
      bytesFrom(
        "scrypt",
        {
          keyLength,
          cost: options["N"] ?? options["cost"] ?? 16_384,
          blockSize: options["r"] ?? options["blockSize"] ?? 8,
          parallelization: options["p"] ?? options["parallelization"] ?? 1,
        },
        toBytes(password, undefined, "password"),
        toBytes(salt, undefined, "salt"),
      ),
    );
  const hkdfSync = (digest: string, key: unknown, salt: unknown, info: unknown, keyLength: number): unknown =>
    bytesFrom(
      "hkdf",
      { digest, keyLength },
      toBytes(key),
      toBytes(salt),
      toBytes(info),
      new Uint8Array(0),
    ).slice().buffer;
  /** The form that calls back, of one that answers at once. */
  const calledBack =
    (work: (...args: never[]) => unknown) =>
    (...args: unknown[]): void => {
      const callback = args.pop() as (error: unknown, result?: unknown) => void;
      queue(() => {
        let result: unknown;
        try {
          result = Reflect.apply(work, undefined, args) as unknown;
        } catch (error) {
          callback(error);
          return;
        }
        callback(null, result);
      });
    };
  const randomInt = (
    low: number,
    high?: number | ((error: unknown, value: number) => void),
    callback?: (error: unknown, value: number) => void,
  ): number | undefined => {
    const [min, max] = typeof high === "number" ? [low, high] : [0, low];
    const done = typeof high === "function" ? high : callback;
    const range = max - min;
    if (!(range > 0) || range > 2 ** 48 - 1)
      throw Object.assign(
        new RangeError(
          `The value of "max" is out of range. It must be greater than the value of "min" (${min}). Received ${max}`,
        ),
        { code: "ERR_OUT_OF_RANGE" },
      );
    const limit = 2 ** 48 - (2 ** 48 % range);
    let value: number;
    do {
      value = (native("random", { bytes: 6 }) as Bytes).reduce((sum, byte) => sum * 256 + byte, 0);
    } while (value >= limit);
    const result = min + (value % range);
    if (done === undefined) return result;
    queue(() => done(null, result));
    return undefined;
  };
  const createHash = (algorithm: unknown, options: { outputLength?: number } = {}): Hash => {
    const name = assertDigest(algorithm);
    return new Hash(
      (data) => native("hash", { algorithm: name, outputLength: options.outputLength }, data) as Bytes,
    );
  };
  const names = {
    createHash,
    createHmac: (algorithm: unknown, key: unknown): Hmac => {
      const name = assertDigest(algorithm);
      const keyBytes = toBytes(key, undefined, "key");
      return new Hmac((data) => bytesFrom("hmac", { algorithm: name }, keyBytes, data));
    },
    KeyObject,
    createSecretKey: (key: unknown, encoding?: unknown) =>
      new KeyObject("secret", toBytes(key, encoding, "key")),
    createPublicKey: (key: unknown) => createKey(key, true),
    createPrivateKey: (key: unknown) => createKey(key, false),
    hash: (algorithm: unknown, data: unknown, encoding: unknown = "hex") =>
      createHash(algorithm).update(data).digest(encoding),
    createCipheriv: (algorithm: unknown, key: unknown, iv: unknown, options?: object) =>
      new Cipher(algorithm, key, iv, false, options),
    createDecipheriv: (algorithm: unknown, key: unknown, iv: unknown, options?: object) =>
      new Cipher(algorithm, key, iv, true, options),
    randomBytes,
    pseudoRandomBytes: randomBytes,
    randomFillSync: (array: Uint8Array): Uint8Array => {
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(
        native("random", { bytes: array.byteLength }) as Bytes,
      );
      return array;
    },
    randomUUID: () => native("uuid", {}),
    randomInt,
    timingSafeEqual: (a: unknown, b: unknown): boolean => {
      const [left, right] = [toBytes(a, undefined, "buf1"), toBytes(b, undefined, "buf2")];
      if (left.length !== right.length)
        throw failure(
          "Input buffers must have the same byte length",
          "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH",
          RangeError,
        );
      return left.reduce((difference, byte, at) => difference | (byte ^ (right[at] as number)), 0) === 0;
    },
    pbkdf2Sync,
    pbkdf2: calledBack(pbkdf2Sync),
    scryptSync,
    scrypt: calledBack(scryptSync),
    hkdfSync,
    hkdf: calledBack(hkdfSync),
    sign: (algorithm: unknown, data: unknown, key: unknown) =>
      Buffer.from(native("sign", { algorithm: algorithm ?? null, key: pemOf(key) }, toBytes(data))),
    verify: (algorithm: unknown, data: unknown, key: unknown, signature: unknown) => {
      const [signed, message] = [toBytes(signature), toBytes(data)];
      return (
        native(
          "verify",
          { algorithm: algorithm ?? null, key: pemOf(key), lengths: [signed.length] },
          concatBytes([signed, message]),
        ) === "true"
      );
    },
    createSign: (algorithm: string) =>
      signer(algorithm, (data, key, encoding) =>
        output(native("sign", { algorithm, key: pemOf(key) }, data) as Bytes, encoding),
      ),
    createVerify: (algorithm: string) =>
      signer(algorithm, (data, key, signature, encoding) =>
        names.verify(algorithm, data, key, toBytes(signature, encoding)),
      ),
    getHashes: hashes,
    getCiphers: () => JSON.parse(native("ciphers", {}) as string) as string[],
    getCurves: () => JSON.parse(native("curves", {}) as string) as string[],
    getRandomValues: (array: unknown) => webcrypto.getRandomValues(array),
    webcrypto,
    subtle: webcrypto.subtle,
    Hash,
    Hmac,
    constants: {},
  };
  function signer(
    _algorithm: string,
    finish: (data: Bytes, key: unknown, third?: unknown, fourth?: unknown) => unknown,
  ): object {
    const parts: Bytes[] = [];
    const end = (key: unknown, third?: unknown, fourth?: unknown): unknown =>
      finish(concatBytes(parts), key, third, fourth);
    const self = {
      update(data: unknown, encoding?: unknown) {
        parts.push(toBytes(data, encoding));
        return self;
      },
      end: () => self,
      sign: end,
      verify: end,
    };
    return self;
  }
  return { ...names, default: names };
}

function received(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object")
    return `an instance of ${(value.constructor as { name?: string } | undefined)?.name ?? "Object"}`;
  return `type ${typeof value} (${String(value)})`;
}
