import { Type } from "typebox";
import { ADDRESS_PATTERN, WORD_PATTERN } from "../common.ts";
import { EXPECTED } from "../../lib/schemaCheck.ts";
import { CATCH_UPS, LOG_CONFIDENCES, TIME_PATTERN, type CatchUp } from "../../domain/vocabulary.ts";
import { integer, networkParameter, oneOf, STRICT, type SchemaTerms } from "./parameterSchemas.ts";

const triggerName = Type.String({ minLength: 1, maxLength: 60, description: "A name of your own." });

const duration = (description: string) =>
  Type.String({
    minLength: 2,
    maxLength: 7,
    [EXPECTED]: "a duration such as 10s, 5m, 1h or 1d",
    description,
  });

const schedule = {
  every: Type.Optional(
    duration("Distance between ticks: `10s`, `5m`, `1h`, `1d`. The first one is that much later."),
  ),
  cron: Type.Optional(
    Type.String({
      maxLength: 200,
      [EXPECTED]: "a cron expression of at most 200 characters, such as 0 20 * * *",
      description:
        "Cron expression, instead of `every`: minute, hour, day, month and weekday, or six fields with seconds first.",
    }),
  ),
  timeZone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 60,
      description: "Time zone of `cron`, such as `Europe/Berlin`. Default: `UTC`.",
    }),
  ),
  window: Type.Optional(
    duration("How late a tick may be caught up with: `1m` to `30d`. Default: `1d`. Not with `skip`: `1m`."),
  ),
};

const action = Type.Record(Type.String(), Type.Unknown(), {
  [EXPECTED]: "an object with preset, random or function",
  description:
    'What is requested: `{"preset": "coinflip", …}` with the preset\'s parameters, `{"random": {…}}` or `{"function": {…}}` with those ' +
    "of that endpoint, without `network`.",
});

const eventAction = Type.Record(Type.String(), Type.Unknown(), {
  [EXPECTED]: "an object with preset, random or function",
  description: 'As in a schedule; `{"event": "name"}` in place of a value stands for a value of the log.',
});

const topic = Type.String({ pattern: WORD_PATTERN, [EXPECTED]: "a topic: 0x and 64 hex digits" });

const catchUp = (fallback?: CatchUp) =>
  Type.Enum([...CATCH_UPS], {
    ...(fallback === undefined ? {} : { default: fallback }),
    description:
      "What is done about ticks that the service could not act on in time: `skip` none, `one` the newest, `all` each of them.",
  });

const overlap = (fallback?: "skip" | "allow") =>
  Type.Enum(["skip", "allow"], {
    ...(fallback === undefined ? {} : { default: fallback }),
    description: "Whether a tick is skipped while the request before it has not ended.",
  });

const until = Type.Optional(
  Type.Union(
    [Type.String({ pattern: TIME_PATTERN, [EXPECTED]: "a time such as 2026-12-31T23:59:59Z" }), Type.Null()],
    {
      description: "After this there are no ticks. `null`: no end, as by default.",
    },
  ),
);

const paused = (fallback?: boolean) =>
  Type.Boolean({
    ...(fallback === undefined ? {} : { default: fallback }),
    [EXPECTED]: "true or false",
    description: "Whether it does nothing for now.",
  });

/** Schedules and log triggers. */
export function triggerSchemas(terms: SchemaTerms) {
  return {
    createSchedule: Type.Object(
      {
        name: triggerName,
        network: networkParameter(terms),
        action,
        ...schedule,
        catchUp: catchUp("one"),
        overlap: overlap("skip"),
        until,
        paused: paused(false),
      },
      STRICT,
    ),
    changeSchedule: Type.Object(
      {
        name: Type.Optional(triggerName),
        action: Type.Optional(action),
        ...schedule,
        catchUp: Type.Optional(catchUp()),
        overlap: Type.Optional(overlap()),
        until,
        paused: Type.Optional(paused()),
      },
      STRICT,
    ),
    createTrigger: Type.Object(
      {
        name: triggerName,
        network: networkParameter(terms, "Network whose logs it acts on."),
        addresses: Type.Array(
          Type.String({ pattern: ADDRESS_PATTERN, [EXPECTED]: "an address: 0x and 40 hex digits" }),
          { minItems: 1, maxItems: 10, description: "Addresses of the contracts: 1 to 10." },
        ),
        event: Type.Optional(
          Type.String({
            maxLength: 500,
            [EXPECTED]: "an event of at most 500 characters",
            description: "Human-readable ABI: `event Closed(uint256 indexed round, uint256 players)`.",
          }),
        ),
        topics: Type.Optional(
          Type.Array(Type.Union([topic, Type.Array(topic, { minItems: 1, maxItems: 10 }), Type.Null()]), {
            minItems: 1,
            maxItems: 4,
            description: "Instead of `event`: topics by position, as in `eth_getLogs`; `null` is any.",
          }),
        ),
        filters: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            [EXPECTED]: "an object with values of indexed arguments",
            description:
              "Wanted values of the event's indexed arguments, by name: one value, or a list of up to 10.",
          }),
        ),
        confidence: Type.Enum([...LOG_CONFIDENCES], {
          default: "safe",
          description:
            "Which blocks it acts on: `latest` each new one; `safe` and `finalized` those that the node calls so. On an embedded network each block is final.",
        }),
        action: eventAction,
        actionNetwork: actionNetwork(terms),
        fromBlock: Type.Optional(
          integer(
            { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
            "First block whose logs it acts on; an earlier one is replayed. Default: the next block.",
          ),
        ),
        paused: paused(false),
      },
      STRICT,
    ),
    changeTrigger: Type.Object(
      {
        name: Type.Optional(triggerName),
        action: Type.Optional(eventAction),
        actionNetwork: actionNetwork(terms),
        paused: Type.Optional(paused()),
      },
      STRICT,
    ),
  };
}

const actionNetwork = (terms: SchemaTerms) =>
  Type.Optional(oneOf(terms.networks, "Network on which the requests run. Default: that of the logs."));
