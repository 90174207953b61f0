import type { Internals } from "../../internals.ts";
import { bytesOf } from "../../webIdl.ts";

interface BufferLike extends Uint8Array {
  toString(encoding?: string): string;
}

/** The part of Node's `Buffer` used here. */
export interface BufferType {
  from(value: unknown, encoding?: unknown): BufferLike;
}

/** `KeyObject`, and the functions that read one. */
export type KeyTools = ReturnType<typeof createKeys>;

/** Creates `KeyObject`; the host parses asymmetric keys. */
export function createKeys(native: Internals["native"], Buffer: BufferType) {
  /** A key: secret bytes, or PEM text. */
  class KeyObject {
    readonly type: string;
    readonly asymmetricKeyType: string | undefined;
    readonly asymmetricKeyDetails: object | undefined;
    readonly #value: Uint8Array | string;
    constructor(type: string, value: Uint8Array | string, kind?: string, details?: object) {
      this.type = type;
      this.#value = value;
      this.asymmetricKeyType = kind;
      this.asymmetricKeyDetails = details;
    }
    static reveal(key: KeyObject): Uint8Array | string {
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
  /** Returns a key as PEM text; takes text, bytes, `{ key }` or a key object. */
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
  return { KeyObject, valueOfKey, pemOf, createKey };
}
