import { ApiError } from "../../client/index.ts";

/** What asking again doesn't change. */
const FINAL_CODES: readonly string[] = ["not_found", "invalid_parameter"];

interface FollowedQuery<Data> {
  readonly state: { readonly data: Data | undefined; readonly error: Error | null };
}

/** Whether something was refused for good: asking again would not help. */
export function isRefused(error: Error | null): boolean {
  return error instanceof ApiError && FINAL_CODES.includes(error.code);
}

/**
 * Makes a `refetchInterval` that stops where there never was anything but a refusal. Other failures, such as a service that starts,
 * pass.
 *
 * @param intervalOf milliseconds until the next time.
 */
export function refetchUnlessRefused<Data>(intervalOf: (data: Data | undefined) => number) {
  return ({ state: { data, error } }: FollowedQuery<Data>): number | false =>
    data === undefined && isRefused(error) ? false : intervalOf(data);
}
