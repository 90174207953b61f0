import type { BeaconView } from "../../api/types.ts";
import { createId } from "../../domain/id.ts";
import { isEnded, type WebhookEvent } from "../../domain/vocabulary.ts";
import { addEvents, type OutboxEvent } from "../../store/outbox.ts";
import type { OpenRequest, RequestStep } from "../openRequest.ts";
import { failureOf, presentRequest, triggerIdOf } from "../read/present.ts";
import type { RequestOutbox } from "../requestBook.ts";
import type { TimelineEntry } from "../../store/requests.ts";

/** Bytes of a body. A result that doesn't fit is left out: it can be read at `statusUrl`. */
const MAX_BODY_BYTES = 20_000;
const MAX_TEXT_CHARACTERS = 1_000;

/**
 * Creates what stores the events of requests: an end, and an end that a reorg took back.
 *
 * @param options.baseUrl address of this service for callers, without a trailing slash.
 * @param options.wake called when something is to be delivered.
 */
export function createRequestOutbox(options: {
  readonly baseUrl: () => string;
  readonly wake: () => void;
}): RequestOutbox {
  return {
    add: (db, steps) =>
      addEvents(
        db,
        steps.flatMap((step) => eventsOf(step, options.baseUrl())),
      ),
    wake: options.wake,
  };
}

/** Returns the events in one stored change of a request, in order. */
export function eventsOf({ before, after }: RequestStep, baseUrl: string): OutboxEvent[] {
  const { timeline } = after;
  const known = before?.timeline.length ?? 0;
  return timeline.slice(known).flatMap((entry, i) => {
    const type = typeOf(entry, timeline[known + i - 1]);
    if (type === undefined) return [];
    const { id, dappId } = after;
    const write = (): string =>
      writeBody(type, entry, { request: after, isNow: entry === timeline.at(-1), baseUrl });
    return [{ id: createId("evt", entry.at), dappId, type, subject: id, write, at: entry.at }];
  });
}

function typeOf({ state }: TimelineEntry, previous: TimelineEntry | undefined): WebhookEvent | undefined {
  if (state === "fulfilled") return "request.fulfilled";
  if (state === "failed") return "request.failed";
  return previous !== undefined && isEnded(previous.state) ? "request.reopened" : undefined;
}

/** @param context.isNow whether the request is still in the entry's state, so that it has its result. */
function writeBody(
  type: WebhookEvent,
  { seq, state, at, detail }: TimelineEntry,
  context: { readonly request: OpenRequest; readonly isNow: boolean; readonly baseUrl: string },
): string {
  const { request, isNow, baseUrl } = context;
  const { id, kind, network } = request;
  const { label, beacon } = request.params as { readonly label?: string; readonly beacon?: BeaconView };
  const triggerId = triggerIdOf(request);
  const timestamp = new Date(at).toISOString();
  const data = {
    id,
    sequence: seq,
    kind,
    network,
    state,
    ...(triggerId === null ? {} : { triggerId }),
    ...(label === undefined ? {} : { label }),
    ...(beacon === undefined ? {} : { beacon }),
    ...(detail === undefined ? {} : { detail: cut(detail) }),
    statusUrl: `${baseUrl}/api/requests/${id}`,
  };
  const full = JSON.stringify({
    type,
    timestamp,
    data: { ...data, ...(isNow ? describeEnd(request, `${baseUrl}/r/${id}`) : {}) },
  });
  return Buffer.byteLength(full) <= MAX_BODY_BYTES ? full : JSON.stringify({ type, timestamp, data });
}

/** Returns a request's result or error, if it has ended; nothing of one that can't be presented, which must not keep others from ending. */
function describeEnd(request: OpenRequest, share: string): object {
  try {
    const { state, outcome, shareUrl } = presentRequest(request, { explorer: undefined, share });
    const common = {
      ...(outcome !== null && "requestId" in outcome ? { requestId: outcome.requestId } : {}),
      ...(shareUrl === undefined ? {} : { shareUrl }),
    };
    if (state === "fulfilled")
      return { ...common, ...(outcome !== null && "value" in outcome ? { result: outcome.value } : {}) };
    const failure = failureOf(request);
    if (failure === null) return {};
    return { ...common, error: { code: failure.code, message: cut(failure.message) } };
  } catch {
    return {};
  }
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT_CHARACTERS);
}
