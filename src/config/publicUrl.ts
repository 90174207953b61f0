import { TycheError } from "../lib/errors.ts";

/** What a public address looks like, worded to end a sentence. */
export const PUBLIC_URL_FORM =
  "an http or https URL of just a host, such as https://tyche.example.org, without credentials, path or query";

/**
 * Parses the address under which callers reach the service: `http` or `https`, a host and perhaps a port. Returns it as browsers write
 * an origin: lower case, without a default port and without a trailing slash.
 *
 * @throws {TycheError} `invalid_config` for anything else, such as a URL with a path.
 */
export function parsePublicUrl(text: string): string {
  const url = URL.parse(text);
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (!isWeb || url.href !== `${url.origin}/` || /[?#\s]/.test(text))
    // The message doesn't repeat the address, as it may hold a password.
    throw new TycheError(`publicUrl must be ${PUBLIC_URL_FORM}`, { code: "invalid_config", blame: "caller" });
  return url.origin;
}
