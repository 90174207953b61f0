import { listOf } from "../../api/common.ts";
import {
  NewWebhookView,
  SentWebhook,
  WebhookAttemptPage,
  WebhookReplay,
  WebhookTest,
  WebhookView,
} from "../../api/webhooks.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";

const ALL = "/api/webhooks";
const ONE = "/api/webhooks/:webhookId";

/** The webhooks of the key's dapp. */
export function webhookOperations(deps: HttpDeps, webhooks: Webhooks): readonly Operation[] {
  const operation = createOperations(deps, { tag: "Webhooks" });
  return [
    operation({
      id: "createWebhook",
      method: "post",
      path: ALL,
      summary: "Create a webhook",
      description:
        "Events of the key's dapp are sent to `url` as POST, signed as Standard Webhooks specifies. The answer contains the secret that " +
        "the receiver verifies them with; it is not shown again. A dapp has at most 20 webhooks.",
      request: "createWebhook",
      example: { url: "https://example.com/tyche" },
      answer: NewWebhookView,
      run: ({ dapp, values }) => webhooks.create(dapp.id, values),
    }),
    operation({
      id: "listWebhooks",
      path: ALL,
      summary: "List webhooks",
      description: "The webhooks of the key's dapp, oldest first.",
      answer: listOf(WebhookView),
      run: async ({ dapp }) => ({ items: await webhooks.list(dapp.id) }),
    }),
    operation({
      id: "getWebhook",
      path: ONE,
      summary: "Read a webhook",
      description: "A webhook, without its secret, and how many events wait for it.",
      answer: WebhookView,
      run: ({ dapp, param }) => webhooks.get(dapp.id, param("webhookId")),
    }),
    operation({
      id: "changeWebhook",
      method: "patch",
      path: ONE,
      summary: "Change, pause or resume a webhook",
      description:
        "Changes the members that are given. While a webhook is paused, its events are stored; they are delivered when it is resumed, " +
        "up to 30 days later.",
      request: "changeWebhook",
      example: { paused: true },
      answer: WebhookView,
      async run({ ctx, dapp, param, values }) {
        const id = param("webhookId");
        ctx.state.before = await webhooks.get(dapp.id, id);
        return await webhooks.change(dapp.id, id, values);
      },
    }),
    operation({
      id: "deleteWebhook",
      method: "delete",
      path: ONE,
      summary: "Delete a webhook",
      description: "Deletes a webhook with its log; what is still to be delivered is not.",
      answer: WebhookView,
      run: ({ dapp, param }) => webhooks.delete(dapp.id, param("webhookId")),
    }),
    operation({
      id: "rotateWebhookSecret",
      method: "post",
      path: `${ONE}/rotate`,
      summary: "Rotate a webhook's secret",
      description:
        "Creates a new secret, which the answer contains. For `overlapHours`, messages are signed with the previous one as well.",
      request: "rotate",
      example: { overlapHours: 24 },
      answer: NewWebhookView,
      run: ({ dapp, param, values }) => webhooks.rotate(dapp.id, param("webhookId"), values),
    }),
    operation({
      id: "testWebhook",
      method: "post",
      path: `${ONE}/test`,
      summary: "Send a test event",
      description:
        "Sends a `webhook.test` event, or one of another type with sample data that has `test` true, also to a paused webhook and to one that doesn't " +
        "ask for the type. The log of attempts has the outcome.",
      request: "testWebhook",
      example: { type: "request.fulfilled" },
      answer: WebhookTest,
      run: ({ dapp, param, values }) => webhooks.test(dapp.id, param("webhookId"), values),
    }),
    operation({
      id: "listWebhookAttempts",
      path: `${ONE}/attempts`,
      summary: "List attempts",
      description:
        "Every attempt to deliver an event to the webhook in the last 30 days, newest first, page by page: all, or those with an outcome or a type of event.",
      request: "attempts",
      answer: WebhookAttemptPage,
      run: ({ dapp, param, values }) => webhooks.attempts(dapp.id, param("webhookId"), values),
    }),
    operation({
      id: "getWebhookAttempt",
      path: `${ONE}/attempts/:attemptId`,
      summary: "Read an attempt",
      description:
        "An attempt with the message that was sent, its headers but the signature and its body, and with the headers of the answer.",
      answer: SentWebhook,
      run: ({ dapp, param }) => webhooks.attempt(dapp.id, param("webhookId"), param("attemptId")),
    }),
    operation({
      id: "replayWebhook",
      method: "post",
      path: `${ONE}/replay`,
      summary: "Send events again",
      description:
        "Sends one event again, or all events since a moment that are not delivered: with the same `webhook-id`, signed with the present " +
        "secret, also to a paused webhook.",
      request: "replay",
      example: { since: "2026-11-22T08:30:00Z" },
      answer: WebhookReplay,
      run: ({ dapp, param, values: { eventId, since } }) =>
        webhooks.replay(dapp.id, param("webhookId"), parseWhich(eventId, since)),
    }),
  ];
}

function parseWhich(eventId: string | undefined, since: string | undefined) {
  if (eventId !== undefined && since === undefined) return { eventId };
  const at = Date.parse(since ?? "");
  if (eventId === undefined && !Number.isNaN(at)) return { since: at };
  const message =
    eventId === undefined && since !== undefined
      ? `${JSON.stringify(since)} is not a time; expected one such as 2026-11-22T08:30:00Z`
      : "give either eventId or since";
  throw new InvalidParameterError([{ path: since === undefined ? "" : "/since", message }]);
}
