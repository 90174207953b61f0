import { domainToASCII, domainToUnicode } from "node:url";
import { type Part, PARTS, PATTERN_PARTS } from "../../../guest/url/parts.ts";
import type { Native } from "./native.ts";

/** Schemes whose hosts are domains. */
const SPECIAL = /^(?:https?|wss?|ftp|file):$/;
/** Stands for what the platform escapes in a path and Deno doesn't: `^`, and spaces at the end of one that has no slashes. */
const MARK = "\uf8ff";
const ESCAPED_MARK = encodeURIComponent(MARK);

/** Whether Deno takes a domain: the platform checks names that are encoded already only beside one that isn't. */
const isDomain = (domain: string): boolean =>
  !/(?:^|\.)xn--/i.test(domain) || domainToASCII(`\u00e9.${domain}`) !== "";
const isHost = ({ protocol, hostname }: URL): boolean => !SPECIAL.test(protocol) || isDomain(hostname);

/** Returns the parts of a URL that is made of texts, to each of which `make` applies what it is given; an empty text if it is invalid. */
function partsOf(make: (marked: (text: string) => string) => URL | null): string {
  const url = make((text) => text);
  if (url === null || !isHost(url)) return "";
  // To Deno a drive has no host.
  if (url.protocol === "file:" && /^\/[a-z]:(?:\/|$)/i.test(url.pathname)) url.hostname = "";
  const parts: Record<Part, string> = Object.fromEntries(PARTS.map((part) => [part, url[part]])) as never;
  if (url.protocol === "blob:") parts.origin = blobOrigin(url);
  const { href, protocol, pathname } = url;
  // The segment that keeps such a path from being read as a host is one to Deno.
  if (pathname.startsWith("//") && href.startsWith("/.//", protocol.length))
    parts.host = parts.hostname = "/.";
  const isOpaque = !pathname.startsWith("/");
  const kept = pathname.includes("%5E") ? "^" : isOpaque && pathname.endsWith("%20") ? " " : undefined;
  if (kept !== undefined && !pathname.includes(ESCAPED_MARK)) {
    const marked = make((text) => text.replaceAll(kept, MARK));
    let path = marked?.pathname.replaceAll(ESCAPED_MARK, kept) ?? pathname;
    if (isOpaque && !/[?#]/.test(href)) path = path.trimEnd();
    const hasAuthority = href.startsWith("//", protocol.length);
    const at = href.indexOf(pathname, hasAuthority ? href.indexOf("/", protocol.length + 2) : 0);
    parts.href = href.slice(0, at) + path + href.slice(at + pathname.length);
    parts.pathname = path;
  }
  return JSON.stringify(PARTS.map((part) => parts[part]));
}

/** Deno looks into the blob's URL whatever its scheme, as long as that has origins. */
function blobOrigin({ pathname }: URL): string {
  const inner = URL.parse(pathname);
  return inner?.protocol === "blob:" ? blobOrigin(inner) : (inner?.origin ?? "null");
}

const asText = (value: unknown): string => (typeof value === "string" ? value : "");

/** URLs, parsed by the platform. A parsed URL is the JSON list of its parts in the order of `PARTS`. */
export const urlNatives: Readonly<Record<string, Native>> = {
  /** `{url, base?}` → parts, or an empty text if invalid. */
  urlParse: ({ url, base }) => {
    const parts = partsOf((marked) =>
      URL.parse(marked(asText(url)), base === undefined ? undefined : marked(asText(base))),
    );
    // The drive that a URL without a host names first stays as it is written.
    return /^\s*(?:file:)?[\\/]{3}[a-z]\|/i.test(asText(url)) && parts.includes("file:///")
      ? parts.replace(/(?<=file:\/\/\/[a-z]):/i, "|").replace(/(?<="\/[a-z]):/i, "|")
      : parts;
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
    if (parts === "") return partsOf((marked) => new URL(marked(String(url))));
    // Deno doesn't keep a path that begins with two slashes from being read as a host.
    return name === "pathname"
      ? parts.replace(/(?<=^\["[^/"]*:)\/\.(?=\/\/)/, "").replaceAll('"/."', '""')
      : parts;
  },
  /** `{input, base?, options}` → a URLPattern's parts as JSON. */
  urlPattern: ({ input, base, options }) => {
    const pattern = makePattern(input, base, options);
    return JSON.stringify(
      Object.fromEntries(([...PATTERN_PARTS, "hasRegExpGroups"] as const).map((key) => [key, pattern[key]])),
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
