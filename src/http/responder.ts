import type { RequestView } from "../api/types.ts";
import type { Gauge } from "prom-client";
import { isEnded } from "../requests/change.ts";
import type { Command, Dapp, RequestRecord } from "../requests/service.ts";
import { answerError, errorAnswer, type Answer } from "./answer.ts";
import { getDapp, onClose, whileConnected, type HttpContext, type HttpDeps } from "./context.ts";
import { isErrorCode } from "../lib/errorTable.ts";
import { sendAnswer, sendJson } from "./frame.ts";
import { readIdempotencyKey, readPreferences } from "./waitPreference.ts";
import { sendEvents, type StreamEvent } from "./stream.ts";

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

  // HTTP/1.0 callers may send no Host; they get only a path.
  const statusUrl = (ctx: HttpContext, id: string) =>
    `${ctx.host === "" ? "" : `${ctx.protocol}://${ctx.host}`}/api/requests/${id}`;

  const view = (ctx: HttpContext, { dappId: _, ...record }: RequestRecord): RequestView => ({
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
      deps.log.error(
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

  // One listener for all waits: a combined signal per call would cost more than the rest of the route.
  const waiting = new Set<AbortController>();
  const endWaits = () => {
    for (const controller of waiting) controller.abort();
  };
  deps.closingHard.addEventListener("abort", endWaits, { once: true });

  const wait = async (ctx: HttpContext, id: string, timeoutMs: number): Promise<RequestRecord> => {
    const over = new AbortController();
    const end = () => over.abort();
    onClose(ctx, end);
    waiting.add(over);
    if (deps.closingHard.aborted) end();
    try {
      return await service.wait(id, { timeoutMs, signal: over.signal });
    } finally {
      waiting.delete(over);
    }
  };

  return {
    view,
    follow,
    async run(ctx, command) {
      const idempotencyKey = readIdempotencyKey(ctx);
      const { form, respondAsync, waitMs } = readPreferences(ctx);
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

      const timeoutMs = Math.min(waitMs ?? limits.waitTimeoutMs, limits.waitTimeoutMs);
      const current =
        isEnded(record.state) || timeoutMs === 0 ? record : await wait(ctx, record.id, timeoutMs);
      if (respondAsync && !isEnded(current.state)) {
        ctx.set("Location", `/api/requests/${record.id}`);
        ctx.set("Preference-Applied", "respond-async");
        return sendJson(ctx, 202, { data: view(ctx, current) });
      }
      return sendAnswer(ctx, answerRecord(ctx, current));
    },
  };
}
