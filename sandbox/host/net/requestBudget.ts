/** The network limits of one run. Source of the defaults: the oracle network's service limits. */
export interface FetchLimits {
  /** Requests per run, not counting redirects. Default 5. */
  readonly maxRequests: number;
  /** Length of the URL as the source wrote it, in UTF-16 units. Default 2,048. */
  readonly maxUrlLength: number;
  /** Request body, in bytes. Default 30,720. */
  readonly maxRequestBytes: number;
  /** Response body, in bytes, both on the wire and decoded. Default 2,097,152. */
  readonly maxResponseBytes: number;
  /** One request including name lookup, redirects and body. Default 9,000. */
  readonly timeoutMs: number;
}

export const DEFAULT_FETCH_LIMITS: FetchLimits = {
  maxRequests: 5,
  maxUrlLength: 2_048,
  maxRequestBytes: 30 * 1_024,
  maxResponseBytes: 2 * 1_024 * 1_024,
  timeoutMs: 9_000,
};

/** The network allowance of one run. Shared by all its requests, never between runs. */
export interface RequestBudget {
  readonly limits: FetchLimits;
  /** Requests served or in flight so far; never above `limits.maxRequests`. */
  readonly used: number;
  /** Counts one request and returns whether it is still allowed. */
  take(): boolean;
}

/**
 * Creates the allowance of one run.
 *
 * @param limits Overrides individual defaults of {@link DEFAULT_FETCH_LIMITS}.
 */
export function createRequestBudget(limits: Partial<FetchLimits> = {}): RequestBudget {
  const merged = { ...DEFAULT_FETCH_LIMITS, ...limits };
  let used = 0;
  return {
    limits: merged,
    get used() {
      return used;
    },
    take() {
      if (used >= merged.maxRequests) return false;
      used += 1;
      return true;
    },
  };
}
