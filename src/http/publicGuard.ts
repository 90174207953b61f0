import type { Context } from "koa";
import { TycheError } from "../lib/errors.ts";
import { hostNameOf, isLoopbackHost } from "../lib/loopback.ts";
import { createCallCounter, type CallCounter } from "./callCounter.ts";
import { countCall } from "./guard.ts";
import { DEFAULT_LIMITS, type HttpLimits } from "./limits.ts";

/**
 * Lets a call without an API key in: to the pages, the explorer, `/readyz` and `/metrics`.
 *
 * @param options.isCounted whether the call counts against its address. Default `true`.
 */
export type PublicGuard = (ctx: Context, options?: { readonly isCounted?: boolean }) => Promise<void>;

/**
 * Creates the guard of everything that is served without an API key.
 *
 * A page of a foreign site can point its own name at 127.0.0.1 (DNS rebinding) and then read what a server there gives to
 * everybody. So a server that listens on a loopback address answers only where it is asked for by a loopback name, or by one that the
 * operator lists because a forwarder in front has it. By a loopback name such a page may read nothing either, although the API lets pages
 * of any origin in: here that is for those who have a key.
 *
 * @returns a check that rejects with {@link HostNotAllowedError}, {@link OriginNotAllowedError}, or `rate_limited` when an address is
 * over its quota.
 */
export function createPublicGuard(options: {
  /** Whether the server listens on a loopback address. */
  readonly isLoopback: boolean;
  /** Names, without port, under which a forwarder serves this; default none. */
  readonly hosts?: readonly string[];
  readonly limits?: Partial<Pick<HttpLimits, "pageRateLimit" | "rateWindowSeconds">>;
  /** Default: one in this process. */
  readonly counter?: CallCounter;
}): PublicGuard {
  const { pageRateLimit, rateWindowSeconds } = { ...DEFAULT_LIMITS, ...options.limits };
  const hosts = new Set(parseServedHosts(options.hosts ?? []));
  const policy = {
    name: "pages",
    quota: pageRateLimit,
    windowSeconds: rateWindowSeconds,
    counter: options.counter ?? createCallCounter(),
  };
  return async (ctx, { isCounted = true } = {}) => {
    const host = hostNameOf(ctx.get("Host"));
    if (options.isLoopback && !hosts.has(host)) {
      if (!isLoopbackHost(host)) throw new HostNotAllowedError();
      const origin = ctx.get("Origin");
      const from = URL.parse(origin)?.hostname ?? "";
      if (origin !== "" && !isLoopbackHost(from) && !hosts.has(from)) throw new OriginNotAllowedError();
    }
    if (isCounted) await countCall(ctx, policy);
  };
}

/**
 * Checks names under which a forwarder serves this, and returns them as a Host header is compared: in lower case, IPv6 in brackets.
 *
 * @throws {ServedHostError} for an entry with a scheme, a port or a path, which no Host header would ever match.
 */
export function parseServedHosts(entries: readonly string[]): readonly string[] {
  return entries.map((entry) => {
    const host = entry.toLowerCase();
    if (hostNameOf(host) !== host || URL.parse(`http://${host}/`)?.host !== host)
      throw new ServedHostError(entry);
    return host;
  });
}

/** A list of names can't be read. */
class ServedHostError extends TycheError {
  constructor(entry: string) {
    super(
      `TYCHE_HOSTS must list host names without scheme, port or path, such as tyche.example.org; ${JSON.stringify(entry)} is none`,
      { code: "start_failed", blame: "caller" },
    );
  }
}

/** A call for a name that this server doesn't answer to. */
export class HostNotAllowedError extends TycheError {
  constructor() {
    super(
      "This server listens on a loopback address and does not answer to the name in the Host header: use its loopback address, or have the operator list the name in TYCHE_HOSTS",
      { code: "host_not_allowed", blame: "caller" },
    );
  }
}

/** A call that a page of a foreign site made, without a key. */
export class OriginNotAllowedError extends TycheError {
  constructor() {
    super(
      "This server listens on a loopback address and shows what takes no key to pages of this machine only: have the operator list the name that the page is served under in TYCHE_HOSTS",
      { code: "origin_not_allowed", blame: "caller" },
    );
  }
}
