import {
  checkObject,
  checkInteger,
  invalidArgument,
  nodeError,
  wrongArgument,
  wrongType,
} from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { bytesOf } from "../../webIdl.ts";
import { type ByteTools, checkText } from "./bytes.ts";
import { callable } from "./callable.ts";
import type { KeyTools } from "./key.ts";
import { createLazyStream } from "./lazyStream.ts";
import { CIPHERS, DESCRIBED } from "./names.ts";

type Bytes = Uint8Array;
type Done = (error?: unknown) => void;
interface Decoder {
  readonly encoding: string;
  write(bytes: Bytes): string;
  end(): string;
}

/** Lengths in bytes that GCM's tags may have. */
const TAG_LENGTHS = [4, 8, 12, 13, 14, 15, 16];

/** Creates the error of OpenSSL's provider as Deno does. */
const providerError = (code: string, reason: string, Type: ErrorConstructor, prefix = ""): Error =>
  Object.assign(new Type(`${prefix}${reason}`), { library: "Provider routines", reason, code });

/** Creates the ciphers, which the host keeps until they end. */
export function createCiphers(
  { native, load }: Internals,
  { toBytes, bytesFrom, Buffer }: ByteTools,
  { secretBytes }: KeyTools,
): Readonly<Record<string, unknown>> {
  const toStream = createLazyStream(load, "Transform");
  const decoderOf = (encoding: string): Decoder => {
    const { StringDecoder } = (load("node") as Record<string, Record<string, unknown>>)["stringDecoder"] as {
      StringDecoder: new (encoding: string) => Decoder;
    };
    return new StringDecoder(encoding);
  };
  const badState = (operation: string): Error =>
    nodeError("ERR_CRYPTO_INVALID_STATE", `Invalid state for operation ${operation}`);

  /** Base of both directions. */
  class Cipher {
    declare readonly push: (bytes: unknown) => void;
    readonly #id: number;
    readonly #isAuthenticated: boolean;
    readonly #isDecrypting: boolean;
    readonly #isEcb: boolean;
    #isFinal = false;
    /** Once there is data, Deno ignores what else is to be authenticated. */
    #isStarted = false;
    #hasInput = false;
    #tag: Bytes | undefined;
    #decoder: Decoder | undefined;
    constructor(
      isDecrypting: boolean,
      cipher: unknown,
      key: unknown,
      iv: unknown,
      options?: { readonly authTagLength?: unknown },
    ) {
      const name = checkText(cipher, "cipher");
      const keyBytes = secretBytes(key, undefined, "key");
      if (typeof iv !== "string" && iv !== null && !ArrayBuffer.isView(iv))
        throw wrongArgument("iv", "of type string or an instance of ArrayBufferView or Buffer or null", iv);
      if (iv instanceof DataView) throw new TypeError("expected typed ArrayBufferView");
      const vector =
        iv === null ? new Uint8Array(0) : typeof iv === "string" ? Buffer.from(iv) : (bytesOf(iv) as Bytes);
      const known = CIPHERS.find(([one]) => one === name);
      if (known === undefined) throw nodeError("ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher");
      const [, , , , ivBytes, keyLength] = known;
      if (keyBytes.length !== keyLength)
        throw isDecrypting
          ? nodeError("ERR_CRYPTO_INVALID_KEY_LENGTH", "Invalid key length", RangeError)
          : new RangeError("Invalid key length");
      const isGcm = name.endsWith("gcm");
      this.#isAuthenticated = isGcm || name === "chacha20-poly1305";
      this.#isDecrypting = isDecrypting;
      this.#isEcb = name.endsWith("ecb");
      const tagLength = options?.authTagLength ?? undefined;
      if (tagLength !== undefined && (typeof tagLength !== "number" || tagLength >>> 0 !== tagLength))
        throw invalidArgument("options.authTagLength", tagLength);
      if (isGcm && typeof tagLength === "number" && !TAG_LENGTHS.includes(tagLength))
        throw Object.assign(
          new TypeError(`Invalid authentication tag length: ${tagLength}`),
          isDecrypting && { code: "ERR_CRYPTO_INVALID_AUTH_TAG" },
        );
      if (isGcm ? vector.length === 0 : vector.length !== ivBytes)
        throw Object.assign(
          new TypeError("Invalid initialization vector"),
          isDecrypting && { code: "ERR_CRYPTO_DECIPHER" },
        );
      this.#id = Number(
        native(
          "cipherOpen",
          {
            name,
            isDecrypting,
            keyBytes: keyLength,
            tagBytes: this.#isAuthenticated ? (tagLength ?? 16) : undefined,
          },
          Buffer.from([...keyBytes, ...vector]),
        ),
      );
    }
    #call(action: string, bytes: Bytes = new Uint8Array(0), more?: object): Bytes {
      return bytesFrom("cipher", { id: this.#id, action, ...more }, bytes);
    }
    #output(bytes: Bytes, encoding: unknown, isLast: boolean): unknown {
      if (encoding === undefined || encoding === null || encoding === "buffer") return Buffer.from(bytes);
      const decoder = (this.#decoder ??= decoderOf(encoding as string));
      if (decoder.encoding !== decoderOf(encoding as string).encoding)
        throw Object.assign(new (assertionError())({ message: "Cannot change encoding" }), {});
      return decoder.write(bytes) + (isLast ? decoder.end() : "");
    }
    setAutoPadding(on?: unknown): this {
      if (!this.#isFinal) this.#call("padding", undefined, { on: on === undefined || Boolean(on) });
      return this;
    }
    setAAD(data: unknown): this {
      if (this.#isFinal) throw badState("setAAD");
      if (!ArrayBuffer.isView(data)) throw new TypeError("expected typed ArrayBufferView");
      if (this.#isAuthenticated && !this.#isStarted) this.#call("aad", bytesOf(data));
      return this;
    }
    setAuthTag(tag: Bytes): this {
      // What has no length is refused in V8's words.
      // eslint-disable-next-line typescript/prefer-destructuring
      const byteLength = tag.byteLength;
      if (!this.#isAuthenticated) return this;
      if (!TAG_LENGTHS.includes(byteLength))
        throw new TypeError(`Invalid authentication tag length: ${byteLength}`);
      this.#call("tag", bytesOf(tag));
      return this;
    }
    getAuthTag(): unknown {
      if (this.#tag === undefined) throw badState("getAuthTag");
      return Buffer.from(this.#tag);
    }
    update(data: unknown, inputEncoding?: unknown, outputEncoding?: unknown): unknown {
      const bytes =
        typeof data === "string" && inputEncoding === "hex"
          ? Buffer.from(data, inputEncoding)
          : toBytes(data, inputEncoding, "data");
      if (this.#isFinal) throw badState("update");
      this.#isStarted = true;
      this.#hasInput ||= bytes.length > 0;
      return this.#output(this.#call("update", bytes), outputEncoding, false);
    }
    final(encoding?: unknown): unknown {
      if (this.#isFinal) throw badState("final");
      this.#isFinal = true;
      let bytes: Bytes;
      try {
        bytes = this.#call("final");
      } catch (error) {
        // Deno finds nothing wrong with a ciphertext of no bytes, but in ECB.
        if (!this.#isDecrypting || this.#isAuthenticated || this.#isEcb || this.#hasInput)
          throw this.#finalError(error as Error);
        bytes = new Uint8Array(0);
      }
      if (this.#isAuthenticated && !this.#isDecrypting) {
        this.#tag = bytes.slice(bytes[0]! * -1);
        bytes = bytes.slice(1, bytes[0]! * -1);
      }
      return this.#output(bytes, encoding, true);
    }
    /** Deno's errors for what OpenSSL reports. */
    #finalError({ message }: Error): Error {
      if (this.#isDecrypting && this.#isAuthenticated)
        return providerError(
          "ERR_CRYPTO_DECIPHER",
          "Unsupported state or unable to authenticate data",
          TypeError,
        );
      if (message.endsWith("bad decrypt"))
        return providerError("ERR_OSSL_EVP_BAD_DECRYPT", "bad decrypt", TypeError);
      const reason = "wrong final block length";
      if (!message.endsWith(reason)) return new Error(message);
      return this.#isDecrypting
        ? providerError(
            "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH",
            reason,
            RangeError,
            "error:1C80006B:Provider routines::",
          )
        : Object.assign(nodeError("ERR_OSSL_EVP_WRONG_FINAL_BLOCK_LENGTH", reason), { reason });
    }
    _transform(data: unknown, encoding: unknown, done: Done): void {
      this.push(this.update(data, encoding));
      done();
    }
    _flush(done: Done): void {
      try {
        this.push(this.final());
      } catch (error) {
        done(error);
        return;
      }
      done();
    }
  }
  const assertionError = () =>
    (load("node") as Record<string, Record<string, unknown>>)["assert"]?.["AssertionError"] as new (
      options: object,
    ) => Error;
  class Cipheriv extends Cipher {
    constructor(cipher: unknown, key: unknown, iv: unknown, options?: object) {
      super(false, cipher, key, iv, options);
    }
  }
  class Decipheriv extends Cipher {
    constructor(cipher: unknown, key: unknown, iv: unknown, options?: object) {
      super(true, cipher, key, iv, options);
    }
  }
  const [Encrypting, Decrypting] = [
    callable(Cipheriv, "Cipheriv", "final getAuthTag setAAD setAutoPadding update", toStream),
    callable(Decipheriv, "Decipheriv", "final setAAD setAuthTag setAutoPadding update", toStream),
  ];
  for (const name of ["getAuthTag", "setAuthTag"]) Reflect.deleteProperty(Cipher.prototype, name);
  return {
    createCipheriv: (cipher: unknown, key: unknown, iv: unknown, options?: object) =>
      new Encrypting(cipher, key, iv, options),
    createDecipheriv: (cipher: unknown, key: unknown, iv: unknown, options?: object) =>
      new Decrypting(cipher, key, iv, options),
    Cipheriv: Encrypting,
    Decipheriv: Decrypting,
    getCiphers: () => CIPHERS.map(([name]) => name),
    getCipherInfo: (
      nameOrNumber: unknown,
      options: { keyLength?: unknown; ivLength?: unknown } = {},
    ): object | undefined => {
      if (typeof nameOrNumber !== "string" && typeof nameOrNumber !== "number")
        throw wrongArgument("nameOrNid", "one of type string or number", nameOrNumber);
      if (typeof nameOrNumber === "number") checkInteger(nameOrNumber, "nameOrNid", -(2 ** 31), 2 ** 31 - 1);
      checkObject(options, "options");
      const { keyLength, ivLength } = options;
      if (keyLength !== undefined && typeof keyLength !== "number")
        throw wrongType("options.keyLength", "number", keyLength);
      if (ivLength !== undefined && typeof ivLength !== "number")
        throw wrongType("options.ivLength", "number", ivLength);
      const known = [...CIPHERS, ...DESCRIBED].find(
        ([name, , nid]) => nid === nameOrNumber || name === nameOrNumber,
      );
      if (known === undefined) return undefined;
      const [, name, nid, blockSize, ivBytes, keyBytes] = known;
      if (keyLength !== undefined && keyLength !== keyBytes) return undefined;
      const mode = name === "chacha20" ? "stream" : /-(cbc|ctr|ecb|gcm|wrap)/.exec(name)?.[1];
      if (ivLength !== undefined && ivLength !== ivBytes) return undefined;
      return {
        name,
        nid,
        blockSize,
        ivLength: ivBytes,
        keyLength: keyBytes,
        mode: mode ?? "",
      };
    },
  };
}
