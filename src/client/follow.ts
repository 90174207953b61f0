import { ConnectionError, TycheClientError, createApiError } from "./errors.ts";
import { readEvents } from "./readEvents.ts";
import type { OpenStream, Transport } from "./transport.ts";
import type { StateChange } from "./types.ts";

/** An event of a request's stream: each change of state, and finally the result. */
export type RequestEvent<Result> =
  | ({ readonly type: "state" } & StateChange)
  | { readonly type: "result"; readonly result: Result };

/** A connection that lasted this long does not count as failed, even if it brought nothing new. */
const STEADY_MS = 5_000;

/**
 * Yields a request's states as they arrive and then its result, across as many connections as it takes; each connection resumes
 * after the last state received. Gives up when as many connections in a row as there are retries bring nothing new.
 *
 * @throws {ApiError} the failure that ended the request, or an answer that retrying can't fix; {@link ConnectionError}.
 */
export async function* follow<Result>(
  transport: Transport,
  id: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<RequestEvent<Result>> {
  let lastSeq = 0;
  for (let retry = 0; ; retry += 1) {
    const openedAt = performance.now();
    try {
      const headers = {
        accept: "text/event-stream",
        ...(lastSeq === 0 ? {} : { "last-event-id": String(lastSeq) }),
      };
      const path = `/api/requests/${encodeURIComponent(id)}`;
      const stream = await transport.open({ method: "GET", path, headers, signal });
      for await (const event of readStream<Result>(stream)) {
        if (event.type === "state") {
          if (event.seq <= lastSeq) continue;
          lastSeq = event.seq;
        }
        retry = -1;
        yield event;
        if (event.type === "result") return;
      }
      throw new ConnectionError("the event stream ended before the request did");
    } catch (error) {
      signal?.throwIfAborted();
      if (performance.now() - openedAt > STEADY_MS) retry = -1;
      // A connection that breaks during a read throws whatever the platform throws.
      const reason =
        error instanceof TycheClientError ? error : new ConnectionError("the event stream broke off", error);
      await transport.backOff(reason, Math.max(retry, 0), signal);
    }
  }
}

async function* readStream<Result>({ body, touch, end }: OpenStream): AsyncGenerator<RequestEvent<Result>> {
  try {
    if (body === null) return;
    for await (const { event, data: text } of readEvents(body, touch)) {
      const { data } = JSON.parse(text) as { data: Readonly<Record<string, unknown>> };
      if (event === "failure") throw createApiError({ code: String(data["code"]), status: 0, data });
      else if (event === "result") yield { type: "result", result: data as Result };
      else if (event === "state") yield { type: "state", ...(data as unknown as StateChange) };
    }
  } finally {
    end();
  }
}
