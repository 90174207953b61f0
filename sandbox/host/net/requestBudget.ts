import { DEFAULT_LIMITS, type RunLimits } from "../../limits.ts";

/** The limits of a run that its HTTP requests are bound by. */
export type FetchLimits = Pick<
  RunLimits,
  | "maxHttpRequests"
  | "maxHttpDurationMs"
  | "maxHttpUrlLength"
  | "maxHttpRequestBytes"
  | "maxHttpResponseBytes"
>;

/** The network allowance of one run. Shared by all its requests, never between runs. */
export interface RequestBudget {
  readonly limits: FetchLimits;
  /** Requests served or in flight so far; never above `limits.maxHttpRequests`. */
  readonly used: number;
  /** Counts one request and returns whether it is still allowed. */
  take(): boolean;
}

/**
 * Creates the allowance of one run.
 *
 * @param limits Overrides individual defaults of {@link DEFAULT_LIMITS}.
 */
export function createRequestBudget(limits: Partial<FetchLimits> = {}): RequestBudget {
  const merged = { ...DEFAULT_LIMITS, ...limits };
  let used = 0;
  return {
    limits: merged,
    get used() {
      return used;
    },
    take() {
      if (used >= merged.maxHttpRequests) return false;
      used += 1;
      return true;
    },
  };
}
