/** A MIME type (MIME Sniffing Standard, §4); names are in lower case. */
export interface MimeType {
  /** Type and subtype, e.g. `text/plain`. */
  readonly essence: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const QUOTABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Parses a MIME type; undefined if it is invalid. */
export function parseMimeType(text: string): MimeType | undefined {
  const match = /^[\t\n\r ]*([^/]*)\/([^;]*)(.*)$/s.exec(text);
  const [, type = "", rawSubtype = "", rest = ""] = match ?? [];
  const subtype = rawSubtype.replace(/[\t\n\r ]+$/, "");
  if (!TOKEN.test(type) || !TOKEN.test(subtype)) return undefined;
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
  return { essence: `${type}/${subtype}`.toLowerCase(), parameters };
}

export function serialiseMimeType({ essence, parameters }: MimeType): string {
  let out = essence;
  for (const [name, value] of parameters) {
    const isPlain = TOKEN.test(value);
    out += `;${name}=${isPlain ? value : `"${value.replace(/["\\]/g, "\\$&")}"`}`;
  }
  return out;
}

/** Extracts the MIME type of a body from its Content-Type header (Fetch Standard, §2.2.2): the last valid one counts. */
export function extractMimeType(header: string | null): MimeType | undefined {
  let found: MimeType | undefined;
  let charset: string | undefined;
  for (const value of splitHeader(header ?? "")) {
    const type = parseMimeType(value);
    if (type === undefined || type.essence === "*/*") continue;
    const parameters = new Map(type.parameters);
    if (type.essence !== found?.essence) charset = parameters.get("charset");
    else if (!parameters.has("charset") && charset !== undefined) parameters.set("charset", charset);
    found = { essence: type.essence, parameters };
  }
  return found;
}

/** Splits a header's value at its commas, but for those in quotes. */
function splitHeader(value: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (let at = 0; at < value.length; at++) {
    if (value[at] === ",") {
      parts.push(part);
      part = "";
    } else if (value[at] === '"') {
      const start = at++;
      while (at < value.length && value[at] !== '"') at += value[at] === "\\" ? 2 : 1;
      part += value.slice(start, at + 1);
    } else part += value[at];
  }
  parts.push(part);
  return parts.map((each) => each.replace(/^[\t ]+|[\t ]+$/g, ""));
}

function findEnd(text: string, from: number, stops: string): number {
  let at = from;
  while (at < text.length && !stops.includes(text[at] as string)) at++;
  return at;
}
