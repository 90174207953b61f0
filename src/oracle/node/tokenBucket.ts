/** Lets through so many things a second, and a few at once. */
export interface TokenBuckets {
  /** Takes one token of a holder; `false` when there is none. */
  take(holder: string): boolean;
  /** Whether a holder has one. */
  has(holder: string): boolean;
  /** Takes tokens for what was done already, also such as the holder will only gain. */
  charge(holder: string, tokens: number): void;
}

/** Most holders that are remembered; beyond it whoever was seen longest ago begins anew. */
const MAX_HOLDERS = 10_000;

/** Creates buckets, one for each holder, that hold `burst` tokens and gain `perSecond`. */
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
    // A map keeps its order: the first one is the one that was seen longest ago.
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
