import { packMessage, unpackMessage } from "../hostCalls.ts";
import type { Internals } from "../internals.ts";
import {
  bytesOf,
  concatBytes,
  exposeInterface,
  illegalConstructor,
  printable,
  requireArguments,
} from "../webIdl.ts";
import { orderJwk } from "./jwk.ts";
import { CryptoKey, type KeyFields, SECRET, fieldsOf } from "./key.ts";

interface Answer {
  readonly bytes?: true;
  readonly key?: KeyFields;
  readonly pair?: { readonly privateKey: KeyFields; readonly publicKey: KeyFields };
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

/** Node's messages that Deno words differently. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^AES key length must be 128, 192, or 256 bits$/, "Invalid AES key length"],
  [/^Usages cannot be empty when creating a key\.?$/, "Usages cannot be empty"],
  [/^Zero-length key is not supported$/, "Key length is zero"],
  [/^length must be a multiple of 8$/, "Invalid length"],
  [/^(\d+) is not a valid AES-GCM tag length$/, "Invalid tag length: $1"],
  [/^algorithm\.iv must contain exactly 16 bytes$/, "Initialization vector must be 16 bytes"],
];
const DIGESTS = ["SHA-1", "SHA-256", "SHA-384", "SHA-512", "SHA3-256", "SHA3-384", "SHA3-512"];

/** Creates a `DOMException`. */
type Exception = (message: string, name: string) => Error;

/** Creates `SubtleCrypto` (Web Cryptography, §14): the host does the work. */
export function createSubtle(hostCall: Internals["hostCall"], exception: Exception) {
  async function call(op: string, args: readonly unknown[]): Promise<unknown> {
    const parts: Uint8Array[] = [];
    let length = 0;
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
    const { bytes, key, pair, value, error } = answer.header as Answer;
    if (error !== undefined)
      throw toError(
        algorithmName(args),
        op,
        error,
        String((args[0] as { namedCurve?: unknown } | null)?.namedCurve),
      );
    if (bytes) return answer.body.slice().buffer;
    if (key !== undefined) return new CryptoKey(SECRET, key);
    if (pair !== undefined) {
      return {
        privateKey: new CryptoKey(SECRET, pair.privateKey),
        publicKey: new CryptoKey(SECRET, pair.publicKey),
      };
    }
    return value;
  }

  /** Converts a host error to Deno's wording. */
  function toError(
    algorithm: string,
    op: string,
    { name, message }: { readonly name: string; readonly message: string },
    curve: string,
  ): Error {
    const place = `Failed to execute 'call' on 'SubtleCrypto': Argument ${op === "importKey" ? 2 : 0}`;
    const missing = /because '(\w+)' is required in/.exec(message)?.[1];
    if (missing !== undefined) return new TypeError(`${place} Missing '${missing}'`);
    const format = /'([^']*)' is not a valid enum value of type KeyFormat/.exec(message);
    if (format !== null)
      return new TypeError(
        `Failed to execute 'call' on 'SubtleCrypto': Argument 1 The provided value '${format[1]}' is not a valid enum value of type KeyFormat`,
      );
    if (name === "TypeError") return new TypeError(message);
    for (const [pattern, text] of TEXTS)
      if (pattern.test(message)) return exception(message.replace(pattern, text), name);
    if (message === "Unrecognized namedCurve") return exception(`Unsupported named curve: ${curve}`, name);
    if (message === "Key algorithm mismatch" && (op === "encrypt" || op === "decrypt"))
      return exception(
        `${op === "encrypt" ? "Encryption" : "Decryption"} algorithm '${algorithm}' does not match key algorithm`,
        name,
      );
    if (message === "Unrecognized algorithm name") return exception(`${message}: ${algorithm}`, name);
    if (name === "SyntaxError" && message.startsWith("Unsupported key usage"))
      return exception("Invalid key usage", name);
    if (name === "OperationError" && (op === "decrypt" || op === "unwrapKey"))
      return exception("Decryption failed", name);
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

  const requireBytes = (value: unknown): void => {
    if (bytesOf(value) === undefined) {
      throw new TypeError(
        "Failed to execute 'call' on 'SubtleCrypto': Argument 1 can not be converted to a BufferSource",
      );
    }
  };
  const arity = (given: number, required: number, name: string): void =>
    requireArguments(given, required, `Failed to execute '${name}' on 'SubtleCrypto'`);

  class SubtleCrypto {
    constructor(secret?: unknown) {
      if (secret !== SECRET) throw illegalConstructor();
    }
    async digest(algorithm: unknown, data: unknown): Promise<unknown> {
      if (typeof algorithm !== "string" && (typeof algorithm !== "object" || algorithm === null))
        throw new TypeError(
          "Failed to execute 'call' on 'SubtleCrypto': Argument 0 can not be converted to a AlgorithmIdentifier",
        );
      if (typeof algorithm === "object" && (algorithm as { name?: unknown }).name === undefined)
        throw new TypeError(
          "Failed to execute 'call' on 'SubtleCrypto': Argument 0 required member 'name' is undefined",
        );
      arity(arguments.length, 2, "digest");
      const name = (
        typeof algorithm === "object" && algorithm !== null
          ? (algorithm as { name?: unknown }).name
          : algorithm
      ) as string;
      requireBytes(data);
      if (!DIGESTS.includes(name.toUpperCase()))
        throw exception(`Algorithm '${name}' is not supported`, "NotSupportedError");
      return call("digest", [name.toUpperCase(), data]);
    }
    async encrypt(algorithm: unknown, key: unknown, data: unknown): Promise<unknown> {
      arity(arguments.length, 3, "encrypt");
      return call("encrypt", [algorithm, key, data]);
    }
    async decrypt(algorithm: unknown, key: unknown, data: unknown): Promise<unknown> {
      arity(arguments.length, 3, "decrypt");
      return call("decrypt", [algorithm, key, data]);
    }
    async sign(algorithm: unknown, key: unknown, data: unknown): Promise<unknown> {
      arity(arguments.length, 3, "sign");
      return call("sign", [algorithm, key, data]);
    }
    async verify(algorithm: unknown, key: unknown, signature: unknown, data: unknown): Promise<unknown> {
      arity(arguments.length, 4, "verify");
      return call("verify", [algorithm, key, signature, data]);
    }
    async generateKey(algorithm: unknown, extractable: unknown, usages: unknown): Promise<unknown> {
      arity(arguments.length, 3, "generateKey");
      return call("generateKey", [algorithm, Boolean(extractable), usages]);
    }
    async deriveKey(
      algorithm: unknown,
      baseKey: unknown,
      derivedType: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      arity(arguments.length, 5, "deriveKey");
      return call("deriveKey", [algorithm, baseKey, derivedType, Boolean(extractable), usages]);
    }
    async deriveBits(algorithm: unknown, baseKey: unknown, length: unknown = null): Promise<unknown> {
      arity(arguments.length, 2, "deriveBits");
      return call("deriveBits", [algorithm, baseKey, length]);
    }
    async importKey(
      format: unknown,
      data: unknown,
      algorithm: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<unknown> {
      arity(arguments.length, 5, "importKey");
      const isBytes = bytesOf(data) !== undefined;
      if (typeof data === "object" && data !== null && isBytes === (format === "jwk"))
        throw new TypeError(`Cannot import key: 'keyData' is ${isBytes ? "not " : ""}a JsonWebKey`);
      return call("importKey", [format, data, algorithm, Boolean(extractable), usages]);
    }
    async exportKey(format: unknown, key: unknown): Promise<unknown> {
      arity(arguments.length, 2, "exportKey");
      const exported = await call("exportKey", [format, key]);
      if (format !== "jwk") return exported;
      return orderJwk(
        exported as Record<string, unknown>,
        (key as { algorithm?: { name?: string } }).algorithm?.name,
      );
    }
    async wrapKey(format: unknown, key: unknown, wrappingKey: unknown, algorithm: unknown): Promise<unknown> {
      arity(arguments.length, 4, "wrapKey");
      return call("wrapKey", [format, key, wrappingKey, algorithm]);
    }
    async unwrapKey(...args: unknown[]): Promise<unknown> {
      arity(args.length, 7, "unwrapKey");
      return call("unwrapKey", args);
    }
  }

  exposeInterface(SubtleCrypto);
  Object.defineProperty(SubtleCrypto, "length", { value: 0, configurable: true });
  Object.defineProperty(SubtleCrypto.prototype, Symbol.for("Deno.privateCustomInspect"), {
    value: (inspect: (value: unknown, options?: object) => string, options: object) =>
      inspect(printable("SubtleCrypto", {}), options),
    configurable: true,
  });
  return SubtleCrypto;
}

/** Returns the name of the algorithm among a call's arguments, for the error's text. */
function algorithmName(args: readonly unknown[]): string {
  for (const arg of args) {
    const name: unknown =
      typeof arg === "string" ? arg : (arg as { name?: unknown } | null | undefined)?.name;
    if (typeof name === "string" && !["raw", "jwk", "pkcs8", "spki"].includes(name)) return name;
  }
  return "";
}
