import { makeIterable } from "../pairIterator.ts";
import { exposeInterface, readPairs, requireArguments, toText } from "../webIdl.ts";

type Pair = [name: string, value: string];

/** Fetch Standard, §5.1: `Headers`; iteration yields lower-case names, sorted, with repeated values joined. */
export class Headers {
  #list: Pair[] = [];
  /** Set for responses that the platform creates (`fetch`, redirects); callers never construct immutable headers. */
  #immutable = false;

  static fromList(list: readonly (readonly [string, string])[], immutable = false): Headers {
    const headers = new Headers();
    headers.#list = list.map(([name, value]) => [name, value]);
    headers.#immutable = immutable;
    return headers;
  }
  static sortedOf(headers: Headers): readonly Pair[] {
    return headers.#sorted();
  }
  static listOf(headers: Headers): readonly Pair[] {
    return headers.#list;
  }

  constructor(init: unknown = undefined) {
    if (init === undefined || init === null) {
      if (init === null)
        throw new TypeError(
          "Failed to construct 'Headers': The provided value is not of type '(sequence<sequence<ByteString>> or record<ByteString, ByteString>)'",
        );
      return;
    }
    if (typeof init !== "object" && typeof init !== "function") {
      throw new TypeError(
        "Failed to construct 'Headers': The provided value is not of type '(sequence<sequence<ByteString>> or record<ByteString, ByteString>)'",
      );
    }
    const pairs =
      init instanceof Headers
        ? init.#list
        : readPairs(init, (item) => `Invalid header: length must be 2, but is ${item.length}`);
    for (const [name, value] of pairs) this.#append(name, value);
  }
  #append(name: unknown, value: unknown): void {
    const [key, text] = checkHeader(name, value);
    this.#assertMutable();
    const known = this.#list.find(([other]) => other.toLowerCase() === key.toLowerCase());
    this.#list.push([known?.[0] ?? key, text]);
  }
  #assertMutable(): void {
    if (this.#immutable) throw new TypeError("Cannot change headers: headers are immutable");
  }
  append(name: unknown, value: unknown): void {
    requireArguments(arguments.length, 2, "Failed to execute 'append' on 'Headers'");
    this.#append(name, value);
  }
  delete(name: unknown): void {
    requireArguments(arguments.length, 1, "Failed to execute 'delete' on 'Headers'");
    const key = checkName(name);
    this.#assertMutable();
    this.#list = this.#list.filter(([other]) => other.toLowerCase() !== key);
  }
  get(name: unknown): string | null {
    requireArguments(arguments.length, 1, "Failed to execute 'get' on 'Headers'");
    const key = checkName(name);
    const values = this.#list.filter(([other]) => other.toLowerCase() === key).map(([, value]) => value);
    return values.length === 0 ? null : values.join(", ");
  }
  getSetCookie(): string[] {
    return this.#list.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]) => value);
  }
  has(name: unknown): boolean {
    requireArguments(arguments.length, 1, "Failed to execute 'has' on 'Headers'");
    const key = checkName(name);
    return this.#list.some(([other]) => other.toLowerCase() === key);
  }
  set(name: unknown, value: unknown): void {
    requireArguments(arguments.length, 2, "Failed to execute 'set' on 'Headers'");
    const [key, text] = checkHeader(name, value);
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
  forEach(
    callback: (value: string, name: string, headers: Headers) => void,
    thisArg: unknown = undefined,
  ): void {
    requireArguments(arguments.length, 1, "Failed to execute 'forEach' on 'Headers'");
    for (const [name, value] of this.#sorted()) callback.call(thisArg, value, name, this);
  }
}

export const { fromList, listOf } = Headers;
const { sortedOf } = Headers;
delete (Headers as { sortedOf?: unknown }).sortedOf;
delete (Headers as { fromList?: unknown }).fromList;
delete (Headers as { listOf?: unknown }).listOf;
exposeInterface(Headers);
Object.defineProperty(Headers, "length", { value: 0, configurable: true });
makeIterable(Headers, "Headers", sortedOf);
Object.defineProperty(Headers.prototype, Symbol.for("Deno.privateCustomInspect"), {
  configurable: true,
  value(this: Headers, inspect: (value: unknown, options?: object) => string, options: object) {
    return `Headers ${inspect(Object.fromEntries(sortedOf(this)), options)}`;
  },
});

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

function checkName(name: unknown): string {
  const text = toText(name);
  if (!TOKEN.test(text)) throw new TypeError(`Invalid header name: "${text}"`);
  return text.toLowerCase();
}

function checkHeader(name: unknown, value: unknown): [string, string] {
  const key = toText(name);
  const text = toText(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (!TOKEN.test(key)) throw new TypeError(`Invalid header name: "${key}"`);
  // eslint-disable-next-line no-control-regex
  if (/[\0\n\r]|[^\u0000-\u00ff]/.test(text)) throw new TypeError(`Invalid header value: "${text}"`);
  return [key, text];
}
