import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { TycheError } from "./errors.ts";

/**
 * More than a limit allows, answered with 429. Whatever limits callers throws it: `http/guard.ts` (calls of a key, an address, pages),
 * `requests/accept/requestLimits.ts` (requests in progress, and of a day), `dapps/dailyBudget.ts`, and by
 * {@link countWithin} the faucet, handed-in rounds and the explorer's reads. Only the limit of connections, in `http/server.ts`, answers before there is a call.
 */
export class RateLimitedError extends TycheError {
  /** @param retryAfterMs when the next one is allowed, if that is known. */
  constructor(message: string, retryAfterMs?: number) {
    const details = retryAfterMs === undefined ? undefined : { retryAfterMs };
    super(message, { code: "rate_limited", blame: "caller", retryable: true, details });
  }
}

/** Who makes a call, and the quota it counts against. */
export interface CountedCall {
  /** Distinguishes this quota from others, also in headers and messages: `key`, `address`, `pages`. */
  readonly policy: string;
  readonly who: string;
  /** Calls per window; a window begins with its first call. */
  readonly quota: number;
  readonly windowSeconds: number;
}

/** State of a quota after a call was counted. */
export interface TakenCall {
  /** Calls in this window, including this one; above the quota the call must be refused. */
  readonly consumed: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
}

/** A call that counts as in flight. */
export interface BegunCall extends TakenCall {
  /** Whether the call got one of the places for calls in flight. Always false once the quota is used up. */
  readonly hasPlace: boolean;
  /** Releases the place; idempotent. */
  end(): void;
}

/** Counts calls, either in this process or across all replicas. */
export interface CallCounter {
  take(call: CountedCall): Promise<TakenCall>;
  /** Same as `take`, for a call that holds one of `places` until it ends. */
  begin(call: CountedCall, places: number): Promise<BegunCall>;
}

/**
 * Counts a call against a quota.
 *
 * @throws {RateLimitedError} with `message` above the quota.
 */
export async function countWithin(
  counter: Pick<CallCounter, "take">,
  call: CountedCall,
  message: string,
): Promise<void> {
  const { consumed, resetMs } = await counter.take(call);
  if (consumed > call.quota) throw new RateLimitedError(message, resetMs);
}

/** Creates a counter that lives in this process. */
export function createCallCounter(): CallCounter {
  const limiters = new Map<string, RateLimiterMemory>();
  const underWay = new Map<string, number>();

  const take = async ({ policy, who, quota, windowSeconds }: CountedCall): Promise<TakenCall> => {
    const name = `${policy} ${quota} ${windowSeconds}`;
    let limiter = limiters.get(name);
    if (limiter === undefined) {
      limiter = new RateLimiterMemory({ points: quota, duration: windowSeconds, keyPrefix: "" });
      limiters.set(name, limiter);
    }
    const outcome = await limiter.consume(who).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    return { consumed: outcome.consumedPoints, resetMs: outcome.msBeforeNext };
  };

  return {
    take,
    async begin(call, places) {
      const taken = await take(call);
      const id = `${call.policy} ${call.who}`;
      const running = underWay.get(id) ?? 0;
      const hasPlace = taken.consumed <= call.quota && running < places;
      if (hasPlace) underWay.set(id, running + 1);
      let holds = hasPlace;
      return {
        ...taken,
        hasPlace,
        end() {
          if (!holds) return;
          holds = false;
          const left = underWay.get(id)! - 1;
          if (left === 0) underWay.delete(id);
          else underWay.set(id, left);
        },
      };
    },
  };
}

/**
 * Creates a counter shared by all replicas that survives a database outage: calls without a key only cost this machine load, so
 * they are counted in this process meanwhile. Calls with a key fail closed, with the error of `shared`.
 */
export function createSharedCallCounter(shared: CallCounter): CallCounter {
  const own = createCallCounter();
  return {
    take: (call) => shared.take(call).catch(() => own.take(call)),
    begin: (call, places) => shared.begin(call, places),
  };
}
