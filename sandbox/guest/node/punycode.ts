/** `node:punycode`, deprecated: the package that Node has it from (RFC 3492), as Deno answers. */

import { decode, encode, ucs2decode, ucs2encode } from "punycode/punycode.es6.js";

const PREFIX = "xn--";

/** What isn't a text counts as none, and half a surrogate pair as U+FFFD, as in Deno. */
const textOf = (value: unknown): string => (typeof value === "string" ? value.toWellFormed() : "");

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/** Decodes with Deno's error; of what isn't ASCII it has the package's, unless it is part of a domain. */
function decodeLabel(label: string, isOfDomain: boolean): string {
  try {
    return decode(label);
  } catch (error) {
    throw !isOfDomain && (error as Error).message.startsWith("Illegal")
      ? error
      : new RangeError("Invalid input");
  }
}

/** Converts the labels of a domain, which follows an `@` if there is one. Of the characters that stand for a dot, Deno knows the dot. */
function convertLabels(value: unknown, convert: (label: string) => string): string {
  const [first, second] = textOf(value).split("@") as [string, string?];
  const labels = (second ?? first).split(".").map(convert).join(".");
  return second === undefined ? labels : `${first}@${labels}`;
}

/** Creates the module. */
export function createPunycode(): Readonly<Record<string, unknown>> {
  const names = {
    decode: (label: unknown) => decodeLabel(textOf(label), false),
    encode: (label: unknown) => encode(textOf(label)),
    toASCII: (domain: unknown) =>
      // What is ASCII as a whole stays, further `@` included.
      isAscii(textOf(domain))
        ? textOf(domain)
        : convertLabels(domain, (label) => (isAscii(label) ? label : PREFIX + encode(label))),
    toUnicode: (domain: unknown) =>
      convertLabels(domain, (label) =>
        label.startsWith(PREFIX) ? decodeLabel(label.slice(PREFIX.length).toLowerCase(), true) : label,
      ),
    ucs2: { decode: ucs2decode, encode: ucs2encode },
    version: "2.1.0",
  };
  return { ...names, default: names };
}
