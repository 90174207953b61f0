import type { Context } from "koa";
import { TycheError } from "../lib/errors.ts";
import {
  hostNameOf,
  isLoopbackHost,
  isLoopbackOrigin,
  originHostOf,
  parseServedHosts,
} from "../lib/loopback.ts";
import { createCallCounter, type CallCounter } from "../lib/rateLimit.ts";
import { countCall } from "./guard.ts";
import { DEFAULT_LIMITS, type HttpLimits } from "../config/httpLimits.ts";

/**
 * Admits a call without an API key: to the pages, the explorer, `/readyz` and `/metrics`.
 *
 * @param options.isCounted whether the call counts against its address. Default `true`.
 */
export type PublicGuard = (ctx: Context, options?: { readonly isCounted?: boolean }) => Promise<void>;

/**
 * Creates the guard of everything that is served without an API key.
 *
 * A foreign site can point its own name at 127.0.0.1 (DNS rebinding) and then read what a server there shows to everyone. So a server
 * that listens on a loopback address answers only to loopback names and to names that the operator lists because a forwarder in front
 * uses them. Foreign pages may not read anything through a loopback name either: the API admits pages of any origin, but there the
 * callers have a key.
 *
 * @returns a check that rejects with `host_not_allowed`, `origin_not_allowed`, or `rate_limited` when an address is
 * over its quota.
 */
export function createPublicGuard(options: {
  /** Whether the server listens on a loopback address. */
  readonly isLoopback: boolean;
  /** Names, without port, under which a forwarder serves this; none by default. */
  readonly hosts?: readonly string[];
  readonly limits?: Partial<Pick<HttpLimits, "pageRateLimit" | "rateWindowSeconds">>;
  /** Default: a counter in this process. */
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
      if (!isLoopbackHost(host))
        throw new TycheError(
          "This server listens on a loopback address and does not answer to the name in the Host header: use its loopback address, or have the operator list the name in TYCHE_HOSTS",
          { code: "host_not_allowed", blame: "caller" },
        );
      const origin = ctx.get("Origin");
      if (origin !== "" && !isLoopbackOrigin(origin) && !hosts.has(hostNameOf(originHostOf(origin))))
        throw new TycheError(
          "This server listens on a loopback address and accepts calls without a key only from pages of this machine: have the operator list the page's host name in TYCHE_HOSTS",
          { code: "origin_not_allowed", blame: "caller" },
        );
    }
    if (isCounted) await countCall(ctx, policy);
  };
}
