import { fromBase64 } from "../baseCodes.ts";
import { parseMimeType, serialiseMimeType } from "./mimeType.ts";

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
  const parsed = parseMimeType(type.startsWith(";") ? `text/plain${type}` : type);
  return { type: parsed === undefined ? "text/plain;charset=US-ASCII" : serialiseMimeType(parsed), bytes };
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
