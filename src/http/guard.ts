import ipaddr from "ipaddr.js";
import type { Context } from "koa";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { TycheError } from "../lib/errors.ts";
import type { Service } from "../requests/service.ts";
import { onClose, type HttpContext } from "./context.ts";
import type { HttpLimits } from "./limits.ts";

/** Lets calls in: knows their dapp, counts them against the key's limits and says so in headers. */
export interface Guard {
  /**
   * Authenticates a call and counts it for its key until the answer ends. Throws `unauthenticated`, or {@link RateLimitedError}
   * when the key's rate or its number of calls under way is used up.
   */
  admit(ctx: HttpContext): Promise<void>;
  /** Counts a call that has no valid key against its address. Throws {@link RateLimitedError}. */
  countAnonymous(ctx: HttpContext): Promise<void>;
}

/** More calls than the limit allows. `details.retryAfterMs` says when the next may come. */
export class RateLimitedError extends TycheError {
  constructor(message: string, retryAfterMs: number) {
    super(message, { code: "rate_limited", blame: "caller", retryable: true, details: { retryAfterMs } });
  }
}

/** Creates the guard, with counters in this process. */
export function createGuard(options: { readonly service: Service; readonly limits: HttpLimits }): Guard {
  const { service, limits } = options;
  const duration = limits.rateWindowSeconds;
  const keys: Policy = {
    name: "key",
    quota: limits.rateLimit,
    window: duration,
    limiter: new RateLimiterMemory({ points: limits.rateLimit, duration, keyPrefix: "" }),
  };
  const addresses: Policy = {
    name: "address",
    quota: limits.anonymousRateLimit,
    window: duration,
    limiter: new RateLimiterMemory({ points: limits.anonymousRateLimit, duration, keyPrefix: "" }),
  };
  const underWay = new Map<string, number>();

  return {
    async admit(ctx) {
      const dapp = await service.authenticate(readKey(ctx));
      ctx.state.dapp = dapp;
      await count(ctx, keys, dapp.keyId);
      const running = underWay.get(dapp.keyId) ?? 0;
      if (running >= limits.maxConcurrent) {
        throw new RateLimitedError(
          `This key has ${running} calls under way, which is its limit: wait for one to end`,
          1000,
        );
      }
      underWay.set(dapp.keyId, running + 1);
      onClose(ctx, () => {
        const left = (underWay.get(dapp.keyId) ?? 1) - 1;
        if (left === 0) underWay.delete(dapp.keyId);
        else underWay.set(dapp.keyId, left);
      });
    },
    async countAnonymous(ctx) {
      if (ctx.state.isCounted === true) return;
      await countCall(ctx, addresses);
    },
  };
}

/** A quota of calls in a window of so many seconds. */
export interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly window: number;
  readonly limiter: RateLimiterMemory;
}

/** Takes a call off the quota of its address. Throws {@link RateLimitedError} past it. */
export function countCall(ctx: Context, policy: Policy): Promise<void> {
  return count(ctx, policy, addressGroup(ctx.ip));
}

/** Takes one call off a policy's quota and writes the headers of draft-ietf-httpapi-ratelimit-headers. */
async function count(ctx: Context | HttpContext, policy: Policy, who: string): Promise<void> {
  const outcome = await policy.limiter.consume(who).catch((refused: unknown) => {
    if (refused instanceof RateLimiterRes) return refused;
    throw refused;
  });
  ctx.state.isCounted = true;
  ctx.set("RateLimit-Policy", `"${policy.name}";q=${policy.quota};w=${policy.window}`);
  ctx.set(
    "RateLimit",
    `"${policy.name}";r=${outcome.remainingPoints};t=${Math.ceil(outcome.msBeforeNext / 1000)}`,
  );
  if (outcome.consumedPoints > policy.quota) {
    throw new RateLimitedError(
      `More than ${policy.quota} calls in ${policy.window} seconds from this ${policy.name}`,
      outcome.msBeforeNext,
    );
  }
}

/** Takes the key out of `Authorization: <key>` or `Authorization: Bearer <key>`; empty when there is none. */
function readKey(ctx: HttpContext): string {
  return ctx
    .get("Authorization")
    .replace(/^Bearer +/i, "")
    .trim();
}

/** One caller may have a whole IPv6 /64 to itself, so that is what counts as one address. */
function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4" ? parsed.toString() : parsed.toByteArray().slice(0, 8).join(".");
}
