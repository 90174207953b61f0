import { Pool } from "undici";

/** One call of a load; its answer must be 200 with `data.success`, with a request id that no other call got. */
export interface LoadCall {
  readonly path: string;
  readonly body: unknown;
}

interface LoadOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Calls in flight at any moment, each on a keep-alive connection of its own. */
  readonly inFlight: number;
  /** No call begins after this time. */
  readonly durationMs: number;
  readonly call: (index: number) => LoadCall;
  /** Gets the `data` of every successful answer. Default: ignored. */
  readonly onAnswer?: (data: unknown) => void;
  /** Asked periodically whether to stop beginning calls. Default: never. */
  readonly isEnough?: () => Promise<boolean>;
}

/** The measurements of a load. */
export interface LoadResult {
  readonly inFlight: number;
  readonly requests: number;
  readonly failed: number;
  /** Text of the first failure. */
  readonly firstFailure: string | undefined;
  /** From the first call's start to the last answer, including ramp-up and drain. */
  readonly seconds: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** How often {@link LoadOptions.isEnough} is asked. */
const ASK_INTERVAL_MS = 100;

/** Keeps `inFlight` calls in flight: each answer begins the next call. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { url, headers, inFlight, call } = options;
  const pool = new Pool(url, { connections: inFlight, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const requestHeaders = { "content-type": "application/json", ...headers };
  const latencies: number[] = [];
  const requestIds = new Set<string>();
  let index = 0;
  let failed = 0;
  let firstFailure: string | undefined;
  let isOver = false;

  const post = async ({ path, body }: LoadCall): Promise<string | undefined> => {
    const answer = await pool.request({
      path,
      method: "POST",
      headers: requestHeaders,
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) return `${answer.statusCode}: ${text}`;
    const { data } = JSON.parse(text) as { data: { success: boolean; requestId: string } };
    if (!data.success) return text;
    if (requestIds.has(data.requestId)) return `request ${data.requestId} answered two calls`;
    requestIds.add(data.requestId);
    options.onAnswer?.(data);
    return undefined;
  };
  const lane = async (): Promise<void> => {
    while (!isOver) {
      const beganMs = performance.now();
      const failure = await post(call(index++)).catch(String);
      latencies.push(performance.now() - beganMs);
      if (failure === undefined) continue;
      failed += 1;
      firstFailure ??= failure;
    }
  };

  const startMs = performance.now();
  const timer = setTimeout(() => (isOver = true), options.durationMs);
  const ask = setInterval(() => {
    options.isEnough?.().then(
      (enough) => (isOver ||= enough),
      () => {},
    );
  }, ASK_INTERVAL_MS);
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - startMs) / 1000;
  clearTimeout(timer);
  clearInterval(ask);
  await pool.close();
  latencies.sort((a, b) => a - b);
  return {
    inFlight,
    requests: latencies.length,
    failed,
    firstFailure,
    seconds,
    requestsPerSecond: (latencies.length - failed) / seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    maxMs: latencies.at(-1) ?? Number.NaN,
  };
}

/** Returns the smallest value that at least this share of the sorted values does not exceed. */
function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}
