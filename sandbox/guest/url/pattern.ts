import type { Internals } from "../internals.ts";
import { boolean, dictionary, string } from "../convert.ts";
import { PATTERN_PARTS as PARTS } from "./parts.ts";
import { defineGetters, exposeInterface, printGetters, requireArguments } from "../webIdl.ts";

const GETTERS = [...PARTS, "hasRegExpGroups"];

const readInit = dictionary<object>(
  "URLPatternInit",
  Object.fromEntries(["baseURL", ...PARTS].sort().map((part) => [part, [string]])),
);
const readOptions = dictionary<object>("URLPatternOptions", { ignoreCase: [boolean, false] });

/** Returns what Deno says of a pattern that can't be compiled, as far as its text shows it. */
function defectOf(input: string | object, hasBase: boolean): string | undefined {
  if (typeof input === "string") {
    const relative = hasBase
      ? "relative URL without a base"
      : "a relative input without a base URL is not valid";
    const isRelative = !/^[\w+.{}?*: -]+?:\/\//.test(input) && !/^[\w+.-]+:(?!.*[*{(:])/.test(input);
    const reason = isRelative ? relative : textDefect(input);
    return reason && `Failed to parse URLPattern from "${input}": ${reason}`;
  }
  const given = input as Readonly<Record<string, string>>;
  const parts = PARTS.filter((name) => given[name] !== undefined);
  // Deno can't tell which of several parts is meant.
  const [only] = parts.length === 1 ? parts : [];
  const failed = (reason: string): string =>
    only === undefined ? reason : `Failed to parse ${only} from "${given[only]}": ${reason}`;
  if (hasBase) return failed("specifying both an init object, and a separate base URL is not valid");
  if (given["baseURL"] !== undefined && !/^[a-z][a-z0-9+.-]*:/i.test(given["baseURL"]))
    return failed("relative URL without a base");
  for (const part of parts) {
    const text = given[part] as string;
    const reason = syntaxDefect(text) ?? partDefect(part, text);
    if (reason !== undefined) return failed(reason);
  }
  return undefined;
}

/** Says what is wrong with the parts of a text; places are counted in the part, which isn't shown. */
function textDefect(input: string): string | undefined {
  const found = TEXT.exec(input) as RegExpExecArray & { readonly groups: Record<string, string | undefined> };
  for (const part of PARTS) {
    const text = found.groups[part];
    if (text === undefined || text === "") continue;
    const reason = syntaxDefect(text)?.replace(/\n\n  (?!hint).*\n.*\^/, "") ?? partDefect(part, text);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
/** A URL's parts; a question mark after a group belongs to that. */
const TEXT =
  /^(?<protocol>(?:\{[^}]*\}|.)*?):(?:\/\/)?(?:[^@/?#]*@)?(?<hostname>(?:\[[^\]/?#]*\]?|\{[^}]*\}\??|:[a-z_$][\w$]*|[^/?#:{])*)(?::(?<port>[^/?#]*))?(?<pathname>(?:\\.|\((?!\?)[^)]*\)\??|[})*]\?|:\w+\?|[^?#])*)(?:\?(?<search>[^#]*))?(?:#(?<hash>.*))?$/s;

/** Says what is wrong with the plain text in a part. */
function partDefect(part: string, pattern: string): string | undefined {
  const text = pattern.replace(/(?<!\\):\w+|(?<!\\)\((?:[^\\)]|\\.)*\)|[*{}?+]|\\/g, "");
  if (text === "" && pattern !== "") return undefined;
  if (part === "protocol" && !/^[a-z][a-z0-9+.-]*$/i.test(text)) return "relative URL without a base";
  if (part === "port" && (!/^\d*$/.test(text) || Number(text) > MAX_PORT)) return "invalid port number";
  if (part === "hostname" && /\.\d+\.?$/.test(text)) return "invalid domain character";
  if (part === "hostname" && /[\0-\x20"#%<>?@[\]^`|/]/.test(text)) return "invalid domain character";
  return undefined;
}

const MAX_PORT = 65_535;

function syntaxDefect(text: string): string | undefined {
  const at = (index: number, reason: string): string =>
    `tokenizer error: ${reason} (at char ${index})\n\n  ${text}\n  ${" ".repeat(index)}^`;
  for (const { index } of text.matchAll(/(?<!\\):(?![A-Za-z_$])/g))
    return (
      at(index, "invalid name; must be at least length 1") +
      '\n\n  hint: ":" starts a named group and must be followed by a name (a letter or "_", then letters, digits or "_"). To match a literal ":", escape it as "\\:".'
    );
  if (/(?:^|[^\\])\\$/.test(text)) return at(text.length - 1, "incomplete escape code");
  for (const { index } of text.matchAll(/(?<!\\)\((?![^]*(?<!\\)\))/g))
    return at(index, "invalid regex: missing closing )");
  for (const { 0: group, index } of text.matchAll(/(?<!\\)\((?:[^()\\]|\\.)*[()]?/g)) {
    if (group === "()") return at(index, "invalid regex: length must be > 0");
    if (group.length > 1 && group.endsWith("("))
      return at(index, "invalid regex: nested groups must start with ?");
    if (group.startsWith("(?") || /[^\0-\x7f]/.test(group))
      return at(index, "invalid regex: must not start with ?, and may only contain ascii");
  }
  const second = /(?<!\\)\{[^}:]*:[A-Za-z_$][\w$]*[^}:]*:([A-Za-z_$][\w$]*)/.exec(text)?.[1];
  if (second !== undefined) return `parser error: expected token Close, found '${second}' of type Name`;
  const names = [...text.matchAll(/(?<!\\):([A-Za-z_$][\w$]*)/g)].map(([, name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) return `parser error: pattern contains duplicate name ${twice}`;
  const [opened, closed] = [/(?<!\\)\{/g, /(?<!\\)\}/g].map((brace) => [...text.matchAll(brace)].length);
  if ((opened as number) > (closed as number))
    return "parser error: expected token Close, found '' of type End";
  if ((closed as number) > (opened as number))
    return "parser error: expected token End, found '}' of type Close";
  const modifier = /^\/?([+?])/.exec(text)?.[1];
  if (modifier !== undefined)
    return `parser error: expected token End, found '${modifier}' of type OtherModifier`;
  for (const [, group = ""] of text.matchAll(/(?<!\\)\(((?:[^()\\]|\\.)*)\)/g))
    try {
      void new RegExp(group, "v");
    } catch {
      return "regexp error";
    }
  return undefined;
}

/** Deno's errors have no cause. */
const withoutCause = (message: string): Error => new TypeError(message);

/** Creates `URLPattern` (URL Pattern Standard); the host compiles and matches. */
export function createUrlPattern(native: Internals["native"]): new (...args: unknown[]) => object {
  class URLPattern {
    readonly #of: object;
    readonly #parts: Record<string, unknown>;
    static {
      defineGetters(URLPattern, GETTERS, (pattern: URLPattern) => pattern.#parts, ["test", "exec"]);
    }
    constructor(input: unknown = undefined, base: unknown = undefined, options: unknown = undefined) {
      const prefix = "Failed to construct 'URLPattern'";
      const hasBase = typeof base === "string";
      const isInit = typeof input === "object" || (input === undefined && !hasBase);
      const given = isInit ? readInit(input, prefix, "Argument 1") : string(input);
      this.#of = {
        input: given,
        ...(hasBase && { base }),
        options: hasBase
          ? readOptions(options, prefix, "Argument 3")
          : readOptions(base, prefix, "Argument 2"),
      };
      try {
        this.#parts = JSON.parse(native("urlPattern", this.#of) as string) as Record<string, unknown>;
      } catch (error) {
        throw withoutCause(defectOf(given, hasBase) ?? (error as Error).message);
      }
    }
    #match(target: unknown, targetBase: unknown): unknown {
      const text = typeof target === "object" ? readInit(target, "", "") : string(target);
      const base = targetBase === undefined ? undefined : string(targetBase);
      if (typeof text === "object" && base !== undefined)
        throw withoutCause("specifying both an init object, and a separate base URL is not valid");
      let answer: string;
      try {
        answer = native("urlPatternExec", {
          ...this.#of,
          target: text,
          ...(base !== undefined && { targetBase: base }),
        }) as string;
      } catch (error) {
        throw withoutCause((error as Error).message);
      }
      const match = JSON.parse(answer) as Record<string, { input: string; groups: object }> | null;
      if (match === null) return null;
      const inputs = typeof text === "object" ? [text] : match["inputs"];
      const parts = PARTS.map((part) => {
        const { input, groups } = match[part]!;
        const text = String(this.#parts[part]);
        // In the order of the pattern; a group that took no part is undefined.
        const found = Object.entries(groups)
          .sort(([a], [b]) => text.indexOf(`:${a}`) - text.indexOf(`:${b}`))
          .map(([name, value]) => [name, (value as unknown) ?? undefined]);
        return [part, { input, groups: Object.fromEntries(found) as object }];
      });
      return { inputs, ...(Object.fromEntries(parts) as object) };
    }
    test(target: unknown, targetBase: unknown = undefined): boolean {
      requireArguments(arguments.length, 1, "Failed to execute 'test' on 'URLPattern'");
      return this.#match(target, targetBase) !== null;
    }
    exec(target: unknown, targetBase: unknown = undefined): unknown {
      requireArguments(arguments.length, 1, "Failed to execute 'exec' on 'URLPattern'");
      return this.#match(target, targetBase);
    }
  }
  exposeInterface(URLPattern);
  Object.defineProperty(URLPattern, "length", { value: 1, configurable: true });
  printGetters(URLPattern, GETTERS);
  return URLPattern;
}
