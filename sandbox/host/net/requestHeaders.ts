import { FetchFailureError } from "./fetchFailure.ts";

/** Header names and values, in order; names may repeat. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Total size of one request's headers, names and values, in bytes. Deno has no limit; most servers stop at 8 to 16 KiB. */
const MAX_HEADER_BYTES = 16 * 1_024;

/** Most characters of a refused name or value quoted in a message. */
const MAX_QUOTED_CHARS = 1_024;

/** Headers that the nodes' Deno adds unless the source sets them. */
const DEFAULT_HEADERS: HeaderList = [
  ["accept", "*/*"],
  ["accept-encoding", "gzip,br"],
  ["accept-language", "*"],
];

/**
 * Builds the headers of an outgoing request: the source's, without those that describe the connection or choose the virtual
 * host, plus Deno's defaults for those the source leaves out. The source's `host` is dropped (the client writes the URL's),
 * as are the hop-by-hop fields of RFC 9110 section 7.6.1, every field that `connection` names, and `content-length` (counted
 * from the body).
 *
 * @returns Alternating names and values, as undici takes them.
 * @throws {FetchFailureError} `invalid`: a name that is not a token, a value with CR, LF, NUL or non-Latin-1 characters, or
 * more than 16 KiB in total.
 */
export function outgoingHeaders(headers: HeaderList, userAgent: string): string[] {
  const named = new Set(
    headers
      .filter(([name]) => name.toLowerCase() === "connection")
      .flatMap(([, value]) => value.toLowerCase().split(","))
      .map((name) => name.trim()),
  );
  const sent: string[] = [];
  const names = new Set<string>();
  let bytes = 0;
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (!TOKEN.test(name)) throw invalid("name", name);
    if (!FIELD_VALUE.test(value)) throw invalid("value", value);
    bytes += name.length + value.length;
    if (HOP_BY_HOP.has(lower) || named.has(lower)) continue;
    names.add(lower);
    sent.push(lower, value);
  }
  if (bytes > MAX_HEADER_BYTES) {
    const hint = `The request's headers hold ${bytes} bytes, at most ${MAX_HEADER_BYTES} are sent.`;
    throw new FetchFailureError("invalid", "fetch failed", hint);
  }
  for (const [name, value] of [...DEFAULT_HEADERS, ["user-agent", userAgent] as const]) {
    if (!names.has(name)) sent.push(name, value);
  }
  return sent;
}

function invalid(what: string, text: string): FetchFailureError {
  return new FetchFailureError("invalid", `Invalid header ${what}: "${text.slice(0, MAX_QUOTED_CHARS)}"`);
}

/** Removes the headers that must not follow a redirect to another origin (fetch standard, HTTP-redirect fetch, step 13). */
export function withoutCredentials(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !CREDENTIALS.has(name.toLowerCase()));
}

/** Removes the headers that describe a body dropped by a redirect (fetch standard, "request-body-header name"). */
export function withoutBodyHeaders(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !BODY_HEADERS.has(name.toLowerCase()));
}

// RFC 9110 section 5.6.2 and 5.5; values are Latin-1 without control characters except tab.
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

const HOP_BY_HOP = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const CREDENTIALS = new Set(["authorization", "cookie", "www-authenticate"]);
const BODY_HEADERS = new Set(["content-encoding", "content-language", "content-location", "content-type"]);
