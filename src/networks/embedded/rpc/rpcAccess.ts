import type { IncomingMessage } from "node:http";
import { TycheError } from "../../../lib/errors.ts";
import { hostNameOf, isLoopbackHost, isLoopbackOrigin } from "../../../lib/loopback.ts";

/** Why a request is refused: an HTTP status and a sentence. */
export interface AccessRefusal {
  readonly status: 400 | 403;
  readonly message: string;
}

/** Who may use the RPC port of an embedded chain. */
export interface RpcAccess {
  /** Judges a request, or a WebSocket handshake, by its headers; `undefined` when it may proceed. */
  refusalOf(incoming: IncomingMessage): AccessRefusal | undefined;
}

/** Headers that identify the requester; if one were repeated, a proxy could read another value than this server does. */
const SINGLE_HEADERS = ["host", "origin", "content-type"] as const;

/**
 * Creates the access rules of a port that listens on a loopback address. Every web page in a browser on this machine can send requests
 * there:
 *
 * - `Host` must name this machine. A page whose own name was made to point to 127.0.0.1 (DNS rebinding) sends that name.
 * - `Origin`, which browsers send and pages can't forge, must be absent (tools), a page of this machine, or listed.
 *
 * @param origins further origins, as returned by {@link parseRpcOrigins}.
 */
export function createRpcAccess(origins: readonly string[]): RpcAccess {
  const listed = new Set(origins);
  return {
    refusalOf({ rawHeaders, headers }) {
      const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
      const repeated = SINGLE_HEADERS.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
      if (repeated !== undefined)
        return { status: 400, message: `the request has more than one ${repeated} header; send one` };
      const { host, origin } = headers;
      if (host === undefined || !isLoopbackHost(host))
        return {
          status: 403,
          message: `Host ${JSON.stringify(host ?? "")} is not this machine; use localhost or 127.0.0.1 as the host of the RPC URL`,
        };
      if (origin === undefined || listed.has(origin) || isLoopbackOrigin(origin)) return undefined;
      return {
        status: 403,
        message: `pages of ${JSON.stringify(origin)} may not use this chain; the operator can list the origin in TYCHE_RPC_ORIGINS`,
      };
    },
  };
}

/** What an entry of the list looks like, worded to end a sentence. */
export const ORIGIN_FORM = "https://app.example.org, without a path";

/**
 * Checks a list of origins, such as `https://app.example.org` or `chrome-extension://abcdef`.
 *
 * @throws {TycheError} `start_failed` when an entry is anything other than scheme, host and port.
 */
export function parseRpcOrigins(entries: readonly string[]): readonly string[] {
  for (const entry of entries) {
    const host = /^[a-z][a-z0-9+.-]*:\/\/([^\s/?#@*]+)$/.exec(entry)?.[1];
    if (host === undefined || hostNameOf(host) === "")
      throw new TycheError(
        `TYCHE_RPC_ORIGINS must list origins such as ${ORIGIN_FORM}; ${JSON.stringify(entry)} is not one`,
        { code: "start_failed", blame: "caller" },
      );
  }
  return entries;
}
