import type { Internals } from "../internals.ts";
import { createUrlPattern } from "../url/pattern.ts";
import { makeIterable } from "../pairIterator.ts";
import {
  exposeInterface,
  exposeStatics,
  printGetters,
  readPairs,
  requireArguments,
  toScalarString,
} from "../webIdl.ts";

const PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;
type Part = (typeof PARTS)[number];
type Parts = Record<Part, string>;
type Pair = [string, string];

/** URL Standard: `URL`, `URLSearchParams`, and `URLPattern`; the parser is the host's. */
export default function urlChunk({ native, load, encodeUtf8 }: Internals): Readonly<Record<string, unknown>> {
  const toParts = (list: string): Parts => {
    const values = JSON.parse(list) as string[];
    return Object.fromEntries(PARTS.map((part, at) => [part, values[at]])) as Parts;
  };
  const parseUrl = (url: string, base?: string): Parts | undefined => {
    const answer = native("urlParse", base === undefined ? { url } : { url, base }) as string;
    return answer === "" ? undefined : toParts(answer);
  };
  const decodeUtf8 = (bytes: Uint8Array): string =>
    (load("text")["decodeUtf8"] as (bytes: Uint8Array, fatal: boolean, keepMark: boolean) => string)(
      bytes,
      false,
      true,
    );

  /** application/x-www-form-urlencoded, decoding one name or value. */
  function decodeForm(text: string): string {
    const spaced = text.replaceAll("+", " ");
    if (!spaced.includes("%")) return spaced;
    const bytes = encodeUtf8(spaced);
    const out = new Uint8Array(bytes.length);
    let length = 0;
    for (let at = 0; at < bytes.length; at++) {
      const pair = bytes[at] === 0x25 ? percentByte(bytes, at) : -1;
      out[length++] = pair < 0 ? (bytes[at] as number) : pair;
      if (pair >= 0) at += 2;
    }
    return decodeUtf8(out.subarray(0, length));
  }

  function encodeForm(text: string): string {
    let out = "";
    for (const byte of encodeUtf8(text)) {
      const character = String.fromCharCode(byte);
      if (character === " ") out += "+";
      else
        out += /[A-Za-z0-9*\-._]/.test(character)
          ? character
          : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    }
    return out;
  }

  const parseForm = (text: string): Pair[] =>
    text
      .split("&")
      .filter((part) => part !== "")
      .map((part) => {
        const equals = part.indexOf("=");
        return equals < 0
          ? [decodeForm(part), ""]
          : [decodeForm(part.slice(0, equals)), decodeForm(part.slice(equals + 1))];
      });

  let pairsOf: (params: URLSearchParams) => Pair[];
  let attach: (params: URLSearchParams, onChange: (text: string) => void) => void;
  let replace: (params: URLSearchParams, pairs: Pair[]) => void;

  class URLSearchParams {
    #pairs: Pair[] = [];
    #onChange: ((text: string) => void) | undefined;
    static {
      pairsOf = (params) => params.#pairs;
      attach = (params, onChange) => {
        params.#onChange = onChange;
      };
      replace = (params, pairs) => {
        params.#pairs = pairs;
      };
    }
    constructor(init: unknown = "") {
      if ((typeof init === "object" || typeof init === "function") && init !== null) {
        const text = "Each query pair must be an iterable [name, value] tuple";
        this.#pairs =
          init instanceof URLSearchParams
            ? pairsOf(init).map(([name, value]) => [name, value])
            : readPairs(init, () => text).map(([name, value]) => [
                toScalarString(name),
                toScalarString(value),
              ]);
      } else this.#pairs = parseForm(toScalarString(init).replace(/^\?/, ""));
    }
    #changed(): void {
      this.#onChange?.(this.toString());
    }
    get size(): number {
      return this.#pairs.length;
    }
    append(name: unknown, value: unknown): void {
      requireArguments(arguments.length, 2, "Failed to execute 'append' on 'URLSearchParams'");
      this.#pairs.push([toScalarString(name), toScalarString(value)]);
      this.#changed();
    }
    delete(name: unknown, value: unknown = undefined): void {
      requireArguments(arguments.length, 1, "Failed to execute 'delete' on 'URLSearchParams'");
      const key = toScalarString(name);
      this.#pairs = this.#pairs.filter(
        (pair) => pair[0] !== key || (value !== undefined && pair[1] !== toScalarString(value)),
      );
      this.#changed();
    }
    get(name: unknown): string | null {
      requireArguments(arguments.length, 1, "Failed to execute 'get' on 'URLSearchParams'");
      const key = toScalarString(name);
      return this.#pairs.find((pair) => pair[0] === key)?.[1] ?? null;
    }
    getAll(name: unknown): string[] {
      requireArguments(arguments.length, 1, "Failed to execute 'getAll' on 'URLSearchParams'");
      const key = toScalarString(name);
      return this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]);
    }
    has(name: unknown, value: unknown = undefined): boolean {
      requireArguments(arguments.length, 1, "Failed to execute 'has' on 'URLSearchParams'");
      const key = toScalarString(name);
      return this.#pairs.some(
        (pair) => pair[0] === key && (value === undefined || pair[1] === toScalarString(value)),
      );
    }
    set(name: unknown, value: unknown): void {
      requireArguments(arguments.length, 2, "Failed to execute 'set' on 'URLSearchParams'");
      const key = toScalarString(name);
      const text = toScalarString(value);
      const first = this.#pairs.find((pair) => pair[0] === key);
      if (first === undefined) this.#pairs.push([key, text]);
      else {
        first[1] = text;
        this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== key);
      }
      this.#changed();
    }
    sort(): void {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }
    toString(): string {
      return this.#pairs.map(([name, value]) => `${encodeForm(name)}=${encodeForm(value)}`).join("&");
    }
    forEach(
      callback: (value: string, name: string, params: URLSearchParams) => void,
      thisArg: unknown = undefined,
    ): void {
      requireArguments(arguments.length, 1, "Failed to execute 'forEach' on 'URLSearchParams'");
      for (let at = 0; at < this.#pairs.length; at++) {
        const [name, value] = this.#pairs[at] as Pair;
        callback.call(thisArg, value, name, this);
      }
    }
  }
  makeIterable(URLSearchParams, "URLSearchParams", pairsOf);

  Object.defineProperty(URLSearchParams.prototype, Symbol.for("Deno.privateCustomInspect"), {
    value(this: URLSearchParams, inspect: (value: unknown) => string): string {
      const pairs = pairsOf(this);
      if (pairs.length === 0) return "URLSearchParams {}";
      return `URLSearchParams { ${pairs.map(([name, value]) => `${inspect(name)} => ${inspect(value)}`).join(", ")} }`;
    },
  });

  class URL {
    #parts: Parts;
    #params: URLSearchParams | undefined;

    static canParse(url: unknown, base: unknown = undefined): boolean {
      requireArguments(arguments.length, 1, "Failed to execute 'canParse' on 'URL'");
      return (
        parseUrl(toScalarString(url), base === undefined ? undefined : toScalarString(base)) !== undefined
      );
    }
    static parse(url: unknown, base: unknown = undefined): URL | null {
      requireArguments(arguments.length, 1, "Failed to execute 'parse' on 'URL'");
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }
    static createObjectURL(_blob: unknown): string {
      return `blob:null/${native("uuid", {}) as string}`;
    }
    static revokeObjectURL(_url: unknown): void {}

    constructor(url: unknown, base: unknown = undefined) {
      requireArguments(arguments.length, 1, "Failed to construct 'URL'");
      const text = toScalarString(url);
      const baseText = base === undefined ? undefined : toScalarString(base);
      const parts = parseUrl(text, baseText);
      if (parts === undefined) {
        throw new TypeError(
          `Invalid URL: '${text}'${baseText === undefined ? "" : ` with base '${baseText}'`}`,
        );
      }
      this.#parts = parts;
    }
    #set(part: Part, value: unknown): void {
      this.#parts = toParts(
        native("urlSet", { url: this.#parts.href, part, value: toScalarString(value) }) as string,
      );
      if (part === "search" || part === "href") this.#refresh();
    }
    #refresh(): void {
      if (this.#params !== undefined) replace(this.#params, parseForm(this.#parts.search.replace(/^\?/, "")));
    }
    get href(): string {
      return this.#parts.href;
    }
    set href(value: unknown) {
      const text = toScalarString(value);
      const parts = parseUrl(text);
      if (parts === undefined) throw new TypeError(`Invalid URL: '${text}'`);
      this.#parts = parts;
      this.#refresh();
    }
    get origin(): string {
      return this.#parts.origin;
    }
    get protocol(): string {
      return this.#parts.protocol;
    }
    set protocol(value: unknown) {
      this.#set("protocol", value);
    }
    get username(): string {
      return this.#parts.username;
    }
    set username(value: unknown) {
      this.#set("username", value);
    }
    get password(): string {
      return this.#parts.password;
    }
    set password(value: unknown) {
      this.#set("password", value);
    }
    get host(): string {
      return this.#parts.host;
    }
    set host(value: unknown) {
      this.#set("host", value);
    }
    get hostname(): string {
      return this.#parts.hostname;
    }
    set hostname(value: unknown) {
      this.#set("hostname", value);
    }
    get port(): string {
      return this.#parts.port;
    }
    set port(value: unknown) {
      this.#set("port", value);
    }
    get pathname(): string {
      return this.#parts.pathname;
    }
    set pathname(value: unknown) {
      this.#set("pathname", value);
    }
    get search(): string {
      return this.#parts.search;
    }
    set search(value: unknown) {
      this.#set("search", value);
    }
    get hash(): string {
      return this.#parts.hash;
    }
    set hash(value: unknown) {
      this.#set("hash", value);
    }
    get searchParams(): URLSearchParams {
      if (this.#params === undefined) {
        this.#params = new URLSearchParams(this.#parts.search);
        attach(this.#params, (text) => {
          this.#parts = toParts(
            native("urlSet", { url: this.#parts.href, part: "search", value: text }) as string,
          );
        });
      }
      return this.#params;
    }
    toString(): string {
      return this.#parts.href;
    }
    toJSON(): string {
      return this.#parts.href;
    }
  }

  const URLPattern = createUrlPattern(native);

  for (const type of [URL, URLSearchParams]) exposeInterface(type);
  // In the order in which Deno's class lists its members.
  for (const key of [
    "hash",
    "host",
    "hostname",
    "href",
    "origin",
    "password",
    "pathname",
    "port",
    "protocol",
    "search",
    "username",
    "searchParams",
    "toString",
    "toJSON",
  ]) {
    const descriptor = Object.getOwnPropertyDescriptor(URL.prototype, key) as PropertyDescriptor;
    delete (URL.prototype as unknown as Record<string, unknown>)[key];
    Object.defineProperty(URL.prototype, key, descriptor);
  }
  exposeStatics(URL, "canParse", "parse", "createObjectURL", "revokeObjectURL");
  printGetters(URL, [
    "href",
    "origin",
    "protocol",
    "username",
    "password",
    "host",
    "hostname",
    "port",
    "pathname",
    "hash",
    "search",
  ]);
  return { URL, URLSearchParams, URLPattern };
}

/** The byte that a `%xx` at `at` stands for; −1 when it is none. */
function percentByte(bytes: Uint8Array, at: number): number {
  const digit = (byte: number | undefined): number =>
    byte === undefined ? Number.NaN : Number.parseInt(String.fromCharCode(byte), 16);
  const value = digit(bytes[at + 1]) * 16 + digit(bytes[at + 2]);
  return Number.isNaN(value) ? -1 : value;
}
