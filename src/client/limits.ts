import { TimeoutError } from "./errors.ts";
import type { CallOptions } from "./requests.ts";

/** Does something within the limits of a call; `onId` is told of which request it is, for the error of a time that is over. */
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

/** Signal and explanation of a call's limits. */
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
