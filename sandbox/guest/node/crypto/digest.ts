import { nodeError, wrongType } from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { concatBytes } from "../../webIdl.ts";
import type { ByteTools } from "./bytes.ts";

type Bytes = Uint8Array;

/** Creates the hashes and HMACs: input is buffered, and the host digests it at the end. */
export function createDigests(
  native: Internals["native"],
  { toBytes, output, bytesFrom }: ByteTools,
): Readonly<Record<string, unknown>> {
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

  /** Base of hashes and HMACs: `update` until `digest`. */
  class Digest {
    #parts: Bytes[] = [];
    #done = false;
    readonly #compute: (data: Bytes) => Bytes;
    constructor(compute: (data: Bytes) => Bytes, parts: readonly Bytes[] = []) {
      this.#compute = compute;
      this.#parts = [...parts];
    }
    update(data: unknown, encoding?: unknown): this {
      if (this.#done) throw nodeError("ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
      this.#parts.push(toBytes(data, encoding));
      return this;
    }
    digest(encoding?: unknown): unknown {
      if (this.#done) throw nodeError("ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
      this.#done = true;
      return output(this.#compute(concatBytes(this.#parts)), encoding);
    }
    copy(): Digest {
      return new Digest(this.#compute, this.#parts);
    }
  }
  class Hash extends Digest {}
  class Hmac extends Digest {}

  const createHash = (algorithm: unknown, options: { outputLength?: number } = {}): Hash => {
    const name = assertDigest(algorithm);
    return new Hash(
      (data) => native("hash", { algorithm: name, outputLength: options.outputLength }, data) as Bytes,
    );
  };
  return {
    createHash,
    createHmac: (algorithm: unknown, key: unknown): Hmac => {
      const name = assertDigest(algorithm);
      const keyBytes = toBytes(key, undefined, "key");
      return new Hmac((data) => bytesFrom("hmac", { algorithm: name }, keyBytes, data));
    },
    hash: (algorithm: unknown, data: unknown, encoding: unknown = "hex") =>
      createHash(algorithm).update(data).digest(encoding),
    Hash,
    Hmac,
  };
}
