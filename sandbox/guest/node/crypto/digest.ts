import { invalidArgument, nodeError, warnDeprecated, wrongArgument, wrongType } from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { concatBytes } from "../../webIdl.ts";
import { checkText, checkUint32, type ByteTools } from "./bytes.ts";
import { callable } from "./callable.ts";
import { KEY_TYPES, type KeyTools } from "./key.ts";
import { createLazyStream } from "./lazyStream.ts";
import { HASHES } from "./names.ts";

type Bytes = Uint8Array;
type Done = (error?: unknown) => void;

const HANDLE = Symbol("kHandle");
/** Lengths in bytes of digests that have any length, if none is asked for. */
const XOF_BYTES: Readonly<Record<string, number>> = { shake128: 16, shake256: 32 };

/** The name of an encoding, if there is one, as text. */
const nameOf = (encoding: unknown): string | undefined => (encoding ? `${encoding as number}` : undefined);

/** Creates an object without the warning of its deprecated class. */
const create = (Type: object, deprecated: object, args: readonly unknown[]): object =>
  Reflect.construct(Type as NewableFunction, args, deprecated as NewableFunction) as object;

/** Creates hashes and HMACs; the host computes them at the end, from all of their input. */
export function createDigests(
  { native, load }: Internals,
  { toBytes, output, bytesFrom, Buffer }: ByteTools,
  { secretBytes }: KeyTools,
): Readonly<Record<string, unknown>> {
  const known = new Set(HASHES.map((name) => name.toLowerCase()));
  const finalized = (): Error => nodeError("ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
  const toStream = createLazyStream(load, "Transform");

  /** Base of hashes and HMACs: `update` until `digest`. */
  class Digest {
    declare readonly push: (bytes: unknown) => void;
    readonly #parts: Bytes[];
    readonly #compute: (data: Bytes) => Bytes;
    #done = false;
    readonly _options: object | null | undefined;
    constructor(
      compute: (data: Bytes) => Bytes,
      options: object | null | undefined,
      parts: readonly Bytes[] = [],
    ) {
      this.#compute = compute;
      this.#parts = [...parts];
      this._options = options;
    }
    static partsOf(digest: Digest): readonly Bytes[] {
      if (digest.#done) throw finalized();
      return digest.#parts;
    }
    /** The digest; undefined once it has been given. */
    static finish(digest: Digest): Bytes | undefined {
      if (digest.#done) return undefined;
      digest.#done = true;
      return digest.#compute(concatBytes(digest.#parts));
    }
    update(data: unknown, encoding?: unknown): this {
      const bytes = toBytes(data, encoding, "data");
      if (this.#done) throw finalized();
      this.#parts.push(bytes);
      return this;
    }
    _transform(data: unknown, encoding: unknown, done: Done): void {
      this.update(data, encoding);
      done();
    }
    _flush(done: Done): void {
      this.push((this as unknown as { digest(): unknown }).digest());
      done();
    }
  }
  const { partsOf, finish } = Digest;
  for (const name of ["partsOf", "finish"]) delete (Digest as unknown as Record<string, unknown>)[name];

  const lengthOf = (name: string): number => native("hash", { algorithm: name }, new Uint8Array(0)).length;
  const computeHash = (algorithm: unknown, length: unknown): ((data: Bytes) => Bytes) => {
    const name = checkText(algorithm, "algorithm").toLowerCase();
    if (length !== undefined) checkUint32(length, "options.outputLength");
    if (!known.has(name)) throw new Error(`Digest method not supported: ${name}`);
    const standard = XOF_BYTES[name];
    const size = length === undefined ? 0 : lengthOf(name);
    if (length !== undefined && standard === undefined && length !== size)
      throw nodeError("ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH", "Invalid XOF digest length");
    if (standard !== undefined && length === undefined)
      warnDeprecated(
        "DEP0198",
        "Creating SHAKE128/256 digests without an explicit options.outputLength is deprecated.",
      );
    const outputLength = standard === undefined ? undefined : (length ?? standard);
    return (data) => native("hash", { algorithm: name, outputLength }, data) as Bytes;
  };
  class Hasher {}
  class Hash extends Digest {
    /** As printing shows it. */
    readonly [HANDLE] = new Hasher();
    readonly #algorithm: unknown;
    #streamed: Bytes | undefined;
    constructor(
      algorithm: unknown,
      options?: { readonly outputLength?: unknown } | null,
      parts?: readonly Bytes[],
    ) {
      super(computeHash(algorithm, options?.outputLength ?? undefined), options, parts);
      this.#algorithm = algorithm;
    }
    digest(encoding?: unknown): unknown {
      const bytes = finish(this) ?? this.#streamed;
      this.#streamed = undefined;
      if (bytes === undefined) throw finalized();
      return output(bytes, nameOf(encoding));
    }
    /** What a stream has read can be asked for once more. */
    override _flush(done: Done): void {
      const bytes = this.digest() as Bytes;
      this.#streamed = bytes;
      this.push(bytes);
      done();
    }
    copy(options?: object): Hash {
      return create(Hash, Hashed, [this.#algorithm, options, partsOf(this)]) as Hash;
    }
  }
  class HmacImpl extends Digest {
    constructor(algorithm: unknown, key: unknown, options?: { readonly encoding?: unknown }) {
      const given = checkText(algorithm, "hmac").toLowerCase();
      const keyBytes = secretBytes(key, options?.encoding, "key", KEY_TYPES);
      const name = given.replace(/^rsa-|^md4|^md\d-sha1|^sm3|^ssl3-|withrsa/, "\0");
      if (!known.has(name) || name in XOF_BYTES)
        throw nodeError("ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${given}`, TypeError);
      super((data) => bytesFrom("hmac", { algorithm: name }, keyBytes, data), options);
    }
    /** Deno returns nothing the second time. */
    digest(encoding?: unknown): unknown {
      return output(finish(this) ?? new Uint8Array(0), nameOf(encoding));
    }
  }
  // What Deno deprecates is called so.
  const Hashed = callable(Hash, "deprecated", "copy _transform _flush update digest", toStream, () =>
    warnDeprecated("DEP0179", "crypto.Hash constructor is deprecated."),
  );
  const Hmac = callable(HmacImpl, "deprecated", "digest update", toStream, () =>
    warnDeprecated("DEP0181", "crypto.Hmac constructor is deprecated."),
  );
  return {
    createHash: (algorithm: unknown, options?: object) => create(Hash, Hashed, [algorithm, options]),
    createHmac: (algorithm: unknown, key: unknown, options?: object) =>
      create(HmacImpl, Hmac, [algorithm, key, options]),
    hash: (algorithm: unknown, input: unknown, options: unknown = "hex") => {
      checkText(algorithm, "algorithm");
      const data = toBytes(input, undefined, "input");
      const { outputEncoding = "hex", outputLength } = (
        typeof options === "object" && options !== null ? options : { outputEncoding: options }
      ) as { outputEncoding?: unknown; outputLength?: unknown };
      if (typeof outputEncoding !== "string") throw wrongType("outputEncoding", "string", outputEncoding);
      if (outputEncoding !== "buffer" && !Buffer.isEncoding(outputEncoding))
        throw invalidArgument("outputEncoding", outputEncoding);
      const name = String(algorithm).toLowerCase();
      if (typeof outputLength === "number" && known.has(name) && !(name in XOF_BYTES))
        if (lengthOf(name) !== outputLength)
          throw new Error(`Output length ${outputLength} is invalid for ${name}, which does not support XOF`);
      return output(computeHash(algorithm, outputLength ?? undefined)(data), outputEncoding);
    },
    Hash: Hashed,
    Hmac,
    timingSafeEqual: (a: unknown, b: unknown): boolean => {
      const [left, right] = [a, b].map((value, at) => {
        if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer))
          throw wrongArgument(
            `buf${at + 1}`,
            "an instance of Buffer, ArrayBuffer, TypedArray, or DataView",
            value,
          );
        return toBytes(value, undefined, "", true);
      }) as [Bytes, Bytes];
      if (left.length !== right.length)
        throw nodeError(
          "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH",
          "Input buffers must have the same byte length",
          RangeError,
        );
      return left.reduce((difference, byte, at) => difference | (byte ^ (right[at] as number)), 0) === 0;
    },
  };
}
