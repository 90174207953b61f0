import { FetchFailureError } from "./fetchFailure.ts";
import { withoutBodyHeaders, withoutCredentials } from "./requestHeaders.ts";
import type { HeaderList } from "./requestHeaders.ts";

/** A checked request to one URL of the redirect chain. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array | null;
  readonly redirect: "follow" | "error" | "manual";
}

/** As in Deno and the fetch standard. */
export const MAX_REDIRECTS = 20;

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the request that a response redirects to, or `null` if the response is the answer itself. Source:
 * fetch standard, "HTTP-redirect fetch"; the messages are Deno's. Credentials stay with their origin (Deno
 * passes them on to a subdomain, the standard doesn't).
 *
 * @throws {FetchFailureError} `redirect`: mode `error`, or a location that is not an http or https URL.
 */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop | null {
  if (!REDIRECT_STATUSES.has(status) || location === undefined || hop.redirect === "manual") return null;
  if (hop.redirect === "error") {
    throw new FetchFailureError(
      "redirect",
      "Fetch failed: Encountered redirect while redirect mode is set to 'error'",
    );
  }
  const url = URL.parse(location, hop.url);
  if (url === null)
    throw new FetchFailureError("redirect", `Invalid URL: '${location}' with base '${hop.url.href}'`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new FetchFailureError("redirect", "Fetch failed: Can not redirect to a non HTTP(s) url");
  }
  const isSafe = hop.method === "GET" || hop.method === "HEAD";
  const dropsBody = status === 303 ? !isSafe : status <= 302 && hop.method === "POST";
  const headers = url.origin === hop.url.origin ? hop.headers : withoutCredentials(hop.headers);
  if (!dropsBody) return { ...hop, url, headers };
  return { ...hop, url, method: "GET", body: null, headers: withoutBodyHeaders(headers) };
}
