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
