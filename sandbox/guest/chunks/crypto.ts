import { CryptoKey, type KeyFields, SECRET, fieldsOf, isKey } from "../crypto/key.ts";
import { createSubtle } from "../crypto/subtle.ts";
import type { Internals } from "../internals.ts";
import { givePrototype } from "../shape.ts";
import * as types from "../types.ts";
import {
  exposeInterface,
  exposeInternals,
  illegalConstructor,
  moveToEnd,
  printGetters,
  wrongThis,
} from "../webIdl.ts";

/** Web Cryptography: `crypto`, `CryptoKey`; the host does the work and keeps the keys. */
export default function cryptoChunk({
  native,
  hostCall,
  load,
  cloneRules,
  exception,
  decodeUtf8,
}: Internals): Readonly<Record<string, unknown>> {
  const SubtleCrypto = createSubtle(hostCall, exception, {
    atob: (text) => (load("text")["atob"] as (text: string) => string)(text),
    decodeUtf8,
  });
  cloneRules.add({ has: isKey, copy: (key: CryptoKey) => new CryptoKey(SECRET, fieldsOf(key)) });
  const subtle = new SubtleCrypto(SECRET);

  class Crypto {
    constructor(secret?: unknown) {
      if (secret !== SECRET) throw illegalConstructor();
    }
    getRandomValues(array: unknown): unknown {
      const name = types.typedArrayName(array);
      if (name === undefined || name.startsWith("Float")) {
        throw exception("The provided value is not an integer-type TypedArray", "TypeMismatchError");
      }
      const view = array as Uint8Array;
      if (view.byteLength > 65_536) {
        throw new (load("events")["QuotaExceededError"] as new (message: string) => Error)(
          `The ArrayBufferView's byte length (${view.byteLength}) exceeds the number of bytes of entropy available via this API (65536)`,
        );
      }
      new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(
        native("random", { bytes: view.byteLength }) as Uint8Array,
      );
      return array;
    }
    randomUUID(): string {
      return native("uuid", {}) as string;
    }
    get subtle(): object {
      return subtle;
    }
  }
  const crypto = new Crypto(SECRET);
  moveToEnd(Crypto, ["subtle", "getRandomValues", "randomUUID"]);
  exposeInterface(Crypto, "Crypto", false, wrongThis("expected Crypto"), { getRandomValues: 1 });
  exposeInternals(Crypto, "create/1 registerSymbols/3");
  givePrototype(Crypto.prototype.randomUUID);
  Object.defineProperty(Crypto, "length", { value: 0, configurable: true });
  printGetters(Crypto, ["subtle"]);
  /** For `node:crypto`. */
  const webKeys = {
    idOf: (value: unknown) => (isKey(Object(value) as object) ? fieldsOf(value as CryptoKey).id : undefined),
    create: (fields: KeyFields) => new CryptoKey(SECRET, fields),
  };
  return { crypto, Crypto, CryptoKey, SubtleCrypto, webKeys };
}
