import { webcrypto } from "node:crypto";

type AnyKey = CryptoKey;

/** Keys that one run may hold. */
const MAX_KEYS = 4_096;
/** Longest digest that a source may ask for, in bits. */
const MAX_DIGEST_BITS = 8 * 1024 * 1024;
const OPERATIONS = [
  "encrypt",
  "decrypt",
  "sign",
  "verify",
  "digest",
  "generateKey",
  "deriveKey",
  "deriveBits",
  "importKey",
  "exportKey",
  "wrapKey",
  "unwrapKey",
  "encapsulateBits",
  "encapsulateKey",
  "decapsulateBits",
  "decapsulateKey",
  "getPublicKey",
] as const;

/** Web Crypto for one run. */
export interface SubtleHost {
  /**
   * Runs one operation. `request` is JSON `{op, args}`; in `args`, `{"$bytes": [start, end]}` stands for a part of
   * `body` and `{"$key": id}` for a key named by an earlier answer.
   * @returns The answer: `{value}`, in which bytes and keys stand likewise, or `{error: {name, message}}`. Never rejects.
   */
  readonly run: (request: string, body: Uint8Array) => Promise<SubtleAnswer>;
}

export type SubtleAnswer = {
  readonly header: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array;
};

const NO_BYTES = new Uint8Array(0);

/** Creates the Web Crypto of one run; its keys never leave this process unless exported. */
export function createSubtleHost(): SubtleHost {
  const keys = new Map<number, AnyKey>();

  function keep(key: AnyKey): object {
    if (keys.size >= MAX_KEYS) throw new DOMException("too many keys", "OperationError");
    const id = keys.size + 1;
    keys.set(id, key);
    const { type, extractable, algorithm, usages } = key;
    return { id, type, extractable, algorithm: describeAlgorithm(algorithm), usages };
  }

  function revive(value: unknown, body: Uint8Array): unknown {
    if (Array.isArray(value)) return value.map((item) => revive(item, body));
    if (typeof value !== "object" || value === null) return value;
    const fields = value as Record<string, unknown>;
    if (Array.isArray(fields["$bytes"])) {
      const [start, end] = fields["$bytes"] as number[];
      return body.slice(Number(start), Number(end));
    }
    if (typeof fields["$key"] === "number") {
      const key = keys.get(fields["$key"]);
      if (key === undefined) throw new TypeError("unknown key");
      return key;
    }
    return Object.fromEntries(Object.entries(fields).map(([name, item]) => [name, revive(item, body)]));
  }

  async function perform(request: string, body: Uint8Array): Promise<SubtleAnswer> {
    const { op, args } = JSON.parse(request) as { op: unknown; args: unknown };
    const name = OPERATIONS.find((known) => known === op);
    if (name === undefined || !Array.isArray(args)) throw new TypeError("unknown operation");
    if (Number((args[0] as { outputLength?: unknown } | null)?.outputLength) > MAX_DIGEST_BITS)
      throw new DOMException(`outputLength is at most ${MAX_DIGEST_BITS}`, "OperationError");
    const method = webcrypto.subtle[name] as (...args: unknown[]) => Promise<unknown>;
    const result = await method.apply(webcrypto.subtle, revive(args, body) as unknown[]);
    const parts: Uint8Array[] = [];
    let length = 0;
    const describe = (value: unknown): unknown => {
      if (typeof value !== "object" || value === null) return value;
      if (value instanceof CryptoKey) return { $key: keep(value) };
      if (value instanceof ArrayBuffer) {
        parts.push(new Uint8Array(value));
        length += value.byteLength;
        return { $bytes: [length - value.byteLength, length] };
      }
      if (Array.isArray(value)) return value.map(describe);
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, describe(item)]));
    };
    return { header: { value: describe(result) }, body: Buffer.concat(parts) };
  }

  return {
    run: (request, body) =>
      perform(request, body).catch((error: unknown) => {
        const { name, message } = error instanceof Error ? error : new Error("operation failed");
        return { header: { error: { name, message } }, body: NO_BYTES };
      }),
  };
}

function describeAlgorithm(algorithm: object): unknown {
  return JSON.parse(
    JSON.stringify(algorithm, (_, value: unknown) =>
      value instanceof Uint8Array ? { $list: [...value] } : value,
    ),
  );
}
