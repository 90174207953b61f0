import { isIP } from "node:net";
import { SandboxOptionError } from "../sandboxError.ts";
import { refusalOfAddress } from "./addressPolicy.ts";
import { FetchFailureError } from "./fetchFailure.ts";

/** Decides which hosts a caller's requests may reach. */
export interface HostPolicy {
  /**
   * Checks a URL before resolving or connecting.
   * @throws {FetchFailureError} `refused`: scheme, credentials, port, host name, or a literal address that is not public.
   */
  assertUrl(url: URL): void;
  /**
   * Checks every answer of a name lookup. One bad answer refuses the name: the system chooses which one to connect to,
   * and an attacker's server picks the order.
   * @throws {FetchFailureError} `refused`.
   */
  assertAddresses(host: string, port: number, addresses: readonly string[]): void;
  /** Whether the operator allows this host and port by name, wherever it leads. */
  isAllowed(host: string, port: number): boolean;
}

/**
 * Creates the policy that admits the public internet plus the operator's own exceptions.
 *
 * @param allowHosts Hosts that may be reached although they are not public: `host:port` for one port, `host` for any
 * port, `*` for everything (a developer's own machine; then nothing is guarded). Literal IPv6 goes in brackets. An entry
 * covers the name or address as written in the URL, so `127.0.0.1:8080` doesn't admit `localhost:8080`.
 * @throws {SandboxOptionError} `invalid_option`, naming the first entry that has none of these forms.
 */
export function createHostPolicy(allowHosts: readonly string[] = []): HostPolicy {
  const allowed = new Set(allowHosts.map(parseHostEntry));
  const isAllowed = (host: string, port: number): boolean => {
    const written = isIP(host) === 6 ? `[${host}]` : host;
    return allowed.has("*") || allowed.has(written) || allowed.has(`${written}:${port}`);
  };
  return {
    isAllowed,
    assertUrl(url) {
      assertScheme(url);
      if (url.username !== "" || url.password !== "") {
        throw refusal("credentials in the URL", "Send them in an `Authorization` header instead.");
      }
      const host = hostOf(url);
      const port = portOf(url);
      if (isAllowed(host, port)) return;
      assertPort(port);
      assertHost(host);
    },
    assertAddresses(host, port, addresses) {
      if (isAllowed(host, port)) return;
      for (const address of addresses) assertPublic(host, address);
    },
  };
}

const HOST_ENTRY_FORM =
  "an entry is a host (api.example.com, 10.0.0.7, [::1]), a host and port (127.0.0.1:8080), or * for every host";

/** Checks a list entry and returns it in lower case, as URLs write hosts; any other spelling would never match. */
function parseHostEntry(entry: string): string {
  if (entry === "*") return entry;
  const refuse = (hint: string): never => {
    throw new SandboxOptionError("allowHosts", entry, `${hint}${HOST_ENTRY_FORM}`);
  };
  const match = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(entry.toLowerCase());
  const [, host = "", port] = match ?? [];
  if (!/^(?:\[[\da-f:.]+\]|[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_])?)$/u.test(host)) return refuse("");
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))
    return refuse("a port is from 1 to 65535; ");
  const written = URL.parse(`http://${host}/`)?.hostname;
  if (written === undefined) return refuse("");
  if (written !== host) return refuse(`URLs write this host as ${written}; `);
  return entry.toLowerCase();
}

/** Returns a URL's host in the form that resolvers and sockets take: lower case, IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : withoutFinalDots(url.hostname);
}

/** Linear in the length, unlike a pattern that looks for dots at the end. */
function withoutFinalDots(host: string): string {
  let end = host.length;
  while (host[end - 1] === ".") end -= 1;
  return host.slice(0, end);
}

/** Returns a URL's port, or the scheme's default if it has none. */
export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

function assertScheme(url: URL): void {
  if (url.protocol === "http:" || url.protocol === "https:") return;
  const scheme = url.protocol.slice(0, -1);
  throw new FetchFailureError(
    "refused",
    `Url scheme '${scheme}' not supported`,
    `Only http and https can be fetched, not ${scheme}.`,
  );
}

function assertPort(port: number): void {
  if (!REFUSED_PORTS.has(port)) return;
  throw new FetchFailureError("refused", `Fetch failed: Requests to port ${port} are blocked`);
}

function assertHost(host: string): void {
  if (isIP(host) !== 0) return assertPublic(host, host);
  const isLocalName = !host.includes(".") || LOCAL_SUFFIXES.some((suffix) => host.endsWith(suffix));
  if (host === "" || isLocalName) throw refusal(`host ${host} is not a public name`);
}

function assertPublic(host: string, address: string): void {
  const reason = refusalOfAddress(address);
  if (reason === null) return;
  // The caller must not learn what a name resolves to inside the operator's network.
  throw refusal(
    host === address ? `${host}: ${reason}` : `${host} does not resolve to public addresses only`,
  );
}

function refusal(
  what: string,
  remedy = "Only public hosts can be reached, and those the operator allows (TYCHE_ALLOW_HOSTS).",
): FetchFailureError {
  return new FetchFailureError("refused", "fetch failed", `Refused: ${what}. ${remedy}`);
}

// RFC 6761, 6762, 7686, 8375, 9476, and names that clouds and routers give their own services.
const LOCAL_SUFFIXES = [
  ".localhost",
  ".local",
  ".localdomain",
  ".internal",
  ".intranet",
  ".corp",
  ".home",
  ".lan",
  ".home.arpa",
  ".in-addr.arpa",
  ".ip6.arpa",
  ".onion",
  ".alt",
];

// Port 0 and the WHATWG fetch standard's blocked ports ("port blocking"), which Deno refuses too.
const STANDARD_REFUSED_PORTS = [
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];
// Container, cluster and database ports, whose servers act on lines of text or need no password.
const DATA_STORE_PORTS = [2375, 2376, 2379, 2380, 3306, 5432, 6379, 10250, 11211, 27017];
const REFUSED_PORTS: ReadonlySet<number> = new Set([...STANDARD_REFUSED_PORTS, ...DATA_STORE_PORTS]);
