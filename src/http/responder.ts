import { PassThrough } from "node:stream";
import type { RequestView } from "../api/types.ts";
import type { Gauge } from "prom-client";
import type { Command, RequestRecord } from "../requests/service.ts";
import { answerError, errorAnswer, type Answer } from "./answer.ts";
import { getDapp, onClose, whileConnected, type HttpContext, type HttpDeps } from "./context.ts";
import { isErrorCode } from "./errorTable.ts";
import { repeat } from "../lib/repeat.ts";
import { sendAnswer, sendJson } from "./frame.ts";
import { readIdempotencyKey, readPreferences } from "./waitPreference.ts";
import { isEnded } from "../domain/vocabulary.ts";
import type { Dapp } from "../dapps/dapp.ts";

/** Submits requests to the service and responds with the outcome. */
export interface Responder {
  /** Submits a command and responds with its result, or as `Prefer` and `Accept` ask. */
  run(ctx: HttpContext, command: Command): Promise<void>;
  /** Streams the states of a request after `Last-Event-ID`, then its result. */
  follow(ctx: HttpContext, record: RequestRecord): void;
  view(ctx: HttpContext, record: RequestRecord): RequestView;
}

/** Members of a failure that has a request. */
function referTo({ id, shareUrl }: RequestRecord, statusUrl: string) {
  return { id, statusUrl, ...(shareUrl === undefined ? {} : { shareUrl, value: null }) };
}

/** Id of the event that carries a stream's result; a client that has it needs nothing more. */
const RESULT_EVENT_ID = "end";

export function createResponder(deps: HttpDeps, options: { readonly openStreams: Gauge }): Responder {
  const { service, limits } = deps;
  const { view, answerRecord } = createAnswers(deps.log);
  const wait = createWaits(deps);

  const follow = (ctx: HttpContext, record: RequestRecord) => {
    const dapp = getDapp(ctx);
    const lastEventId = ctx.get("Last-Event-ID");
    if (lastEventId === RESULT_EVENT_ID) {
      // 204 tells a client not to reconnect (HTML Living Standard, section 9.2.3).
      ctx.status = 204;
      return;
    }
    const afterSeq = /^[0-9]{1,9}$/.test(lastEventId) ? Number(lastEventId) : 0;
    sendEvents(ctx, {
      source: (signal) => events(ctx, dapp, record, afterSeq, signal),
      describeFailure: (error) => {
        const { data } = answerError(error, { correlationId: ctx.state.requestId });
        deps.log.warn({ requestId: ctx.state.requestId, id: record.id, err: error }, "event stream failed");
        return { id: "", event: "failure", data: { data } };
      },
      isAllowed: async () => (await ctx.state.isStillAdmitted?.()) ?? true,
      heartbeatMs: limits.heartbeatMs,
      closing: deps.closing,
      open: options.openStreams,
    });
  };

  async function* events(
    ctx: HttpContext,
    dapp: Dapp,
    record: RequestRecord,
    afterSeq: number,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    for await (const entry of service.watch(dapp, record.id, { afterSeq, signal })) {
      const data = { id: record.id, ...entry };
      yield { id: String(entry.seq), event: "state", data: { data } };
    }
    const ended = await service.getRequest(dapp, record.id);
    if (!isEnded(ended.state)) return;
    const answer = answerRecord(ctx, ended);
    const event = answer.status === 200 ? "result" : "failure";
    yield { id: RESULT_EVENT_ID, event, data: { data: answer.data } };
  }

  return {
    view,
    follow,
    async run(ctx, command) {
      const idempotencyKey = readIdempotencyKey(ctx);
      const { form, respondAsync, waitMs } = readPreferences(ctx, limits);
      const record = await whileConnected(ctx, (signal) =>
        service.submit(getDapp(ctx), command, {
          ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
          ...(respondAsync && form === "json" ? { isAsync: true } : {}),
          signal,
        }),
      );
      if (record === undefined) return;
      ctx.set("Tyche-Request-Id", record.id);
      if (form === "events") return follow(ctx, record);

      const current = isEnded(record.state) || waitMs === 0 ? record : await wait(ctx, record.id, waitMs);
      if (respondAsync && !isEnded(current.state)) {
        ctx.set("Location", `/api/requests/${record.id}`);
        ctx.set("Preference-Applied", "respond-async");
        return sendJson(ctx, 202, { data: view(ctx, current) });
      }
      return sendAnswer(ctx, answerRecord(ctx, current));
    },
  };
}

/** Creates what says how a request stands. */
function createAnswers(log: HttpDeps["log"]) {
  // HTTP/1.0 callers may send no Host; they get only a path.
  const statusUrl = (ctx: HttpContext, id: string) =>
    `${ctx.host === "" ? "" : `${ctx.protocol}://${ctx.host}`}/api/requests/${id}`;

  const view = (ctx: HttpContext, record: RequestRecord): RequestView => ({
    ...record,
    statusUrl: statusUrl(ctx, record.id),
  });

  /** Builds the response for a request that has ended, or that has not ended within the wait limit. */
  const answerRecord = (ctx: HttpContext, record: RequestRecord): Answer => {
    const reference = referTo(record, statusUrl(ctx, record.id));
    if (record.outcome !== null && "requestId" in record.outcome)
      ctx.state.requestIdOnChain = record.outcome.requestId;
    if (record.outcome !== null) return { status: 200, headers: {}, data: { ...record.outcome } };
    if (record.error !== null) {
      const { code, message } = record.error;
      if (isErrorCode(code) && code !== "internal") return errorAnswer(code, message, reference);
      log.error(
        { requestId: ctx.state.requestId, id: record.id, code, reason: message },
        "a request ended with an error that callers are not shown",
      );
      return answerError(undefined, { correlationId: ctx.state.requestId });
    }
    const why = record.why === null ? "" : ` Reason: ${record.why}.`;
    const err = `There is no result yet: the request is in state ${record.state} and continues.${why} Read the result at statusUrl.`;
    return errorAnswer("still_pending", err, reference, {
      "Retry-After": "5",
      Location: `/api/requests/${record.id}`,
    });
  };

  return { view, answerRecord };
}

/** Creates what waits for a request's end while its caller is connected and the service runs. */
function createWaits({
  service,
  closingHard,
}: HttpDeps): (ctx: HttpContext, id: string, timeoutMs: number) => Promise<RequestRecord> {
  // One listener for all waits: a combined signal per call would cost more than the rest of the route.
  const waiting = new Set<AbortController>();
  const endWaits = () => {
    for (const controller of waiting) controller.abort();
  };
  closingHard.addEventListener("abort", endWaits, { once: true });

  return async (ctx, id, timeoutMs) => {
    const over = new AbortController();
    const end = () => over.abort();
    onClose(ctx, end);
    waiting.add(over);
    if (closingHard.aborted) end();
    try {
      return await service.wait(id, { timeoutMs, signal: over.signal });
    } finally {
      waiting.delete(over);
    }
  };
}

/** One event of a stream (HTML Living Standard, section 9.2: server-sent events). */
interface StreamEvent {
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
function sendEvents(
  ctx: HttpContext,
  options: {
    readonly source: (signal: AbortSignal) => AsyncIterable<StreamEvent>;
    readonly describeFailure: (error: unknown) => StreamEvent;
    /** Asked before each event and each comment: the stream ends without a word once a session, a role or a key has ended. */
    readonly isAllowed: () => Promise<boolean>;
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
    const isAllowed = await options.isAllowed();
    // What is written after the end would take with it what the caller has not read yet.
    if (ended.signal.aborted) return;
    if (isAllowed) stream.write(": waiting\n\n");
    else end();
  };
  const stopHeartbeat = repeat(beat, options.heartbeatMs, () => {});
  options.open.inc();
  onClose(ctx, end);
  options.closing.addEventListener("abort", end, { once: true });
  if (options.closing.aborted) end();

  const pump = async () => {
    try {
      for await (const event of options.source(ended.signal)) {
        if (ended.signal.aborted || !(await options.isAllowed())) return;
        stream.write(format(event));
      }
    } catch (error) {
      if (!ended.signal.aborted) stream.write(format(options.describeFailure(error)));
    } finally {
      stopHeartbeat();
      options.closing.removeEventListener("abort", end);
      options.open.dec();
      end();
      stream.end();
    }
  };
  void pump();
}

function format({ id, event, data }: StreamEvent): string {
  // JSON contains no line breaks, so one data line is enough.
  return `${id === "" ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
