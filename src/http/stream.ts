import { PassThrough } from "node:stream";
import type { Gauge } from "prom-client";
import { repeat } from "../lib/repeat.ts";
import { onClose, type HttpContext } from "./context.ts";

/** One event of a stream (HTML Living Standard, section 9.2: server-sent events). */
export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  /** Serialized as JSON. */
  readonly data: unknown;
}

/** How long a client waits before it reconnects, in milliseconds. */
const RETRY_MS = 2000;

/**
 * Responds with an event stream. The stream ends after the last event, when the caller leaves, or when `closing` aborts; the source's
 * signal aborts at the same time. Sends a comment every `heartbeatMs`. If the source throws, the stream ends with the event that
 * `describeFailure` returns.
 */
export function sendEvents(
  ctx: HttpContext,
  options: {
    readonly source: (signal: AbortSignal) => AsyncIterable<StreamEvent>;
    readonly describeFailure: (error: unknown) => StreamEvent;
    readonly heartbeatMs: number;
    readonly closing: AbortSignal;
    readonly open: Gauge;
  },
): void {
  const stream = new PassThrough();
  const ended = new AbortController();
  const end = () => ended.abort();
  ctx.status = 200;
  ctx.set("Content-Type", "text/event-stream; charset=utf-8");
  // Buffering proxies (nginx) would hold the events back.
  ctx.set("X-Accel-Buffering", "no");
  ctx.body = stream;
  stream.write(`retry: ${RETRY_MS}\n\n`);
  const beat = async (): Promise<void> => {
    stream.write(": waiting\n\n");
  };
  const stopHeartbeat = repeat(beat, options.heartbeatMs, () => {});
  options.open.inc();
  onClose(ctx, end);
  options.closing.addEventListener("abort", end, { once: true });
  if (options.closing.aborted) end();

  const pump = async () => {
    try {
      for await (const event of options.source(ended.signal)) {
        if (ended.signal.aborted) return;
        stream.write(format(event));
      }
    } catch (error) {
      if (!ended.signal.aborted) stream.write(format(options.describeFailure(error)));
    } finally {
      stopHeartbeat();
      options.closing.removeEventListener("abort", end);
      options.open.dec();
      stream.end();
      ended.abort();
    }
  };
  void pump();
}

function format({ id, event, data }: StreamEvent): string {
  // JSON contains no line breaks, so one data line is enough.
  return `${id === "" ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
