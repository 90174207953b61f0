import { Type } from "typebox";
import { WEBHOOK_EVENTS } from "../domain/vocabulary.ts";
import { nullable, pageOf, time } from "./common.ts";

/** An address at which a dapp's server is told events. */
export const WebhookView = Type.Object({
  id: Type.String({ description: "Identifier: `wh_` and 26 characters." }),
  url: Type.String({ description: "Where events are sent." }),
  description: Type.String({ description: "Its owner's note; may be empty." }),
  events: Type.Array(Type.Enum([...WEBHOOK_EVENTS]), { description: "Types of the events that it is told." }),
  signature: Type.Enum(["hmac", "ed25519"], {
    description: "`hmac`: HMAC-SHA256, `v1` in the signature header; `ed25519`: `v1a`.",
  }),
  publicKey: nullable(
    Type.String(),
    "`whpk_` and the public key in base64, to verify ed25519 signatures with; `null` for `hmac`.",
  ),
  createdAt: time("When it was created."),
  previousSecretUntil: nullable(
    time("Until when the secret before the last rotation signs, too; `null` if only one secret signs."),
  ),
  pausedAt: nullable(time("When it was paused; `null` while it is active.")),
  pausedWhy: nullable(
    Type.Enum(["owner", "gone", "failing"]),
    "`owner`: its owner paused it; `gone`: it answered 410; `failing`: each attempt failed for five days.",
  ),
  failingSince: nullable(
    time("First failed attempt since the last successful one; `null` while attempts succeed."),
  ),
  lastSuccessAt: nullable(time("When its last successful attempt began; `null` if there is none yet.")),
  pending: Type.Integer({ description: "Events that are still to be delivered." }),
  failed: Type.Integer({ description: "Events whose attempts all failed; they can be replayed." }),
});

/** A webhook with the secret that its receiver verifies messages with, which is shown only on creation and rotation. */
export const NewWebhookView = Type.Object({
  ...WebhookView.properties,
  secret: nullable(
    Type.String(),
    "`whsec_` and the HMAC key in base64, shown this once; `null` for `ed25519`, where `publicKey` verifies.",
  ),
});

/** One attempt to deliver an event. */
export const WebhookAttempt = Type.Object({
  id: Type.String({ description: "`att_` and 26 characters, ordered by time." }),
  eventId: Type.String({ description: "Identifier of the event: the `webhook-id` of each attempt." }),
  number: Type.Integer({ description: "Which attempt to deliver the event it is, from 1." }),
  type: nullable(Type.String(), "Type of the event; `null` if it is no longer stored."),
  subject: nullable(Type.String(), "What the event is about, such as the id of a request."),
  at: time("When the attempt began."),
  durationMs: Type.Integer(),
  success: Type.Boolean({ description: "Whether the answer's status was 2xx." }),
  status: nullable(Type.Integer(), "HTTP status of the answer; `null` if none came."),
  error: nullable(Type.String(), "Why no answer came; `null` if one did."),
  answer: Type.String({ description: "The first 2,048 bytes of the answer's body, as text." }),
  nextAttemptAt: nullable(
    time(
      "When the event is sent again; `null` at all but its last attempt, and once it has been delivered, or given up.",
    ),
  ),
  eventState: nullable(
    Type.Enum(["pending", "delivered", "failed"]),
    "What has become of the event by now: `delivered` by this attempt or another, `failed` after the last one; `null` once it is no longer stored.",
  ),
});

/** An attempt with the message that was sent. */
export const SentWebhook = Type.Object({
  ...WebhookAttempt.properties,
  headers: Type.Record(Type.String(), Type.String(), {
    description: "Its headers, but `webhook-signature`, which isn't kept.",
  }),
  body: nullable(Type.String(), "Its body, byte for byte; `null` once the event is no longer stored."),
  answerHeaders: nullable(
    Type.Record(Type.String(), Type.String()),
    "Headers of the answer, up to 2,048 bytes, but those that may hold secrets, such as `set-cookie`; `null` if no answer came.",
  ),
});

/** A page of a webhook's attempts. */
export const WebhookAttemptPage = pageOf(WebhookAttempt);

/** A test event that is on its way. */
export const WebhookTest = Type.Object({
  eventId: Type.String({ description: "Identifier of the event, to find its attempts by." }),
});

export const WebhookReplay = Type.Object({
  replayed: Type.Integer({ description: "How many events are sent again." }),
});
