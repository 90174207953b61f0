import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { TycheError } from "./errors.ts";

/** Whether an address is in 127.0.0.0/8 or is ::1, mapped into IPv6 or not. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.process(address).range() === "loopback";
}

/** Whether an address is 0.0.0.0 or `::`, on which a server listens at every address of its machine. */
export function isUnspecifiedAddress(address: string): boolean {
  return isIP(address) !== 0 && ["0.0.0.0", "::"].includes(ipaddr.process(address).toString());
}

/** Whether a Host header names this machine by `localhost` or a loopback address; with any port, as a tunnel may change it. */
export function isLoopbackHost(host: string): boolean {
  const name = hostNameOf(host);
  return name === "localhost" || isLoopbackAddress(name.replace(/^\[(.*)\]$/, "$1"));
}

/** Whether an Origin header names a page that this machine serves; see {@link isLoopbackHost}. */
export function isLoopbackOrigin(origin: string): boolean {
  return isLoopbackHost(originHostOf(origin));
}

/** Returns the host and port of a web page's Origin header in lower case; empty for `null` and anything that is not an origin. */
export function originHostOf(origin: string): string {
  const host = /^https?:\/\/(.*)$/i.exec(origin)?.[1] ?? "";
  return hostNameOf(host) === "" ? "" : host.toLowerCase();
}

/** `uri-host [":" port]` of RFC 9110, section 7.2: no user information, and of registered names only those that the DNS has. */
const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/;

/** Returns the name in a Host header in lower case, IPv6 in brackets, without its port; empty if the header is malformed. */
export function hostNameOf(host: string): string {
  const [, name = "", port = "0"] = HOST.exec(host.toLowerCase()) ?? [];
  const isName = !name.startsWith("[") || isIP(name.slice(1, -1)) === 6;
  return isName && Number(port) <= 65_535 ? name : "";
}

/**
 * Checks the names under which a forwarder serves this, and returns them in the form in which Host headers are compared: lower case, IPv6
 * in brackets.
 *
 * @throws {TycheError} `start_failed` for an entry with a scheme, a port or a path, which no Host header would ever match.
 */
export function parseServedHosts(entries: readonly string[]): readonly string[] {
  return entries.map((entry) => {
    const host = entry.toLowerCase();
    if (hostNameOf(host) !== host || URL.parse(`http://${host}/`)?.host !== host)
      throw new TycheError(
        `TYCHE_HOSTS must list host names without scheme, port or path, such as tyche.example.org; ${JSON.stringify(entry)} is not one`,
        { code: "start_failed", blame: "caller" },
      );
    return host;
  });
}
