import type { CallOptions } from "./requests.ts";
import { createResource } from "./resource.ts";
import type { Transport } from "./transport.ts";
import type {
  NewWebhookView,
  SentWebhook,
  WebhookAttemptPage,
  WebhookReplay,
  WebhookTest,
  WebhookView,
} from "./types.ts";

/** What is set of a webhook. */
export interface WebhookParams {
  /** An https URL on a public host. */
  readonly url?: string | undefined;
  /** Default: all. */
  readonly events?: WebhookView["events"] | undefined;
  /** A note of your own. */
  readonly description?: string | undefined;
}

/** The webhooks of a dapp. */
export interface WebhookCalls {
  /** The answer has the secret, which is not shown again. Not repeated if its answer is lost. */
  create(
    params: WebhookParams & {
      readonly url: string;
      readonly signature?: WebhookView["signature"] | undefined;
    },
    options?: CallOptions,
  ): Promise<NewWebhookView>;
  list(options?: CallOptions): Promise<readonly WebhookView[]>;
  get(id: string, options?: CallOptions): Promise<WebhookView>;
  /** Changes what is given; `paused` pauses or resumes. */
  change(
    id: string,
    changes: WebhookParams & { readonly paused?: boolean | undefined },
    options?: CallOptions,
  ): Promise<WebhookView>;
  delete(id: string, options?: CallOptions): Promise<WebhookView>;
  /** Replaces the secret; the previous one signs as well for `overlapHours` (default 24; 0: not at all). Not repeated if its answer is lost. */
  rotate(
    id: string,
    params?: { readonly overlapHours?: number | undefined },
    options?: CallOptions,
  ): Promise<NewWebhookView>;
  /** Sends a `webhook.test` event, or a sample of another type, whose `data.test` is true. */
  test(
    id: string,
    params?: { readonly type?: WebhookView["events"][number] | "webhook.test" | undefined },
    options?: CallOptions,
  ): Promise<WebhookTest>;
  /** Lists the attempts of the last 30 days, newest first. */
  attempts(
    id: string,
    page?: {
      readonly limit?: number | undefined;
      readonly cursor?: string | undefined;
      /** Only those answered with 2xx, or only the others. */
      readonly state?: "delivered" | "failed" | undefined;
      /** Type of the event. */
      readonly type?: WebhookView["events"][number] | "webhook.test" | undefined;
      /** Identifier of the event, which messages have as `webhook-id`. */
      readonly eventId?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<WebhookAttemptPage>;
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
  const { calls, send, of } = createResource<WebhookView, NewWebhookView>(transport, "/api/webhooks");
  return {
    ...calls,
    rotate: (id, body = {}, options) =>
      send({ method: "POST", path: of(id, "/rotate"), body, isOnce: true }, options),
    test: (id, body = {}, options) =>
      send({ method: "POST", path: of(id, "/test"), body, isOnce: true }, options),
    attempts: (id, page = {}, options) =>
      send({ method: "GET", path: of(id, "/attempts"), query: { ...page } }, options),
    attempt: (id, attemptId, options) =>
      send({ method: "GET", path: of(id, `/attempts/${encodeURIComponent(attemptId)}`) }, options),
    replay: (id, body, options) => send({ method: "POST", path: of(id, "/replay"), body }, options),
  };
}
