import {
  exposeInterface,
  exposeInternals,
  illegalConstructor,
  moveToEnd,
  printGetters,
  wrongThis,
} from "../webIdl.ts";

/** What the host reports about a key that it holds. */
export interface KeyFields {
  readonly id: number;
  readonly type: string;
  readonly extractable: boolean;
  readonly algorithm: object;
  readonly usages: readonly string[];
}

/** Token known only to our own code, which uses it to construct classes that refuse `new`. */
export const SECRET = {};

/** Whether a value is a key. */
export let isKey: (value: object) => boolean;
/** Returns the fields of a key. */
export let fieldsOf: (key: CryptoKey) => KeyFields;

/** Web Cryptography, §13: `CryptoKey`. */
export class CryptoKey {
  readonly #fields: KeyFields;
  readonly #algorithm: object;
  readonly #usages: readonly string[];
  static {
    fieldsOf = (key) => key.#fields;
    isKey = (value) => #fields in value;
  }
  constructor(secret?: unknown, fields?: KeyFields) {
    if (secret !== SECRET || fields === undefined) throw illegalConstructor();
    this.#fields = fields;
    this.#algorithm = Object.freeze(reviveAlgorithm(fields.algorithm) as object);
    const usages = [...fields.usages];
    this.#usages = Object.freeze(usages[0]?.endsWith("capsulateKey") ? usages.sort() : usages);
  }
  get type(): string {
    return this.#fields.type;
  }
  get extractable(): boolean {
    return this.#fields.extractable;
  }
  get algorithm(): object {
    return this.#algorithm;
  }
  get usages(): readonly string[] {
    return this.#usages;
  }
}
Object.defineProperty(CryptoKey, "length", { value: 0, configurable: true });
exposeInterface(CryptoKey, "CryptoKey", false, wrongThis("expected CryptoKey"));
exposeInternals(CryptoKey, "exportNodeMaterial/1 fromCloneData/1 importSync/5");
moveToEnd(CryptoKey, ["type", "extractable", "usages", "algorithm"]);
printGetters(CryptoKey, ["type", "extractable", "algorithm", "usages"]);

/** Restores an algorithm from the host's JSON, with its members in Web Crypto's order: name, length or curve, hash. */
function reviveAlgorithm(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  if (Array.isArray(fields["$list"])) return Uint8Array.from(fields["$list"] as number[]);
  const order = ["name", "modulusLength", "length", "namedCurve", "hash", "publicExponent"];
  const keys = Object.keys(fields).sort((a, b) => order.indexOf(a) - order.indexOf(b));
  return Object.freeze(Object.fromEntries(keys.map((key) => [key, reviveAlgorithm(fields[key])])));
}
