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

const partsOf = (url: URL): string => JSON.stringify(PARTS.map((part) => url[part]));

const asText = (value: unknown): string => (typeof value === "string" ? value : "");

/** URLs, parsed by the platform. A parsed URL is the JSON list of its parts in the order of `PARTS`. */
export const urlNatives: Readonly<Record<string, Native>> = {
  /** `{url, base?}` → parts, or an empty text if invalid. */
  urlParse: ({ url, base }) => {
    const parsed = URL.parse(asText(url), base === undefined ? undefined : asText(base));
    return parsed === null ? "" : partsOf(parsed);
  },
  /** `{url, part, value}` → parts after setting one. */
  urlSet: ({ url, part, value }) => {
    const parsed = new URL(String(url));
    const name = PARTS.find((known) => known === part && known !== "origin") as
      | Exclude<Part, "origin">
      | undefined;
    if (name !== undefined) parsed[name] = String(value);
    return partsOf(parsed);
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
  urlPatternExec: ({ input, base, options, target, targetBase }) =>
    JSON.stringify(
      makePattern(input, base, options).exec(
        target as string,
        targetBase === undefined ? undefined : asText(targetBase),
      ),
      // A group that took no part is undefined, which JSON has no word for; the guest knows that a group is never null.
      (_, value: unknown) => (value === undefined ? null : value),
    ),
  domainToAscii: ({ domain }) => domainToASCII(String(domain)),
  domainToUnicode: ({ domain }) => domainToUnicode(String(domain)),
};

function makePattern(input: unknown, base: unknown, options: unknown): URLPattern {
  return base === undefined
    ? new URLPattern(input as string, options as never)
    : new URLPattern(input as string, asText(base), options as never);
}
