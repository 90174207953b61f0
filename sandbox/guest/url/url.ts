import type { Internals } from "../internals.ts";
import { scalarString } from "../convert.ts";
import {
  exposeInterface,
  exposeStatics,
  moveToEnd,
  printForNode,
  printGetters,
  requireArguments,
} from "../webIdl.ts";
import { givePrototype } from "../shape.ts";
import { type Part, PARTS } from "./parts.ts";
import type { SearchParamsTools } from "./searchParams.ts";

type Parts = Record<Part, string>;

/** Creates `URL` (URL Standard, §6.1); the host parses. */
export function createUrl(
  native: Internals["native"],
  { URLSearchParams, attach, replace }: SearchParamsTools,
  blobUrls: { readonly create: (blob: unknown) => string; readonly revoke: (url: string) => void },
): new (url: unknown, base?: unknown) => object {
  const toParts = (list: string): Parts => {
    const values = JSON.parse(list) as string[];
    return Object.fromEntries(PARTS.map((part, at) => [part, values[at]])) as Parts;
  };
  const parseUrl = (url: string, base?: string): Parts | undefined => {
    const answer = native("urlParse", base === undefined ? { url } : { url, base }) as string;
    return answer === "" ? undefined : toParts(answer);
  };
  const setPart = (url: string, part: Part, value: string): Parts =>
    toParts(native("urlSet", { url, part, value }) as string);

  class URL {
    #parts: Parts;
    #queryObject: InstanceType<typeof URLSearchParams> | undefined;

    static parse(url: unknown, base: unknown = undefined): URL | null {
      requireArguments(arguments.length, 1, "Failed to execute 'URL.parse'");
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }
    static canParse(url: unknown, base: unknown = undefined): boolean {
      requireArguments(arguments.length, 1, "Failed to execute 'URL.canParse'");
      return parseUrl(scalarString(url), base === undefined ? undefined : scalarString(base)) !== undefined;
    }
    static createObjectURL(blob: unknown): string {
      requireArguments(arguments.length, 1, "Failed to execute 'createObjectURL' on 'URL'");
      return blobUrls.create(blob);
    }
    static revokeObjectURL(url: unknown): void {
      requireArguments(arguments.length, 1, "Failed to execute 'revokeObjectURL' on 'URL'");
      const text = scalarString(url);
      if (parseUrl(text, undefined) === undefined) throw new Error("relative URL without a base");
      blobUrls.revoke(text);
    }

    constructor(url: unknown, base: unknown = undefined) {
      requireArguments(arguments.length, 1, "Failed to construct 'URL'");
      const text = scalarString(url);
      const baseText = base === undefined ? undefined : scalarString(base);
      const parts = parseUrl(text, baseText);
      if (parts === undefined) {
        throw new TypeError(`Invalid URL: '${text}'${!baseText ? "" : ` with base '${baseText}'`}`);
      }
      this.#parts = parts;
    }
    #set(part: Part, value: unknown): void {
      const text = scalarString(value);
      const parts = part === "href" ? parseUrl(text) : setPart(this.#parts.href, part, text);
      if (parts === undefined) throw new TypeError(`Invalid URL: '${text}'`);
      this.#parts = parts;
      if (this.#queryObject !== undefined && (part === "search" || part === "href"))
        replace(this.#queryObject, parts.search);
    }
    static {
      // In alphabetical order, as in Deno's class.
      for (const part of PARTS.toSorted()) {
        const accessors = {
          get [part](): string {
            return (this as unknown as URL).#parts[part];
          },
          set [part](value: unknown) {
            requireArguments(arguments.length, 1, `Failed to set '${part}' on 'URL'`);
            (this as unknown as URL).#set(part, value);
          },
        };
        const descriptor = Object.getOwnPropertyDescriptor(accessors, part) as PropertyDescriptor;
        if (part === "origin") delete descriptor.set;
        Object.defineProperty(URL.prototype, part, { ...descriptor, enumerable: false });
      }
    }
    get searchParams(): object {
      if (this.#queryObject === undefined) {
        this.#queryObject = new URLSearchParams(this.#parts.search);
        attach(this.#queryObject, (text) => {
          this.#parts = setPart(this.#parts.href, "search", text);
        });
      }
      return this.#queryObject;
    }
    toString(): string {
      return this.#parts.href;
    }
    toJSON(): string {
      return this.#parts.href;
    }
  }

  // Deno checks nothing here.
  Object.defineProperty(URL.prototype, "searchParams", { enumerable: true });
  exposeInterface(URL);
  // Deno's class lists these after the parts.
  moveToEnd(URL, ["searchParams", "toString", "toJSON"]);
  for (const method of [URL.createObjectURL, URL.revokeObjectURL]) givePrototype(method);
  exposeStatics(URL, "canParse", "parse", "createObjectURL", "revokeObjectURL");
  printForNode(URL.prototype);
  printGetters(URL, [...PARTS.slice(0, -2), "hash", "search"]);
  return URL;
}
