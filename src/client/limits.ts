import { TimeoutError } from "./errors.ts";

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call; a request that the service has already accepted continues there. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Aborts the call with a {@link TimeoutError}. Default: no timeout; the service itself ends a request after some
   * minutes.
   */
  readonly timeoutMs?: number | undefined;
}

/** Runs `work` within the limits of a call. `onId` reports the request's id, for the error thrown on timeout. */
export async function within<Result>(
  options: CallOptions,
  work: (signal: AbortSignal | undefined, onId: (id: string) => void) => Promise<Result>,
): Promise<Result> {
  const { signal, explain } = createLimit(options);
  let id: string | undefined;
  try {
    return await work(signal, (known) => (id = known));
  } catch (error) {
    throw explain(error, id);
  }
}

/** Creates the signal for a call's limits and the function that turns its timeout into a {@link TimeoutError}. */
export function createLimit({ signal, timeoutMs }: CallOptions) {
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const signals = [signal, timeout].filter((one) => one !== undefined);
  const isTimeout = (error: unknown): boolean => timeout?.aborted === true && error === timeout.reason;
  return {
    signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0],
    explain: (error: unknown, id: string | undefined): unknown =>
      isTimeout(error) ? new TimeoutError(timeoutMs!, id) : error,
  };
}
