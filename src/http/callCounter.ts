import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** Whose call counts, and against what. */
export interface CountedCall {
  /** Tells this quota from others, in headers and messages too: `key`, `address`, `pages`. */
  readonly policy: string;
  readonly who: string;
  /** Calls in a window, which begins with the first. */
  readonly quota: number;
  readonly windowSeconds: number;
}

/** How a quota stands once a call was counted. */
export interface TakenCall {
  /** Calls in this window, this one included; more than the quota: refuse it. */
  readonly consumed: number;
  /** Until the window ends. */
  readonly resetMs: number;
}

/** A call that counts as under way. */
export interface BegunCall extends TakenCall {
  /** Whether it has a place among the calls under way. Never with the quota used up. */
  readonly hasPlace: boolean;
  /** Gives the place back; idempotent. */
  end(): void;
}

/** Counts calls: in this process, or for all replicas together. */
export interface CallCounter {
  take(call: CountedCall): Promise<TakenCall>;
  /** The same, for a call that holds one of `places` until it ends. */
  begin(call: CountedCall, places: number): Promise<BegunCall>;
}

/** Creates a counter in this process. */
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
 * Creates a counter for all replicas that goes on without the others where the database doesn't answer: calls without a key, which
 * nothing but this machine's load speaks against, are counted in this process meanwhile. Calls with a key are refused with the
 * error of `shared`: the gate stays shut.
 */
export function createSharedCallCounter(shared: CallCounter): CallCounter {
  const own = createCallCounter();
  return {
    take: (call) => shared.take(call).catch(() => own.take(call)),
    begin: (call, places) => shared.begin(call, places),
  };
}
