import type { RunLimits } from "../../limits.ts";
import { MAX_CALL_HEADER_BYTES } from "../../limits.ts";

const NO_BYTES = new Uint8Array(0);
/** Characters of a request's headers that are sent; the parent refuses a request with more than 16 KiB. */
const MAX_HEADERS_CHARS = 17 * 1_024;

/**
 * Cuts a host call's message down to what the parent needs to answer it: an overlong part stays just long enough to
 * be too long, and a call beyond the run's limit is emptied, as it is refused whatever it holds.
 * @param options.count Number of calls of that name that the run has made, including this one.
 */
export function trimCall(
  name: string,
  message: Uint8Array,
  options: { readonly limits: RunLimits; readonly count: number },
): Uint8Array {
  const { limits, count } = options;
  if (name === "import") return count > limits.maxImports ? EMPTY_IMPORT : message;
  if (name !== "fetch") return message;
  if (count > limits.maxHttpRequests) return EMPTY_FETCH;
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const headerBytes = bytes.length < 4 ? 0 : bytes.readUInt32BE(0);
  const body = bytes.subarray(4 + headerBytes, 4 + headerBytes + limits.maxHttpRequestBytes + 1);
  if (headerBytes <= MAX_CALL_HEADER_BYTES) return bytes.subarray(0, 4 + headerBytes + body.length);
  return joined(shorten(bytes.toString("utf8", 4, 4 + headerBytes), limits), body);
}

function shorten(json: string, { maxHttpUrlLength }: RunLimits): object {
  const request = JSON.parse(json) as { url: string; headers: [string, string][] };
  let left = MAX_HEADERS_CHARS;
  const headers: [string, string][] = [];
  for (const [name, value] of request.headers) {
    if (left <= 0) break;
    headers.push([name.slice(0, left), value.slice(0, left)]);
    left -= name.length + value.length;
  }
  return { ...request, url: request.url.slice(0, maxHttpUrlLength + 1), headers };
}

function joined(header: object, body: Uint8Array): Uint8Array {
  const json = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(json.length);
  return Buffer.concat([prefix, json, body]);
}

const EMPTY_FETCH = joined(
  { url: "", method: "GET", headers: [], redirect: "follow", hasBody: false },
  NO_BYTES,
);
const EMPTY_IMPORT = Buffer.from(JSON.stringify({ specifier: "", type: "" }));
