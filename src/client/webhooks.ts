import type { CallOptions } from "./limits.ts";
import { createResource } from "./resource.ts";
import type { Transport } from "./transport.ts";
import type {
  AttemptsParams,
  ChangeWebhookParams,
  CreateWebhookParams,
  NewWebhookView,
  RotateParams,
  SentWebhook,
  TestWebhookParams,
  WebhookAttemptPage,
  WebhookReplay,
  WebhookTest,
  WebhookView,
} from "./types.ts";

/** The webhooks of a dapp. */
export interface WebhookCalls {
  /** The answer has the secret, which is not shown again. Not repeated if its answer is lost. */
  create(params: CreateWebhookParams, options?: CallOptions): Promise<NewWebhookView>;
  list(options?: CallOptions): Promise<readonly WebhookView[]>;
  get(id: string, options?: CallOptions): Promise<WebhookView>;
  /** Changes what is given; `paused` pauses or resumes. */
  change(id: string, changes: ChangeWebhookParams, options?: CallOptions): Promise<WebhookView>;
  delete(id: string, options?: CallOptions): Promise<WebhookView>;
  /** Replaces the secret; the previous one signs as well for `overlapHours` (default 24; 0: not at all). Not repeated if its answer is lost. */
  rotate(id: string, params?: RotateParams, options?: CallOptions): Promise<NewWebhookView>;
  /** Sends a `webhook.test` event, or a sample of another type, whose `data.test` is true. */
  test(id: string, params?: TestWebhookParams, options?: CallOptions): Promise<WebhookTest>;
  /** Lists the attempts of the last 30 days, newest first. */
  attempts(id: string, page?: AttemptsParams, options?: CallOptions): Promise<WebhookAttemptPage>;
  /** Returns an attempt with the message that was sent. */
  attempt(id: string, attemptId: string, options?: CallOptions): Promise<SentWebhook>;
  /** Sends one event again, or all undelivered ones since a moment, ISO 8601. */
  replay(
    id: string,
    which: { readonly eventId: string } | { readonly since: string },
    options?: CallOptions,
  ): Promise<WebhookReplay>;
}

/** Creates the calls of webhooks. */
export function createWebhookCalls(transport: Transport): WebhookCalls {
  const { calls, send, get, of } = createResource<WebhookView, NewWebhookView>(transport, "/api/webhooks");
  return {
    ...calls,
    rotate: (id, body = {}, options) =>
      send({ method: "POST", path: of(id, "/rotate"), body, isOnce: true }, options),
    test: (id, body = {}, options) =>
      send({ method: "POST", path: of(id, "/test"), body, isOnce: true }, options),
    attempts: (id, page, options) => get(of(id, "/attempts"), options, page),
    attempt: (id, attemptId, options) => get(of(id, `/attempts/${encodeURIComponent(attemptId)}`), options),
    replay: (id, body, options) => send({ method: "POST", path: of(id, "/replay"), body }, options),
  };
}
