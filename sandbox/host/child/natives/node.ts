import { constants } from "node:os";
import * as path from "node:path";
import * as url from "node:url";
import * as util from "node:util";
import { stripTypes } from "../compileTypeScript.ts";
import { library } from "./library.ts";
import type { Native } from "./native.ts";

/** What ends the host of an older URL. */
const HOST_END = /[\t\n\r "%';<>\\^`{|}#/?]/;
/** Deno ends a host before the first character that it can't have. */
const NO_HOST = /[^\w.+\-\u0080-\uffff]/;

/** Parses an older URL: what Deno takes for the path, not for the host, is made part of the path first. */
function parseLegacy(text: string, slashesDenoteHost = false): url.UrlWithStringQuery {
  const [, start = "", scheme = "", slashes, rest = ""] =
    /^(\s*([a-z0-9.+-]*:)?(\/\/)?)([^]*)$/i.exec(text) ?? [];
  const hasHost = slashes ? scheme !== "" || slashesDenoteHost : scheme !== "" && !SLASHED.test(scheme);
  if (!hasHost || /^javascript:/i.test(scheme)) return url.parse(text, false, slashesDenoteHost);
  const end = rest.search(/[#/?]/);
  const at = rest.slice(0, end < 0 ? rest.length : end).lastIndexOf("@") + 1;
  const length = rest.slice(at).search(HOST_END);
  const host = length < 0 ? rest.slice(at) : rest.slice(at, at + length);
  const [port = ""] = /:\d*$/.exec(host) ?? [];
  const name = host.slice(0, host.length - port.length);
  const wrong = /^\[.*\]$/.test(name) ? -1 : name.search(NO_HOST);
  // Node removes these characters, wherever they are.
  let last = rest.length;
  while (last > at + host.length && BLANKS.includes(rest[last - 1]!)) last -= 1;
  const tail = rest.slice(at + host.length, last).replace(/[\t\n\r]/g, encodeURIComponent);
  const isWhole = wrong < 0;
  const path = isWhole && !/^%0[9AD]/.test(tail) ? tail : `/${isWhole ? "" : name.slice(wrong)}${tail}`;
  return url.parse(
    `${start}${rest.slice(0, at)}${isWhole ? name : name.slice(0, wrong)}${port}${path}`,
    false,
    slashesDenoteHost,
  );
}
/** Missing in the types of `node:url`. */
interface Resolvable {
  resolveObject(to: object): object;
}
const BLANKS = "\t\n\f\r \u00a0\ufeff";
const SLASHED = /^(?:https?|ftp|gopher|file|wss?):$/i;

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

/** Puts variables in the order of the text that defines them: Node has them in the alphabet's. */
function inOrder(variables: object, text: string): object {
  const places = new Map<string, number>();
  for (const line of text.split("\n")) {
    const name = line
      .split("=", 1)[0]!
      .replace(/^\s*(?:export\s)?/, "")
      .trim();
    if (!places.has(name)) places.set(name, places.size);
  }
  const at = ([name]: readonly [string, unknown]): number => places.get(name) ?? -1;
  return Object.fromEntries(Object.entries(variables).sort((a, b) => at(a) - at(b)));
}

/**
 * Node's own `node:path`, the older functions of `node:url`, and some of `node:util`: functions of strings, so the guest needs no copy of them.
 * Paths are relative to the root, not to this process's directory.
 */
export const nodeNatives: Readonly<Record<string, Native>> = {
  stripTypes: ({ code, mode }) => stripTypes(String(code), mode === "strip" ? mode : "transform"),
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
    JSON.stringify(parseLegacy(String(text), slashesDenoteHost === true)),
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
    try {
      return url.pathToFileURL(full, { windows: true }).href;
    } catch (error) {
      // Deno has another name for the argument.
      (error as Error).message = (error as Error).message.replace("'path'", "'filepath'");
      throw error;
    }
  },
  /** `{parts}` → the URL. */
  legacyUrlFormat: ({ parts }) => url.format(parts as url.UrlObject),
  /** `{from, parts, to}` → the parts as JSON; `parts` of `from` differ from those that its text says. */
  legacyUrlResolve: ({ from, parts, to }) => {
    const source = Object.assign(parseLegacy(String(from), true), parts) as unknown as Resolvable;
    return JSON.stringify(source.resolveObject(parseLegacy(String(to), true)));
  },
  /** `{name, args}` → `{value}` as JSON. */
  util: ({ name, args }) => {
    const known = UTIL_FUNCTIONS.find((one) => one === name);
    if (known === undefined) throw new TypeError("unknown function of node:util");
    const value = (util[known] as (...args: unknown[]) => unknown)(...(args as unknown[]));
    return JSON.stringify({
      value: known === "parseEnv" ? inOrder(value as object, String((args as unknown[])[0])) : value,
    });
  },
  httpNames: () => {
    const { METHODS, STATUS_CODES } = library.http;
    return JSON.stringify({ METHODS, STATUS_CODES });
  },
  osConstants: () => JSON.stringify({ ...constants, signals: { ...constants.signals, SIGUNUSED: 31 } }),
  systemErrors: () => JSON.stringify([...util.getSystemErrorMap()]),
};
