import type { Context } from "koa";
import { addressGroup } from "../lib/addressGroup.ts";
import { TycheError } from "../lib/errors.ts";
import type { Service } from "../requests/service.ts";
import type { CallCounter, CountedCall, TakenCall } from "./callCounter.ts";
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

/** Creates the guard. */
export function createGuard(options: {
  readonly service: Service;
  readonly limits: HttpLimits;
  readonly counter: CallCounter;
}): Guard {
  const { service, limits, counter } = options;
  const windowSeconds = limits.rateWindowSeconds;
  const keys: Policy = { name: "key", quota: limits.rateLimit, windowSeconds, counter };
  const addresses: Policy = { name: "address", quota: limits.anonymousRateLimit, windowSeconds, counter };

  return {
    async admit(ctx) {
      const dapp = await service.authenticate(readKey(ctx));
      ctx.state.dapp = dapp;
      const call = await counter.begin(callOf(keys, dapp.keyId), limits.maxConcurrent);
      onClose(ctx, () => call.end());
      tell(ctx, keys, call);
      if (call.hasPlace) return;
      throw new RateLimitedError(
        `This key has ${limits.maxConcurrent} calls under way, which is its limit: wait for one to end`,
        1000,
      );
    },
    async countAnonymous(ctx) {
      if (ctx.state.isCounted === true) return;
      await countCall(ctx, addresses);
    },
  };
}

/** A quota of calls in a window, and what counts them. */
export interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly counter: CallCounter;
}

/** Takes a call off the quota of its address. Throws {@link RateLimitedError} past it. */
export async function countCall(ctx: Context, policy: Policy): Promise<void> {
  tell(ctx, policy, await policy.counter.take(callOf(policy, addressGroup(ctx.ip))));
}

function callOf({ name, quota, windowSeconds }: Policy, who: string): CountedCall {
  return { policy: name, who, quota, windowSeconds };
}

/** Writes the headers of draft-ietf-httpapi-ratelimit-headers. Throws {@link RateLimitedError} where the quota is used up. */
function tell(ctx: Context | HttpContext, policy: Policy, { consumed, resetMs }: TakenCall): void {
  const { name, quota, windowSeconds } = policy;
  ctx.state.isCounted = true;
  ctx.set("RateLimit-Policy", `"${name}";q=${quota};w=${windowSeconds}`);
  ctx.set("RateLimit", `"${name}";r=${Math.max(0, quota - consumed)};t=${Math.ceil(resetMs / 1000)}`);
  if (consumed > quota)
    throw new RateLimitedError(
      `More than ${quota} calls in ${windowSeconds} seconds from this ${name}`,
      resetMs,
    );
}

/** Takes the key out of `Authorization: <key>` or `Authorization: Bearer <key>`; empty when there is none. */
function readKey(ctx: HttpContext): string {
  return ctx
    .get("Authorization")
    .replace(/^Bearer +/i, "")
    .trim();
}
