import { domainToASCII, domainToUnicode } from "node:url";
import type { Native } from "./native.ts";

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

/** Schemes whose hosts are domains. */
const SPECIAL = /^(?:https?|wss?|ftp|file):$/;
/** Stands for `^` in a path, which the platform escapes and Deno doesn't. */
const CARET = "\uf8ff";
const ESCAPED_CARET = encodeURIComponent(CARET);

/** Whether Deno takes a domain: the platform checks names that are encoded already only beside one that isn't. */
const isDomain = (domain: string): boolean =>
  !/(?:^|\.)xn--/i.test(domain) || domainToASCII(`\u00e9.${domain}`) !== "";
const isHost = ({ protocol, hostname }: URL): boolean => !SPECIAL.test(protocol) || isDomain(hostname);

/** Returns the parts of a URL that is made of texts, to each of which `make` applies what it is given; an empty text if it is invalid. */
function partsOf(make: (marked: (text: string) => string) => URL | null): string {
  const url = make((text) => text);
  if (url === null || !isHost(url)) return "";
  const parts: Record<Part, string> = Object.fromEntries(PARTS.map((part) => [part, url[part]])) as never;
  const { href, protocol, pathname } = url;
  if (pathname.includes("%5E") && !pathname.includes(ESCAPED_CARET)) {
    const marked = make((text) => text.replaceAll("^", CARET));
    const path = marked?.pathname.replaceAll(ESCAPED_CARET, "^") ?? pathname;
    const hasAuthority = href.startsWith("//", protocol.length);
    const at = href.indexOf(pathname, hasAuthority ? href.indexOf("/", protocol.length + 2) : 0);
    parts.href = href.slice(0, at) + path + href.slice(at + pathname.length);
    parts.pathname = path;
  }
  return JSON.stringify(PARTS.map((part) => parts[part]));
}

const asText = (value: unknown): string => (typeof value === "string" ? value : "");

/** URLs, parsed by the platform. A parsed URL is the JSON list of its parts in the order of `PARTS`. */
export const urlNatives: Readonly<Record<string, Native>> = {
  /** `{url, base?}` → parts, or an empty text if invalid. */
  urlParse: ({ url, base }) => {
    return partsOf((marked) =>
      URL.parse(marked(asText(url)), base === undefined ? undefined : marked(asText(base))),
    );
  },
  /** `{url, part, value}` → parts after setting one. */
  urlSet: ({ url, part, value }) => {
    const name = PARTS.find((known) => known === part && known !== "origin") as
      | Exclude<Part, "origin">
      | undefined;
    const parts = partsOf((marked) => {
      const parsed = new URL(marked(String(url)));
      if (name !== undefined) parsed[name] = marked(String(value));
      return parsed;
    });
    return parts === "" ? partsOf((marked) => new URL(marked(String(url)))) : parts;
  },
  /** `{input, base?, options}` → a URLPattern's parts as JSON. */
  urlPattern: ({ input, base, options }) => {
    const pattern = makePattern(input, base, options);
    return JSON.stringify(
      Object.fromEntries(
        [
          "protocol",
          "username",
          "password",
          "hostname",
          "port",
          "pathname",
          "search",
          "hash",
          "hasRegExpGroups",
        ].map((key) => [key, (pattern as unknown as Record<string, unknown>)[key]]),
      ),
    );
  },
  /** `{input, base?, options, target, targetBase?}` → the match as JSON, or `null`. */
  urlPatternExec: ({ input, base, options, target, targetBase }) => {
    const targetText = targetBase === undefined ? undefined : asText(targetBase);
    // Node matches a text that is no URL as if it were an empty one.
    if (typeof target === "string" && !URL.canParse(target, targetText)) return "null";
    return JSON.stringify(
      makePattern(input, base, options).exec(target as string, targetText),
      // A group that took no part is undefined, which JSON has no word for; the guest knows that a group is never null.
      (_, value: unknown) => (value === undefined ? null : value),
    );
  },
  domainToAscii: ({ domain }) => (isDomain(String(domain)) ? domainToASCII(String(domain)) : ""),
  /** Deno keeps what it can of a wrong domain. */
  domainToUnicode: ({ domain }) =>
    domainToUnicode(String(domain)) || String(domain).replace(/[^\0-\x7f]/gu, "\ufffd"),
};

function makePattern(input: unknown, base: unknown, options: unknown): URLPattern {
  return base === undefined
    ? new URLPattern(input as string, options as never)
    : new URLPattern(input as string, asText(base), options as never);
}
