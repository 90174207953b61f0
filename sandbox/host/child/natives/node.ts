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
  legacyUrlParse: ({ text, slashesDenoteHost }) =>
    JSON.stringify(url.parse(String(text), false, slashesDenoteHost === true)),
  /** `{path, windows}` → the `file:` URL. */
  fileUrl: ({ path: given, windows }) => {
    const { sep, resolve } = windows === true ? path.win32 : path.posix;
    const text = String(given);
    return url.pathToFileURL(`${resolve(sep, text)}${/[^/\\][/\\]$/.test(text) ? sep : ""}`, {
      windows: windows === true,
    }).href;
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
