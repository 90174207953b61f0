import { makeIterable } from "../pairIterator.ts";
import { type Convert, byteString, record, sequence } from "../convert.ts";
import { exposeInterface, printWith, requireArguments } from "../webIdl.ts";

type Pair = [name: string, value: string];

/** Fetch Standard, §5.1: `Headers`; iteration yields lower-case names, sorted, with repeated values joined. */
export class Headers {
  #list: Pair[] = [];
  /** Set for responses that the platform creates (`fetch`, redirects); callers never construct immutable headers. */
  #immutable = false;

  static has(value: object): boolean {
    return #list in value;
  }
  static fromList(list: readonly (readonly [string, string])[], immutable = false): Headers {
    const headers = new Headers();
    headers.#list = list.map(([name, value]) => [name, value]);
    headers.#immutable = immutable;
    return headers;
  }
  static isImmutable(headers: Headers): boolean {
    return headers.#immutable;
  }
  static sortedOf(headers: Headers): readonly Pair[] {
    return headers.#sorted();
  }
  static listOf(headers: Headers): readonly Pair[] {
    return headers.#list;
  }

  constructor(init: unknown = undefined) {
    if (init !== undefined)
      for (const [name, value] of readHeaders(init, "Failed to construct 'Headers'", "Argument 1"))
        this.#append(name, value);
  }
  #append(name: string, value: string): void {
    const [key, text] = checkHeader(name, value);
    if (this.#immutable) throw new TypeError("Cannot change header: headers are immutable");
    const known = this.#list.find(([other]) => other.toLowerCase() === key.toLowerCase());
    this.#list.push([known?.[0] ?? key, text]);
  }
  #assertMutable(): void {
    if (this.#immutable) throw new TypeError("Cannot change headers: headers are immutable");
  }
  append(name: unknown, value: unknown): void {
    const prefix = "Failed to execute 'append' on 'Headers'";
    requireArguments(arguments.length, 2, prefix);
    this.#append(byteString(name, prefix, "Argument 1"), byteString(value, prefix, "Argument 2"));
  }
  delete(name: unknown): void {
    const prefix = "Failed to execute 'delete' on 'Headers'";
    requireArguments(arguments.length, 1, prefix);
    const key = checkName(byteString(name, prefix, "Argument 1"));
    this.#assertMutable();
    this.#list = this.#list.filter(([other]) => other.toLowerCase() !== key);
  }
  get(name: unknown): string | null {
    const prefix = "Failed to execute 'get' on 'Headers'";
    requireArguments(arguments.length, 1, prefix);
    const key = checkName(byteString(name, prefix, "Argument 1"));
    const values = this.#list.filter(([other]) => other.toLowerCase() === key).map(([, value]) => value);
    return values.length === 0 ? null : values.join(", ");
  }
  getSetCookie(): string[] {
    return this.#list.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]) => value);
  }
  has(name: unknown): boolean {
    const prefix = "Failed to execute 'has' on 'Headers'";
    requireArguments(arguments.length, 1, prefix);
    const key = checkName(byteString(name, prefix, "Argument 1"));
    return this.#list.some(([other]) => other.toLowerCase() === key);
  }
  set(name: unknown, value: unknown): void {
    const prefix = "Failed to execute 'set' on 'Headers'";
    requireArguments(arguments.length, 2, prefix);
    const [key, text] = checkHeader(
      byteString(name, prefix, "Argument 1"),
      byteString(value, prefix, "Argument 2"),
    );
    this.#assertMutable();
    const lower = key.toLowerCase();
    const at = this.#list.findIndex(([other]) => other.toLowerCase() === lower);
    if (at < 0) this.#list.push([key, text]);
    else {
      (this.#list[at] as Pair)[1] = text;
      this.#list = this.#list.filter(([other], index) => index === at || other.toLowerCase() !== lower);
    }
  }
  #sorted(): Pair[] {
    const joined = new Map<string, string>();
    const cookies: Pair[] = [];
    for (const [name, value] of this.#list) {
      const key = name.toLowerCase();
      if (key === "set-cookie") cookies.push([key, value]);
      else joined.set(key, joined.has(key) ? `${joined.get(key)}, ${value}` : value);
    }
    return [...joined, ...cookies].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }
}

export const { fromList, isImmutable, listOf } = Headers;
/** Creates headers from pairs that were converted; unlike the constructor it looks up no iterator. */
export function fromPairs(pairs: readonly (readonly [string, string])[] = []): Headers {
  const headers = new Headers();
  for (const [name, value] of pairs) headers.append(name, value);
  return headers;
}
export const { has: isHeaders } = Headers as unknown as { has: (value: object) => value is Headers };
const { sortedOf } = Headers;
delete (Headers as { has?: unknown }).has;
delete (Headers as { isImmutable?: unknown }).isImmutable;
delete (Headers as { sortedOf?: unknown }).sortedOf;
delete (Headers as { fromList?: unknown }).fromList;
delete (Headers as { listOf?: unknown }).listOf;
makeIterable(Headers, "Headers", sortedOf);
exposeInterface(Headers);
Object.defineProperty(Headers, "length", { value: 0, configurable: true });
printWith(Headers.prototype as object, (self, inspect, options) => {
  const joined: Record<string, string> = {};
  if (Headers.prototype.isPrototypeOf(self))
    for (const [name, value] of self as Iterable<[string, string]>)
      joined[name] = Object.hasOwn(joined, name) ? `${joined[name]}, ${value}` : value;
  return `${self.constructor.name} ${inspect(joined, options)}`;
});

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

function checkName(name: string): string {
  if (!TOKEN.test(name)) throw new TypeError(`Invalid header name: "${name}"`);
  return name.toLowerCase();
}

function checkHeader(name: string, value: string): [string, string] {
  const text = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (!TOKEN.test(name)) throw new TypeError(`Invalid header name: "${name}"`);
  // eslint-disable-next-line no-control-regex
  if (/[\0\n\r]/.test(text)) throw new TypeError(`Invalid header value: "${text}"`);
  return [name, text];
}

const readPairs = sequence(sequence(byteString));
const readRecord = record(byteString, byteString);

/** Converts to `HeadersInit`: headers, pairs or a record, as pairs. */
export const readHeaders: Convert<readonly (readonly [string, string])[]> = (value, prefix, context) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null)
    throw new TypeError(
      `${prefix}: ${context} The provided value is not of type '(sequence<sequence<ByteString>> or record<ByteString, ByteString>)'`,
    );
  const method = (value as Partial<Iterable<unknown>>)[Symbol.iterator];
  if (method === undefined) return readRecord(value, prefix, context);
  return readPairs(value, prefix, context).map((pair) => {
    if (pair.length !== 2) throw new TypeError(`Invalid header: length must be 2, but is ${pair.length}`);
    return [pair[0] as string, pair[1] as string];
  });
};
