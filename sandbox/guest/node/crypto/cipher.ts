import { nodeError, wrongType } from "../../buffer/errors.ts";
import { concatBytes } from "../../webIdl.ts";
import type { ByteTools } from "./bytes.ts";

type Bytes = Uint8Array;

/** Creates the ciphers: `update` only buffers its input, and `final` returns the whole output. */
export function createCiphers({
  Buffer,
  toBytes,
  output,
  bytesFrom,
}: ByteTools): Readonly<Record<string, unknown>> {
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
        throw nodeError("ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length", RangeError);
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
  return {
    createCipheriv: (algorithm: unknown, key: unknown, iv: unknown, options?: object) =>
      new Cipher(algorithm, key, iv, false, options),
    createDecipheriv: (algorithm: unknown, key: unknown, iv: unknown, options?: object) =>
      new Cipher(algorithm, key, iv, true, options),
  };
}
