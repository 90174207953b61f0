/** Rate limits by holder: a number per second, with a burst. */
export interface TokenBuckets {
  /** Takes one of a holder's tokens; returns `false` if there is none. */
  take(holder: string): boolean;
  /** Whether a holder has a token. */
  has(holder: string): boolean;
  /** Takes tokens for work already done; the balance may become negative. */
  charge(holder: string, tokens: number): void;
}

/** Maximum number of holders remembered; beyond it, the one seen longest ago starts over. */
const MAX_HOLDERS = 10_000;

/** Creates buckets, one per holder, that hold `burst` tokens and gain `perSecond`. */
export function createTokenBuckets({
  burst,
  perSecond,
}: {
  readonly burst: number;
  readonly perSecond: number;
}): TokenBuckets {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const bucketOf = (holder: string) => {
    const now = performance.now();
    const bucket = buckets.get(holder) ?? { tokens: burst, at: now };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond);
    bucket.at = now;
    // A map keeps insertion order: its first holder is the one seen longest ago.
    buckets.delete(holder);
    buckets.set(holder, bucket);
    if (buckets.size > MAX_HOLDERS) buckets.delete(buckets.keys().next().value!);
    return bucket;
  };
  return {
    has: (holder) => bucketOf(holder).tokens >= 1,
    charge(holder, tokens) {
      bucketOf(holder).tokens -= tokens;
    },
    take(holder) {
      const bucket = bucketOf(holder);
      if (bucket.tokens < 1) return false;
      bucket.tokens -= 1;
      return true;
    },
  };
}
