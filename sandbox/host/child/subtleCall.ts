import { formatCallMessage } from "../net/callMessage.ts";
import { pemOf } from "./natives/cryptography.ts";
import { library } from "./natives/library.ts";
import type { Native } from "./natives/native.ts";

/** One run's Web Crypto calls, answered in this process. */
export interface SubtleCalls {
  /** Number of calls without an answer yet. */
  readonly pending: number;
  /** What `node:crypto` does with the keys. */
  readonly natives: SubtleHost["natives"];
  readonly run: (message: Uint8Array, answer: (answer: Uint8Array) => void) => void;
}

/**
 * Creates the calls of a run; keys live as long as the run.
 *
 * @param onRandom called before a call whose answer differs each time.
 */
export function createSubtleCalls(onRandom: () => void): SubtleCalls {
  const host = createSubtleHost(onRandom);
  let pending = 0;
  return {
    natives: host.natives,
    get pending() {
      return pending;
    },
    run: (message, answer) => {
      pending += 1;
      void answerSubtle(host, message).then((bytes) => {
        pending -= 1;
        answer(bytes);
      });
    },
  };
}

/** Answers a Web Crypto message with one of the same form. */
async function answerSubtle(host: SubtleHost, message: Uint8Array): Promise<Uint8Array> {
  const { header, body } = splitCall(message);
  const answer = await host.run(header, body);
  return formatCallMessage(answer.header, answer.body);
}

/** Splits a call's message into its header (JSON text) and its body; see `sandbox/guest/hostCalls.ts`. */
function splitCall(message: Uint8Array): { readonly header: string; readonly body: Uint8Array } {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const end = bytes.length < 4 ? bytes.length : Math.min(bytes.length, 4 + bytes.readUInt32BE(0));
  return { header: bytes.toString("utf8", 4, end), body: bytes.subarray(end) };
}

type AnyKey = CryptoKey;

/** Keys that one run may hold. */
const MAX_KEYS = 4_096;
/** Longest digest that a source may ask for, in bits. */
const MAX_DIGEST_BITS = 8 * 1024 * 1024;
/** Most threads of one Argon2. */
const MAX_PARALLELISM = 8;
/** Algorithms whose ciphertexts or signatures differ each time. */
const RANDOMIZED = /^(?:ECDSA|ML-DSA-\d+|RSA-PSS|RSA-OAEP)$/;
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
interface SubtleHost {
  /**
   * Runs one operation. `request` is JSON `{op, args}`; in `args`, `{"$bytes": [start, end]}` stands for a part of
   * `body` and `{"$key": id}` for a key named by an earlier answer.
   * @returns The answer: `{value}`, in which bytes and keys stand likewise, or `{error: {name, message}}`. Never rejects.
   */
  readonly run: (request: string, body: Uint8Array) => Promise<SubtleAnswer>;
  /** What `node:crypto` does with its keys. */
  readonly natives: Readonly<Record<string, Native>>;
}

type SubtleAnswer = {
  readonly header: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array;
};

const NO_BYTES = new Uint8Array(0);

/**
 * Creates the Web Crypto of one run; its keys never leave this process unless exported.
 *
 * @param onRandom called before an operation whose result differs each time.
 */
function createSubtleHost(onRandom: () => void): SubtleHost {
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
    const given = revive(args, body) as unknown[];
    assertModest(given[0]);
    if (isRandom(name, given)) onRandom();
    const { subtle } = crypto;
    const method = subtle[name] as (...args: unknown[]) => Promise<unknown>;
    const result = await method.apply(subtle, given);
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

  const natives: SubtleHost["natives"] = {
    /** `{id}` → the bytes of a secret, or PEM. */
    webKeyRead: ({ id }) => {
      const key = library.crypto.KeyObject.from(keys.get(Number(id)) as AnyKey);
      return key.type === "secret" ? key.export() : pemOf(key);
    },
    /** `{type, key, algorithm, extractable, usages}`, `key` as PEM, or the bytes of a secret → the key's fields. */
    webKeyMake: ({ type, key, algorithm, extractable, usages }, body) => {
      const { createPublicKey, createPrivateKey, createSecretKey } = library.crypto;
      const made =
        type === "secret"
          ? createSecretKey(body)
          : (type === "public" ? createPublicKey : createPrivateKey)(String(key));
      return JSON.stringify(
        keep(made.toCryptoKey(algorithm as "HKDF", extractable === true, usages as never)),
      );
    },
  };

  return {
    natives,
    run: (request, body) =>
      perform(request, body).catch((error: unknown) => {
        const { name, message } = error instanceof Error ? error : new Error("operation failed");
        return { header: { error: { name, message } }, body: NO_BYTES };
      }),
  };
}

/** Whether an operation's result differs each time: by the keys themselves, as an algorithm's name can be written in many ways. */
function isRandom(op: (typeof OPERATIONS)[number], args: readonly unknown[]): boolean {
  if (op === "generateKey" || op === "encapsulateBits" || op === "encapsulateKey") return true;
  const isWriting = op === "encrypt" || op === "sign" || op === "wrapKey";
  return isWriting && args.some((arg) => arg instanceof CryptoKey && RANDOMIZED.test(arg.algorithm.name));
}

/** Refuses what would take memory or threads out of proportion. */
function assertModest(algorithm: unknown): void {
  const { outputLength = 0, parallelism = 0 } = Object(algorithm) as Record<string, unknown>;
  for (const [name, value, most] of [
    ["outputLength", outputLength, MAX_DIGEST_BITS],
    ["parallelism", parallelism, MAX_PARALLELISM],
  ] as const)
    if (!(Number(value) <= most)) throw new DOMException(`${name} is at most ${most}`, "OperationError");
}

function describeAlgorithm(algorithm: object): unknown {
  return JSON.parse(
    JSON.stringify(algorithm, (_, value: unknown) =>
      value instanceof Uint8Array ? { $list: [...value] } : value,
    ),
  );
}
