import { ApiError, type SearchResult } from "../../client/index.ts";

/** Error codes that a retry doesn't change. */
const FINAL_CODES: readonly string[] = ["not_found", "forbidden", "invalid_parameter"];

interface FollowedQuery<Data> {
  readonly state: {
    readonly data: Data | undefined;
    readonly error: Error | null;
    readonly dataUpdateCount: number;
    readonly errorUpdateCount: number;
  };
}

/** Whether a call was refused permanently, so that repeating it would not help. */
export function isRefused(error: Error | null): boolean {
  return error instanceof ApiError && FINAL_CODES.includes(error.code);
}

/**
 * Creates a `refetchInterval` that stops if there has never been anything but a refusal. Other failures, such as a service that is
 * starting, are temporary.
 *
 * @param intervalOf milliseconds until the next fetch; false: there is none.
 */
export function refetchUnlessRefused<Data>(intervalOf: (data: Data | undefined) => number | false) {
  return ({ state: { data, error } }: FollowedQuery<Data>): number | false =>
    data === undefined && isRefused(error) ? false : intervalOf(data);
}

/** Pause before networks that could not be searched are searched again, and its limit, in ms: each time asks all networks, so it doubles. */
const SEARCH_AGAIN_MS = 3_000;
const MAX_PAUSE_MS = 30_000;

/** The `refetchInterval` of a search: again after a failure, and for as long as there are networks that could not be searched. */
export function searchWhileSilent({ state }: FollowedQuery<SearchResult>): number | false {
  const pauseMs = Math.min(
    SEARCH_AGAIN_MS * 2 ** Math.max(0, state.dataUpdateCount + state.errorUpdateCount - 1),
    MAX_PAUSE_MS,
  );
  return refetchUnlessRefused<SearchResult>(
    (result) => (result === undefined || result.silent.length > 0) && pauseMs,
  )({ state });
}
