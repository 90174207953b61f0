import { fromBase64 } from "../baseCodes.ts";

/** The content of a data URL. */
export interface DataUrl {
  /** MIME type, serialised. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Reads a data URL that the URL parser has serialised (Fetch Standard, data: URL processor); undefined if it is malformed. */
export function readDataUrl(href: string): DataUrl | undefined {
  const text = href.replace(/#.*$/s, "").slice("data:".length);
  const comma = text.indexOf(",");
  if (comma < 0) return undefined;
  let type = text.slice(0, comma).replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "");
  let bytes: Uint8Array | undefined = percentDecode(text.slice(comma + 1));
  const base64 = /; *base64$/i.exec(type);
  if (base64 !== null) {
    bytes = decodeBase64(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    if (bytes === undefined) return undefined;
    type = type.slice(0, base64.index);
  }
  return { type: serialiseMimeType(type.startsWith(";") ? `text/plain${type}` : type), bytes };
}

function percentDecode(text: string): Uint8Array {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const pair = text.slice(at + 1, at + 3);
    if (text[at] === "%" && /^[0-9a-fA-F]{2}$/.test(pair)) {
      bytes.push(Number.parseInt(pair, 16));
      at += 2;
    } else bytes.push(text.charCodeAt(at));
  }
  return Uint8Array.from(bytes);
}

/** Decodes base64 (Infra Standard, forgiving-base64 decode); undefined on failure. */
function decodeBase64(text: string): Uint8Array | undefined {
  const plain = text.replace(/[\t\n\f\r ]+/g, "");
  const body = plain.length % 4 === 0 ? plain.replace(/==?$/, "") : plain;
  if (body.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(body)) return undefined;
  return fromBase64(body);
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const QUOTABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Parses and serialises a MIME type (MIME Sniffing Standard); an invalid one becomes plain text in US-ASCII. */
function serialiseMimeType(text: string): string {
  const failure = "text/plain;charset=US-ASCII";
  const match = /^[\t\n\r ]*([^/]*)\/([^;]*)(.*)$/s.exec(text);
  const [, type = "", rawSubtype = "", rest = ""] = match ?? [];
  const subtype = rawSubtype.replace(/[\t\n\r ]+$/, "");
  if (!TOKEN.test(type) || !TOKEN.test(subtype)) return failure;
  const parameters = new Map<string, string>();
  let at = 0;
  while (at < rest.length) {
    at++;
    while (/[\t\n\r ]/.test(rest[at] ?? "")) at++;
    const nameEnd = findEnd(rest, at, ";=");
    const name = rest.slice(at, nameEnd).toLowerCase();
    at = nameEnd;
    if (at >= rest.length) break;
    if (rest[at] === ";") continue;
    at++;
    let value = "";
    if (rest[at] === '"') {
      at++;
      while (at < rest.length && rest[at] !== '"') {
        if (rest[at] === "\\" && at + 1 < rest.length) at++;
        value += rest[at++];
      }
      at = findEnd(rest, at, ";");
    } else {
      const valueEnd = findEnd(rest, at, ";");
      value = rest.slice(at, valueEnd).replace(/[\t\n\r ]+$/, "");
      at = valueEnd;
      if (value === "") continue;
    }
    if (TOKEN.test(name) && QUOTABLE.test(value) && !parameters.has(name)) parameters.set(name, value);
  }
  let out = `${type}/${subtype}`.toLowerCase();
  for (const [name, value] of parameters) {
    out += `;${name}=${TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`}`;
  }
  return out;
}

function findEnd(text: string, from: number, stops: string): number {
  let at = from;
  while (at < text.length && !stops.includes(text[at] as string)) at++;
  return at;
}
