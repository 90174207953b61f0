import { makeIterable } from "../pairIterator.ts";
import { itemsOf, scalarString, withCode } from "../convert.ts";
import { type Inspect, exposeInterface, moveToEnd, printForNode, printWith, wrongThis } from "../webIdl.ts";
import type { FormEncoding, Pair } from "./form.ts";

/** Checks the number of arguments, with Node's message. */
function requireNamed(given: number, required: 1 | 2): void {
  if (given >= required) return;
  const names = required === 1 ? '"name" argument' : '"name" and "value" arguments';
  throw withCode(new TypeError(`The ${names} must be specified`), "ERR_MISSING_ARGS");
}

/** Reads a list of pairs, or a record; of its names that become the same, the last one's value counts. */
function readPairs(init: object): Pair[] {
  const method = (init as Partial<Iterable<unknown>>)[Symbol.iterator] as unknown;
  if (method === undefined || method === null) {
    const pairs = new Map<string, string>();
    for (const key of Reflect.ownKeys(init))
      if (Object.getOwnPropertyDescriptor(init, key)?.enumerable === true)
        pairs.set(scalarString(key), scalarString((init as Record<PropertyKey, unknown>)[key]));
    return [...pairs];
  }
  if (typeof method !== "function")
    throw withCode(new TypeError("Query pairs must be iterable"), "ERR_ARG_NOT_ITERABLE");
  const noTuple = (): Error =>
    withCode(new TypeError("Each query pair must be an iterable [name, value] tuple"), "ERR_INVALID_TUPLE");
  // As they are now, `call` included: a source may have replaced how lists are iterated.
  const call = Reflect.get(method, "call") as unknown;
  if (typeof call !== "function") throw new TypeError("t.call is not a function");
  const items = Reflect.apply(call, method, [init]) as object | undefined | null;
  if (items === undefined || items === null || typeof Reflect.get(items, "next") !== "function")
    throw noTuple();
  const pairs: Pair[] = [];
  for (;;) {
    const step = Reflect.apply(Reflect.get(items, "next") as () => unknown, items, []) as
      | IteratorResult<unknown>
      | undefined
      | null;
    if (step === undefined || step === null) throw noTuple();
    if (step.done === true) return pairs;
    const item = step.value as object | null;
    const isObject = (typeof item === "object" && item !== null) || typeof item === "function";
    if (!isObject || typeof (item as Partial<Iterable<unknown>>)[Symbol.iterator] !== "function")
      throw noTuple();
    const pair = itemsOf(item).map((part) => scalarString(part));
    if (pair.length !== 2) throw noTuple();
    pairs.push(pair as unknown as Pair);
  }
}

/** `URLSearchParams`, and the functions by which `URL` keeps one in sync with its query. */
export type SearchParamsTools = ReturnType<typeof createSearchParams>;

/** Creates `URLSearchParams` (URL Standard, §6.2). */
export function createSearchParams(form: FormEncoding) {
  let pairsOf: (params: URLSearchParams) => Pair[];
  let isParams: (value: object) => boolean;
  let attach: (params: URLSearchParams, onChange: (text: string) => void) => void;
  let replace: (params: URLSearchParams, query: string) => void;
  const refuse = wrongThis('Value of "this" must be of type URLSearchParams');
  const parseQuery = (query: string): Pair[] => form.parse(query.replace(/^\?/, ""));

  class URLSearchParams {
    #pairs: Pair[] = [];
    #onChange: ((text: string) => void) | undefined;
    static {
      pairsOf = (params) => params.#pairs;
      isParams = (value) => #pairs in value;
      attach = (params, onChange) => {
        params.#onChange = onChange;
      };
      replace = (params, query) => {
        params.#pairs = parseQuery(query);
      };
    }
    constructor(init: unknown = "") {
      if ((typeof init === "object" || typeof init === "function") && init !== null) {
        this.#pairs = readPairs(init);
      } else this.#pairs = parseQuery(scalarString(init));
    }
    #changed(): void {
      this.#onChange?.(this.toString());
    }
    get size(): number {
      return this.#pairs.length;
    }
    append(name: unknown, value: unknown): void {
      requireNamed(arguments.length, 2);
      this.#pairs.push([scalarString(name), scalarString(value)]);
      this.#changed();
    }
    delete(name: unknown, value: unknown = undefined): void {
      requireNamed(arguments.length, 1);
      const key = scalarString(name);
      this.#pairs = this.#pairs.filter(
        (pair) => pair[0] !== key || (value !== undefined && pair[1] !== scalarString(value)),
      );
      this.#changed();
    }
    get(name: unknown): string | null {
      requireNamed(arguments.length, 1);
      const key = scalarString(name);
      return this.#pairs.find((pair) => pair[0] === key)?.[1] ?? null;
    }
    getAll(name: unknown): string[] {
      requireNamed(arguments.length, 1);
      const key = scalarString(name);
      return this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]);
    }
    has(name: unknown, value: unknown = undefined): boolean {
      requireNamed(arguments.length, 1);
      const key = scalarString(name);
      return this.#pairs.some(
        (pair) => pair[0] === key && (value === undefined || pair[1] === scalarString(value)),
      );
    }
    set(name: unknown, value: unknown): void {
      requireNamed(arguments.length, 2);
      const key = scalarString(name);
      const text = scalarString(value);
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
      return form.serialize(this.#pairs);
    }
  }
  moveToEnd(URLSearchParams, "append delete getAll get has set sort toString size".split(" "));
  makeIterable(URLSearchParams, "URLSearchParams", pairsOf);

  const print = (self: URLSearchParams, inspect: Inspect, options: object): string => {
    if (!isParams(self)) throw refuse();
    const pairs = pairsOf(self);
    const { depth, breakLength } = (options ?? {}) as { depth?: unknown; breakLength?: unknown };
    if (typeof depth === "number" && depth < 0) return "[Object]";
    if (pairs.length === 0) return "URLSearchParams {}";
    const shown = pairs.map(([name, value]) => `${inspect(name, options)} => ${inspect(value, options)}`);
    const line = `URLSearchParams { ${shown.join(", ")} }`;
    return typeof breakLength === "number" && line.length > breakLength
      ? `URLSearchParams {\n  ${shown.join(",\n  ")} }`
      : line;
  };
  printWith(URLSearchParams.prototype, print);
  printForNode(URLSearchParams.prototype, refuse);
  exposeInterface(URLSearchParams, "URLSearchParams", false, refuse);
  return { URLSearchParams, attach, replace };
}
