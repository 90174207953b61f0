import { listOf } from "../../api/common.ts";
import {
  NewWebhookView,
  WebhookAttemptPage,
  WebhookReplay,
  WebhookTest,
  WebhookView,
} from "../../api/webhooks.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import { getDapp, type HttpContext, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { RequestSchemas } from "../liveSchemas.ts";
import type { Operation } from "../operation.ts";
import { readParameters, readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";
import type { Validator } from "../validator.ts";
import type { Static } from "typebox";

const ALL = "/api/webhooks";
const ONE = "/api/webhooks/:webhookId";

/** The webhooks of the key's dapp. */
export function webhookOperations(deps: HttpDeps, webhooks: Webhooks): readonly Operation[] {
  /** Creates an operation; `run` gets the dapp, the webhook's id and the parameters, and returns `data`. */
  const operation = <Name extends keyof RequestSchemas>(
    given: Pick<Operation, "id" | "method" | "path" | "summary" | "description" | "answer" | "example"> & {
      readonly request: Name;
      readonly run: (dappId: string, id: string, values: Static<RequestSchemas[Name]>) => Promise<object>;
    },
  ): Operation => {
    const { run, ...rest } = given;
    const takesBody = given.request !== "none" && given.method !== "get";
    return {
      ...rest,
      tag: "Webhooks",
      placement: takesBody ? "body" : "query",
      isAsync: false,
      errors: given.path === ALL ? [] : ["not_found"],
      async handle(ctx) {
        const values = takesBody ? await readParameters(ctx, deps.limits) : readQuery(ctx);
        const validate = deps.schemas().validate[given.request] as Validator<Static<RequestSchemas[Name]>>;
        const parsed = parseRequest(values, validate);
        sendJson(ctx, 200, { data: await run(getDapp(ctx).id, idOf(ctx), parsed) });
      },
    };
  };

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
      run: (dappId, _id, values) => webhooks.create(dappId, values),
    }),
    operation({
      id: "listWebhooks",
      method: "get",
      path: ALL,
      summary: "List webhooks",
      description: "The webhooks of the key's dapp, oldest first.",
      request: "none",
      answer: listOf(WebhookView),
      run: async (dappId) => ({ items: await webhooks.list(dappId) }),
    }),
    operation({
      id: "getWebhook",
      method: "get",
      path: ONE,
      summary: "Read a webhook",
      description: "A webhook, without its secret, and how many events wait for it.",
      request: "none",
      answer: WebhookView,
      run: (dappId, id) => webhooks.get(dappId, id),
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
      run: (dappId, id, values) => webhooks.change(dappId, id, values),
    }),
    operation({
      id: "deleteWebhook",
      method: "delete",
      path: ONE,
      summary: "Delete a webhook",
      description: "Deletes a webhook with its log; what is still to be delivered is not.",
      request: "none",
      answer: WebhookView,
      run: (dappId, id) => webhooks.delete(dappId, id),
    }),
    operation({
      id: "rotateWebhookSecret",
      method: "post",
      path: `${ONE}/rotate`,
      summary: "Rotate a webhook's secret",
      description:
        "Creates a new secret, which the answer contains. For 24 hours, messages are signed with the previous one as well.",
      request: "none",
      answer: NewWebhookView,
      run: (dappId, id) => webhooks.rotate(dappId, id),
    }),
    operation({
      id: "testWebhook",
      method: "post",
      path: `${ONE}/test`,
      summary: "Send a test event",
      description:
        "Sends a `webhook.test` event, also to a paused webhook. The log of attempts has the outcome.",
      request: "none",
      answer: WebhookTest,
      run: (dappId, id) => webhooks.test(dappId, id),
    }),
    operation({
      id: "listWebhookAttempts",
      method: "get",
      path: `${ONE}/attempts`,
      summary: "List attempts",
      description:
        "Every attempt to deliver an event to the webhook in the last 30 days, newest first, page by page.",
      request: "attempts",
      answer: WebhookAttemptPage,
      run: (dappId, id, values) => webhooks.attempts(dappId, id, values),
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
      run: (dappId, id, { eventId, since }) => webhooks.replay(dappId, id, parseWhich(eventId, since)),
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

function idOf(ctx: HttpContext): string {
  const { webhookId = "" } = ctx["params"] as Readonly<Record<string, string>>;
  return webhookId;
}
