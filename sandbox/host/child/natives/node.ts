import { METHODS, STATUS_CODES } from "node:http";
import { constants } from "node:os";
import * as path from "node:path";
import * as url from "node:url";
import * as util from "node:util";
import type { Native } from "./native.ts";

/** Missing in the types of `node:url`. */
const { resolveObject } = url as unknown as { resolveObject: (from: string, to: string) => object };

const PATH_METHODS = [
  "normalize",
  "isAbsolute",
  "join",
  "resolve",
  "relative",
  "toNamespacedPath",
  "dirname",
  "basename",
  "extname",
  "parse",
] as const;

const UTIL_FUNCTIONS = [
  "diff",
  "getSystemErrorName",
  "getSystemErrorMessage",
  "parseArgs",
  "parseEnv",
  "stripVTControlCharacters",
  "styleText",
] as const;

/**
 * Node's own `node:path`, the older functions of `node:url`, and some of `node:util`: functions of strings, so the guest needs no copy of them.
 * Paths are relative to the root, not to this process's directory.
 */
export const nodeNatives: Readonly<Record<string, Native>> = {
  /** `{style, method, args}` → the result as JSON. */
  path: ({ style, method, args }) => {
    const name = PATH_METHODS.find((known) => known === method);
    if (name === undefined) throw new TypeError("unknown function of node:path");
    const library = style === "win32" ? path.win32 : path.posix;
    const resolve = (...paths: readonly string[]): string => library.resolve(library.sep, ...paths);
    const texts = (args as unknown[]).map(String);
    const [first = "", second = ""] = texts;
    if (name === "resolve") return JSON.stringify(resolve(...texts));
    if (name === "relative") {
      // On Windows a path right below a root without a drive has no relative form.
      const from = style === "win32" ? "\\_" : "/";
      return JSON.stringify(library.relative(library.resolve(from, first), library.resolve(from, second)));
    }
    if (name === "toNamespacedPath") {
      const resolved = resolve(first);
      return JSON.stringify(resolved.length > 2 ? library.toNamespacedPath(resolved) : first);
    }
    return JSON.stringify((library[name] as (...args: string[]) => unknown)(...texts));
  },
  /** `{text, slashesDenoteHost}` → the parts as JSON. */
  legacyUrlParse: ({ text, slashesDenoteHost }) => {
    const parse = (value: string) => JSON.stringify(url.parse(value, false, slashesDenoteHost === true));
    try {
      return parse(String(text));
    } catch (error) {
      // Deno ends a host before the first character that it can't have; the rest is the path.
      const [start, host] = /^[^/?#]*\/\/(?:[^/?#]*@)?([\w.+\-\u0080-\uffff]*)/u.exec(String(text)) ?? [];
      if (start === undefined || host === undefined) throw error;
      return parse(`${start}/${String(text).slice(start.length)}`);
    }
  },
  /** `{path, windows}` → the `file:` URL. */
  fileUrl: ({ path: given, windows }) => {
    const text = String(given);
    if (windows !== true)
      return url.pathToFileURL(`${path.posix.resolve("/", text)}${/[^/]\/$/.test(text) ? "/" : ""}`, {
        windows: false,
      }).href;
    const { resolve } = path.win32;
    const full = text.startsWith("\\\\")
      ? text
      : resolve("\\", text) + (/[^/\\][/\\]$/.test(text) ? "\\" : "");
    return url.pathToFileURL(full, { windows: true }).href;
  },
  /** `{parts}` → the URL. */
  legacyUrlFormat: ({ parts }) => url.format(parts as url.UrlObject),
  /** `{from, to}` → the parts as JSON. */
  legacyUrlResolve: ({ from, to }) => JSON.stringify(resolveObject(String(from), String(to))),
  /** `{name, args}` → `{value}` as JSON. */
  util: ({ name, args }) => {
    const known = UTIL_FUNCTIONS.find((one) => one === name);
    if (known === undefined) throw new TypeError("unknown function of node:util");
    return JSON.stringify({
      value: (util[known] as (...args: unknown[]) => unknown)(...(args as unknown[])),
    });
  },
  httpNames: () => JSON.stringify({ METHODS, STATUS_CODES }),
  osConstants: () => JSON.stringify(constants),
  systemErrors: () => JSON.stringify([...util.getSystemErrorMap()]),
};
