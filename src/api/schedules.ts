import { Type } from "typebox";
import { CATCH_UPS, SKIP_REASONS } from "../domain/vocabulary.ts";
import { nullable, pageOf, time } from "./common.ts";
import { RequestState } from "./requests.ts";

/** Requests that are made at certain times. */
export const ScheduleView = Type.Object({
  id: Type.String({ description: "Identifier: `sch_` and 26 characters." }),
  name: Type.String({ description: "Its owner's name for it." }),
  network: Type.String({ description: "Network of its requests." }),
  every: nullable(Type.String(), "Distance between ticks, such as `1h`; `null` if `cron` says when."),
  cron: nullable(Type.String(), "Five fields, or six with seconds first; `null` if `every` says when."),
  timeZone: nullable(Type.String(), "Time zone of `cron`; `null` with `every`."),
  action: Type.Record(Type.String(), Type.Unknown(), {
    description:
      '`{"preset": "coinflip", …}` with the preset\'s parameters, `{"random": {…}}` or `{"function": {…}}` with those of that endpoint.',
  }),
  catchUp: Type.Enum([...CATCH_UPS], {
    description:
      "What is done about ticks that the service could not act on in time: `skip` none, `one` the newest, `all` each of them.",
  }),
  window: Type.String({ description: "How late a tick may be acted on, such as `1d`." }),
  overlap: Type.Enum(["skip", "allow"], {
    description: "Whether a tick is skipped while the request before it has not ended.",
  }),
  until: nullable(time("After this there are no ticks; `null` if there is no end.")),
  pausedAt: nullable(time("When it was paused; `null` while it is active.")),
  createdAt: time("When it was created."),
  keyId: nullable(
    Type.String(),
    "API key that created or last changed it, with which it acts; `null` if that was a person or the operator.",
  ),
  next: Type.Array(time("A tick."), {
    description: "The next five ticks; fewer before its end, none while it is paused.",
  }),
});

/** One time that a trigger was due. */
export const TriggerRun = Type.Object({
  id: Type.String({ description: "`run_` and 26 characters, ordered by when it was recorded." }),
  at: time("When it was due."),
  asked: Type.Boolean({ description: "Whether its owner asked for it, instead of a tick." }),
  state: Type.Enum(["due", "requested", "skipped"], {
    description: "`due`: it waits; `requested`: `requestId` is its request; `skipped`: it has none.",
  }),
  reason: nullable(
    Type.Enum([...SKIP_REASONS]),
    "Why it was skipped. `missed`: the service could not act in time; `overlap`: the request before it had not ended; `paused`; " +
      "`refused`: the request was refused; `limit`: the requests of the day were used up; `key`: its API key is revoked or has expired.",
  ),
  detail: nullable(Type.String(), "The reason in a sentence, or what a run that is due waits for."),
  requestId: nullable(Type.String(), "Its request."),
  requestState: nullable(
    RequestState,
    "State of its request; `null` without one, and for one that can't be read.",
  ),
  result: nullable(
    Type.String(),
    "The result of its request in one line, at most 200 characters; `null` until there is one.",
  ),
  error: nullable(
    Type.Object({ code: Type.String(), message: Type.String() }),
    "Why its request failed; `null` if it did not.",
  ),
});

/** A page of a trigger's runs. */
export const TriggerRunPage = pageOf(TriggerRun);
