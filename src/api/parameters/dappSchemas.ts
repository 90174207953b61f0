import { Type } from "typebox";
import type { Hex } from "viem";
import { idPattern } from "../../domain/idForm.ts";
import { EXPECTED } from "../../lib/schemaCheck.ts";
import {
  BEACONS,
  FACILITIES,
  KEY_ACCESSES,
  MAX_DAILY_LIMIT,
  MAX_OVERLAP_HOURS,
  OVERLAP_HOURS,
  ROLES,
  TIME_PATTERN,
  TOLD_EVENTS,
  WEBHOOK_EVENTS,
  type Beacon,
  type Facility,
  type WebhookEvent,
} from "../../domain/vocabulary.ts";
import { addressParameter, networkParameter, oneOf, STRICT, type SchemaTerms } from "./parameterSchemas.ts";

const role = () => Type.Enum([...ROLES], { description: "What the member may do." });

const webhookUrl = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: "Where events are sent: an https URL on a public host.",
});

const webhookEvents = (fallback?: readonly WebhookEvent[]) =>
  Type.Array(Type.Enum([...WEBHOOK_EVENTS]), {
    minItems: 1,
    uniqueItems: true,
    ...(fallback === undefined ? {} : { default: fallback }),
    [EXPECTED]: `an array of ${WEBHOOK_EVENTS.join(", ")}`,
    description: "Types of the events to be told.",
  });

const note = (fallback?: string) =>
  Type.String({
    maxLength: 200,
    ...(fallback === undefined ? {} : { default: fallback }),
    description: "A note of your own: at most 200 characters.",
  });

const keyExpiry = (description: string) =>
  Type.Union([Type.String({ pattern: TIME_PATTERN }), Type.Null()], {
    [EXPECTED]: "a time such as 2026-12-31T23:59:59Z, or null",
    description,
  });

const facilities = (description: string, fallback?: readonly Facility[]) =>
  Type.Array(Type.Enum([...FACILITIES]), {
    minItems: 1,
    uniqueItems: true,
    ...(fallback === undefined ? {} : { default: fallback }),
    [EXPECTED]: "an array of presets, functions or both",
    description,
  });

/** A dapp, its keys, people and webhooks. */
export const DAPP_SCHEMAS = {
  createDapp: Type.Object(
    {
      name: Type.String({
        description: "Its name: 1 to 60 characters. Everybody sees it on results with a label.",
      }),
      facilities: facilities("What it may use; `presets` includes random numbers.", FACILITIES),
    },
    STRICT,
  ),
  updateDapp: Type.Object(
    {
      name: Type.Optional(
        Type.String({
          description: "The new name: 1 to 60 characters. Everybody sees it on results with a label.",
        }),
      ),
      facilities: Type.Optional(
        facilities("What it may use from now on. Only the operator may set it; others get 403 `forbidden`."),
      ),
      beacon: Type.Optional(
        Type.Unsafe<Beacon | null>({
          enum: [...BEACONS, null],
          [EXPECTED]: `${BEACONS.join(", ")} or null`,
          description:
            "What presets wait for where a call doesn't say it, see `beacon` of presets. `null`: what the network says, as by default.",
        }),
      ),
    },
    STRICT,
  ),
  addKey: Type.Object(
    {
      name: Type.String({ default: "", description: "Name of the key: at most 60 characters." }),
      dailyLimit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_DAILY_LIMIT,
          description:
            "Maximum number of requests that the key may make per day (UTC); further calls get 429. Default: no limit.",
        }),
      ),
      access: Type.Enum([...KEY_ACCESSES], {
        default: "full",
        description: "What calls with it may do: `read` takes GET alone, and refuses others with 403.",
      }),
      expiresAt: Type.Optional(
        keyExpiry("From then on calls with it get 401 `key_expired`. Default: never."),
      ),
    },
    STRICT,
  ),
  changeKey: Type.Object(
    {
      name: Type.Optional(
        Type.String({ description: "The new name: at most 60 characters; empty for none." }),
      ),
      dailyLimit: Type.Optional(
        Type.Union([Type.Integer({ minimum: 1, maximum: MAX_DAILY_LIMIT }), Type.Null()], {
          [EXPECTED]: `a whole number from 1 to ${MAX_DAILY_LIMIT}, or null`,
          description: "Maximum number of requests that the key may make per day (UTC); `null` for no limit.",
        }),
      ),
      expiresAt: Type.Optional(
        keyExpiry("From then on calls with it get 401 `key_expired`; `null` for never."),
      ),
    },
    STRICT,
  ),
  rotate: Type.Object(
    {
      overlapHours: Type.Integer({
        minimum: 0,
        maximum: MAX_OVERLAP_HOURS,
        default: OVERLAP_HOURS,
        description:
          "For how many hours the present value stays valid beside the new one; 0: it ends at once.",
      }),
    },
    STRICT,
  ),
  createInvitation: Type.Object(
    {
      role: role(),
      name: Type.String({ default: "", description: "Who it is for: at most 60 characters." }),
    },
    STRICT,
  ),
  changeMember: Type.Object({ role: role() }, STRICT),
  changePerson: Type.Object(
    {
      isOperator: Type.Boolean({
        [EXPECTED]: "true or false",
        description: "Whether everything is allowed.",
      }),
    },
    STRICT,
  ),
  createWebhook: Type.Object(
    {
      url: webhookUrl,
      events: webhookEvents([...WEBHOOK_EVENTS]),
      description: note(""),
      signature: Type.Enum(["hmac", "ed25519"], {
        default: "hmac",
        description:
          "How messages are signed: with a shared secret, or with a key pair whose public key verifies.",
      }),
    },
    STRICT,
  ),
  changeWebhook: Type.Object(
    {
      url: Type.Optional(webhookUrl),
      events: Type.Optional(webhookEvents()),
      description: Type.Optional(note()),
      paused: Type.Optional(
        Type.Boolean({
          [EXPECTED]: "true or false",
          description: "Whether deliveries wait. `false` resumes a webhook, whatever paused it.",
        }),
      ),
    },
    STRICT,
  ),
  testWebhook: Type.Object(
    {
      type: Type.Enum([...TOLD_EVENTS], {
        default: "webhook.test",
        description: "Type of the event. Its `data` is a sample, with `test` true.",
      }),
    },
    STRICT,
  ),
  replay: Type.Object(
    {
      eventId: Type.Optional(
        Type.String({
          pattern: idPattern("evt"),
          [EXPECTED]: "evt_ and 26 characters",
          description: "The event to send again, delivered or not.",
        }),
      ),
      since: Type.Optional(
        Type.String({
          pattern: TIME_PATTERN,
          [EXPECTED]: "a time such as 2026-11-22T08:30:00Z",
          description: "Send again all events since then that are not delivered. Instead of `eventId`.",
        }),
      ),
    },
    STRICT,
  ),
};

/** A dapp's secrets. */
export function secretSchemas(terms: SchemaTerms) {
  return {
    setSecret: Type.Object(
      {
        network: networkParameter(terms, "Network whose functions may read it."),
        value: Type.Optional(
          Type.String({
            minLength: 1,
            [EXPECTED]: "text of at least one character",
            writeOnly: true,
            description: "Its value: at most 2,048 bytes of UTF-8.",
          }),
        ),
        ciphertext: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 12_000,
            description: "In place of `value`: what `tyche/client` makes of it with the network's key.",
          }),
        ),
        allowedHosts: Type.Optional(
          Type.Array(Type.String({ [EXPECTED]: "the name of a host, with or without a port" }), {
            minItems: 1,
            maxItems: 20,
            uniqueItems: true,
            [EXPECTED]: "an array of names of hosts",
            description:
              "Hosts to which a source with the secret may send requests, such as `api.example.com` or `api.example.com:8443`, by https. A run that sends one elsewhere fails. Default: any.",
          }),
        ),
        expiresAt: Type.Optional(
          Type.String({
            pattern: TIME_PATTERN,
            [EXPECTED]: "a time such as 2026-11-22T08:30:00Z",
            description: "After this no request can read it. Default: never.",
          }),
        ),
      },
      STRICT,
    ),
    secretsSigner: Type.Object(
      {
        network: networkParameter(terms, "Network of the subscription."),
        address: addressParameter("Account that uploads; the zero address: nobody."),
        signature: Type.Optional(
          Type.Unsafe<Hex>(
            Type.String({
              pattern: "^0x[0-9a-fA-F]{130}$",
              [EXPECTED]: "a signature: 0x and 130 hex digits",
              description:
                "The account's signature (EIP-191) of the message that a call without it answers with.",
            }),
          ),
        ),
      },
      STRICT,
    ),
    listSecrets: Type.Object(
      { network: Type.Optional(oneOf(terms.networks, "Only the secrets on this network. Default: on all.")) },
      STRICT,
    ),
    secretNetwork: Type.Object({ network: networkParameter(terms, "Network of the secrets.") }, STRICT),
  };
}
