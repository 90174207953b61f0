import type { Internals } from "../internals.ts";
import type { BlobTools } from "./blob.ts";
import type { Entry, FormDataTools } from "./formData.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Longest headers of a part, in bytes, and most of them: Deno's limits. */
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_HEADERS = 128;

/** Encodes a form as the parts of a blob, and its boundary (HTML, multipart/form-data encoding algorithm). */
export function encodeMultipart(entries: readonly Entry[]): { parts: unknown[]; boundary: string } {
  const digits = `${Math.random()}${Math.random()}`.replaceAll(".", "").slice(-28);
  const boundary = digits.padStart(32, "-");
  const parts: unknown[] = [];
  for (const [name, value] of entries) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escape(name.replace(/\r\n?|\n/g, "\r\n"))}"`;
    if (typeof value === "string") parts.push(`${head}\r\n\r\n${value.replace(/\r\n?|\n/g, "\r\n")}\r\n`);
    else
      parts.push(
        `${head}; filename="${escape(value.name)}"\r\nContent-Type: ${value.type || "application/octet-stream"}\r\n\r\n`,
        value,
        "\r\n",
      );
  }
  parts.push(`--${boundary}--`);
  return { parts, boundary };
}

const escape = (text: string): string =>
  text.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");

/**
 * Reads multipart/form-data (RFC 7578). Delimiters count only at the start of a line and with nothing but white space behind them.
 * @throws {TypeError} If there is no delimiter, or a part's headers are too large or too many.
 */
export function decodeMultipart(
  body: Bytes,
  boundary: string,
  blobs: BlobTools,
  forms: FormDataTools,
  { encodeUtf8, decodeUtf8 }: Internals,
): object {
  const dashes = encodeUtf8(`--${boundary}`);
  const form = new forms.FormData();

  /** Returns the end of the delimiter line at `at`, and whether it is the last; undefined if there is none. */
  function delimiterAt(at: number): { next: number; isLast: boolean } | undefined {
    for (let index = 0; index < dashes.length; index++)
      if (body[at + index] !== dashes[index]) return undefined;
    let next = at + dashes.length;
    const isLast = body[next] === 0x2d && body[next + 1] === 0x2d;
    if (isLast) next += 2;
    while (body[next] === 0x20 || body[next] === 0x09) next++;
    if (isLast && next === body.length) return { next, isLast };
    return isLineEnd(next) ? { next: next + 2, isLast } : undefined;
  }
  const isLineEnd = (at: number): boolean => body[at] === 0x0d && body[at + 1] === 0x0a;

  /** Finds the next delimiter whose line begins at or after `from`. */
  function findDelimiter(from: number): Delimiter | undefined {
    for (let at = from; at < body.length; at++) {
      if (at > 0 && !isLineEnd(at - 2)) continue;
      const found = delimiterAt(at);
      if (found !== undefined) return { start: at, ...found };
    }
    return undefined;
  }

  const first = findDelimiter(0);
  if (first === undefined) throw new TypeError("Unable to parse body as form data");
  let delimiter: Delimiter = first;
  while (!delimiter.isLast) {
    const start = delimiter.next;
    let end = start;
    while (end < body.length && !(isLineEnd(end) && isLineEnd(end + 2))) {
      if (end - start >= MAX_HEADER_BYTES) throw new TypeError("Multipart part headers are too large");
      end++;
    }
    const next = end < body.length ? findDelimiter(end + 4) : undefined;
    if (next === undefined) break;
    const headers = readHeaders(decodeUtf8(body.subarray(start, end)));
    const content = body.subarray(end + 4, next.start - 2);
    const fields = readDisposition(headers.get("content-disposition") ?? "");
    const name = fields.get("name");
    const filename = fields.get("filename");
    if (name) {
      if (filename === undefined) form.append(name, decodeUtf8(content));
      else {
        const type = headers.get("content-type") || "application/octet-stream";
        form.append(name, new blobs.Blob([content], { type }), filename);
      }
    }
    delimiter = next;
  }
  return form;
}

/** Where a delimiter's line begins, where the next one begins, and whether it ends the form. */
interface Delimiter {
  readonly start: number;
  readonly next: number;
  readonly isLast: boolean;
}

function readHeaders(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  let count = 0;
  for (const line of text.split("\r\n")) {
    const at = line.indexOf(":");
    if (at < 0) continue;
    if (++count > MAX_HEADERS) throw new TypeError("Multipart part has too many headers");
    headers.set(line.slice(0, at).toLowerCase(), line.slice(at + 1).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, ""));
  }
  return headers;
}

/** Reads the parameters of a Content-Disposition header as Deno does: quotes are dropped, nothing is unescaped. */
function readDisposition(value: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const field of value.split(";").slice(1)) {
    const [name = "", text] = field.trim().split("=");
    if (text !== undefined) fields.set(name, text.replace(/^"([^"]*)"$/, "$1"));
  }
  return fields;
}
