import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type {
  ExplorerNetwork,
  LogTriggerView,
  PresetView,
  ScheduleParams,
  ScheduleView,
} from "../../../../client/index.ts";
import {
  findCronMistake,
  isTimeZone,
  MIN_DISTANCE_MS,
  nextTicks,
  parseDuration,
  shortestDistance,
} from "../../../../domain/scheduleTimes.ts";
import { announce } from "../../announce.ts";
import { Time } from "../../parts/format.tsx";
import {
  Field,
  FormButtons,
  readField,
  readTime,
  Select,
  type Submission,
  TimeField,
  useSubmission,
  TextField,
} from "../../parts/forms.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";
import { Folded, Notice } from "../../parts/parts.tsx";
import { useClient } from "../../services.tsx";
import { findObject } from "../../../../lib/isObject.ts";
import { ActionFields, readAction } from "./actionFields.tsx";

/** Ticks that the form foretells. */
const SHOWN_TICKS = 5;
const NO_OBJECT = "must be a JSON object";

/** What the forms work with. */
export interface TriggerFormProps<What> {
  readonly dappId: string;
  readonly networks: readonly ExplorerNetwork[];
  readonly presets: readonly PresetView[];
  /** What is changed; absent where one is added. */
  readonly what?: What | undefined;
  readonly close: () => void;
}

/** What the forms share: the name before the fields, what is requested after them, and the buttons. */
function TriggerFrame({
  kind,
  name,
  submission: { problems, refusal, isBusy, onSubmit },
  action,
  close,
  children,
}: {
  readonly kind: "schedule" | "log trigger";
  /** Of the one that is changed; absent for a new one. */
  readonly name: string | undefined;
  readonly submission: Submission;
  readonly action: ReactNode;
  readonly close: () => void;
  readonly children: ReactNode;
}) {
  return (
    <section
      className={name === undefined ? "panel" : "edit"}
      id={`${name === undefined ? "new" : "edit"}-${kind.replace(" ", "-")}`}
    >
      <h2>
        {name === undefined ? "New" : "Change this"} {kind}
      </h2>
      <form className="fields" onSubmit={onSubmit}>
        <TextField
          id="trigger-name"
          label="Name"
          problem={problems.get("name")}
          name="name"
          required
          maxLength={60}
          defaultValue={name}
          autoFocus
        />
        {children}
        {action}
        {refusal !== undefined && <Notice kind="bad">{refusal}</Notice>}
        <FormButtons label={name === undefined ? `Add a ${kind}` : "Save"} isBusy={isBusy} close={close} />
      </form>
    </section>
  );
}

/** The form for a schedule. */
export function ScheduleForm({ dappId, networks, presets, what, close }: TriggerFormProps<ScheduleView>) {
  const { schedules } = useClient(dappId);
  const queries = useQueryClient();
  const [chosen, choose] = useChosenNetwork(networks);
  const network = what?.network ?? chosen;
  const [kind, setKind] = useState(typeof what?.every === "string" ? "every" : "cron");
  const [cron, setCron] = useState(what?.cron ?? "0 20 * * *");
  const [every, setEvery] = useState(what?.every ?? "1h");
  const [timeZone, setTimeZone] = useState(
    () => what?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  );
  const [until, setUntil] = useState(what?.until ?? undefined);
  const shown = ["name", "cron", "every", "timeZone", "action", "window", "until"];
  const submission = useSubmission(shown, async (values) => {
    const action = readAction(values, presets);
    if (action === undefined) return new Map([["action", NO_OBJECT]]);
    const name = readField(values, "name").trim();
    const times = kind === "cron" ? { cron, timeZone } : { every };
    // Times that are given anew count from now on.
    const isSame =
      kind === "cron" ? cron === what?.cron && timeZone === what.timeZone : every === what?.every;
    const rest = { name, action, ...readMore(values, what) };
    if (what === undefined) await schedules.create({ network, ...rest, ...times });
    else await schedules.change(what.id, { ...rest, ...(isSame ? {} : times) });
    await queries.invalidateQueries({ queryKey: ["schedules", dappId] });
    close();
    announce(`The schedule is ${what === undefined ? "added" : "changed"}.`);
  });
  const { problems } = submission;
  return (
    <TriggerFrame
      kind="schedule"
      name={what?.name}
      submission={submission}
      action={
        <>
          <ActionFields presets={presets} action={what?.action} problem={problems.get("action")} />
          <MoreFields what={what} problems={problems} onUntil={setUntil} />
        </>
      }
      close={close}
    >
      {what === undefined && <NetworkSelect networks={networks} value={network} onChange={choose} />}
      <Field id="schedule-kind" label="Repeats">
        {(control) => (
          <Select
            {...control}
            value={kind}
            options={[
              ["cron", "at times of day or week (cron)"],
              ["every", "at equal distances"],
            ]}
            onChange={setKind}
          />
        )}
      </Field>
      {kind === "cron" ? (
        <>
          <TextField
            id="schedule-cron"
            label="Cron expression"
            note="Minute, hour, day, month and weekday, or six fields with seconds first."
            problem={problems.get("cron")}
            value={cron}
            className="mono"
            spellCheck={false}
            onChange={(event) => setCron(event.currentTarget.value)}
          />
          <TextField
            id="schedule-zone"
            label="Time zone"
            problem={problems.get("timeZone")}
            value={timeZone}
            list="time-zones"
            spellCheck={false}
            onChange={(event) => setTimeZone(event.currentTarget.value)}
          />
          <datalist id="time-zones">
            {["UTC", ...Intl.supportedValuesOf("timeZone")].map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </>
      ) : (
        <TextField
          id="schedule-every"
          label="Distance"
          note="Such as 10s, 5m, 1h or 1d."
          problem={problems.get("every")}
          value={every}
          onChange={(event) => setEvery(event.currentTarget.value)}
        />
      )}
      <NextTicks
        network={networks.find(({ name }) => name === network)}
        until={until}
        {...(kind === "cron" ? { cron, timeZone } : { every })}
      />
    </TriggerFrame>
  );
}

type Lateness = Pick<ScheduleView, "catchUp" | "overlap">;

/** What a schedule does about ticks that it can't act on in time, and when it ends. {@link readMore} reads it. */
function MoreFields({
  what,
  problems,
  onUntil,
}: {
  readonly what: ScheduleView | undefined;
  readonly problems: Submission["problems"];
  readonly onUntil: (iso: string | undefined) => void;
}) {
  const [catchUp, setCatchUp] = useState<string>(what?.catchUp ?? "one");
  return (
    <Folded summary="More" isOpen={problems.has("window") || problems.has("until")}>
      <div className="fields">
        <Field id="schedule-catch-up" label="Requests that it misses, as in an outage">
          {(control) => (
            <select
              {...control}
              name="catchUp"
              value={catchUp}
              onChange={(event) => setCatchUp(event.currentTarget.value)}
            >
              <option value="one">make the newest later</option>
              <option value="all">make each later</option>
              <option value="skip">make none of them</option>
            </select>
          )}
        </Field>
        {catchUp !== "skip" && (
          <TextField
            id="schedule-window"
            label="At most this late"
            note="From 1m to 30d. Default: 1d."
            problem={problems.get("window")}
            name="window"
            defaultValue={what?.catchUp === "skip" ? undefined : what?.window}
          />
        )}
        <Field id="schedule-overlap" label="While the last request has not ended">
          {(control) => (
            <select {...control} name="overlap" defaultValue={what?.overlap}>
              <option value="skip">make none</option>
              <option value="allow">make one even so</option>
            </select>
          )}
        </Field>
        <TimeField
          id="schedule-until"
          label="Ends"
          note="In UTC. Empty: never."
          problem={problems.get("until")}
          name="until"
          value={what?.until}
          onChange={onUntil}
        />
      </div>
    </Folded>
  );
}

function readMore(
  values: FormData,
  what: ScheduleView | undefined,
): Lateness & Pick<ScheduleParams, "window" | "until"> {
  const until = readTime(values, "until") ?? null;
  const timeOf = (iso: string | null) => (iso === null ? undefined : Date.parse(iso));
  return {
    catchUp: readField(values, "catchUp") as Lateness["catchUp"],
    window: readField(values, "window").trim() || undefined,
    overlap: readField(values, "overlap") as Lateness["overlap"],
    // An end that is over can't be given anew.
    ...(timeOf(until) === timeOf(what?.until ?? null) ? {} : { until }),
  };
}

/** The form for a log trigger. Of one that there is, only name and action can be changed. */
export function LogTriggerForm({ dappId, networks, presets, what, close }: TriggerFormProps<LogTriggerView>) {
  const { triggers } = useClient(dappId);
  const queries = useQueryClient();
  const [network, choose] = useChosenNetwork(networks);
  const [event, setEvent] = useState(what?.event ?? "");
  const [confidence, setConfidence] = useState<LogTriggerView["confidence"]>("safe");
  const submission = useSubmission(
    ["name", "addresses", "event", "filters", "fromBlock", "action"],
    async (values) => {
      const read = (name: string): string => readField(values, name).trim();
      const action = readAction(values, presets);
      const filters = findObject(read("filters") || "{}");
      if (action === undefined) return new Map([["action", NO_OBJECT]]);
      if (filters === undefined) return new Map([["filters", NO_OBJECT]]);
      const fromBlock = read("fromBlock");
      if (what !== undefined) await triggers.change(what.id, { name: read("name"), action });
      else
        await triggers.create({
          name: read("name"),
          network,
          addresses: read("addresses").split(/[\s,]+/),
          event: event.trim(),
          filters,
          confidence,
          ...(fromBlock === "" ? {} : { fromBlock: Number(fromBlock) }),
          action,
        });
      await queries.invalidateQueries({ queryKey: ["triggers", dappId] });
      close();
      announce(`The log trigger is ${what === undefined ? "added" : "changed"}.`);
    },
  );
  const { problems } = submission;
  return (
    <TriggerFrame
      kind="log trigger"
      name={what?.name}
      submission={submission}
      action={
        <ActionFields
          presets={presets}
          action={what?.action}
          event={event}
          problem={problems.get("action")}
        />
      }
      close={close}
    >
      {what !== undefined && (
        <p className="field wide note">
          Name and action can be changed. For other contracts or another event, add a new log trigger.
        </p>
      )}
      {what === undefined && (
        <>
          <NetworkSelect networks={networks} value={network} onChange={choose} />
          <TextField
            id="trigger-addresses"
            label="Contracts"
            note="Up to ten addresses, apart by spaces."
            problem={problems.get("addresses")}
            wide
            name="addresses"
            required
            className="mono"
          />
          <TextField
            id="trigger-event"
            label="Event"
            note="As its contract declares it, from the word event on."
            problem={problems.get("event")}
            wide
            value={event}
            onChange={(change) => setEvent(change.currentTarget.value)}
            required
            className="mono"
            spellCheck={false}
            placeholder="event Closed(uint256 indexed round, uint256 players)"
          />
          <TextField
            id="trigger-filters"
            label="Filters"
            note={'Values of indexed arguments, such as {"round": "7"}. Default: any.'}
            problem={problems.get("filters")}
            wide
            name="filters"
            className="mono"
          />
          <Field id="trigger-confidence" label="Acts on logs">
            {(control) => (
              <Select
                {...control}
                value={confidence}
                options={[
                  ["latest", "at once, though a reorganisation may remove them"],
                  ["safe", "of blocks that are safe"],
                  ["finalized", "of blocks that are final"],
                ]}
                onChange={(value) => setConfidence(value as LogTriggerView["confidence"])}
              />
            )}
          </Field>
          <TextField
            id="trigger-from"
            label="From block"
            note="Default: the next one."
            problem={problems.get("fromBlock")}
            name="fromBlock"
            type="number"
            min={0}
          />
        </>
      )}
    </TriggerFrame>
  );
}

/** The next times that are due, as the form says while it is typed. */
function NextTicks({
  network,
  cron = "",
  timeZone = "",
  every,
  until,
}: Pick<ScheduleParams, "cron" | "timeZone" | "every"> & {
  readonly network: ExplorerNetwork | undefined;
  readonly until: string | undefined;
}) {
  const everyMs = every === undefined ? undefined : parseDuration(every);
  const now = Date.now();
  const timing = everyMs === undefined ? { cron, timeZone } : { everyMs, startsAt: now };
  const unreadable =
    every === undefined
      ? (findCronMistake(cron) ?? (isTimeZone(timeZone) ? undefined : "the time zone is unknown"))
      : everyMs === undefined
        ? "the distance can't be read"
        : undefined;
  const mistake =
    unreadable ??
    (network === undefined ? undefined : describeTooOften(shortestDistance(timing, now), network));
  const isLocal = every === undefined && timeZone !== "UTC";
  const lastMs = until === undefined ? Infinity : Date.parse(until);
  const ticks = mistake === undefined ? nextTicks(timing, now, SHOWN_TICKS).filter((at) => at <= lastMs) : [];
  return (
    <div className="field wide" role="status" aria-label="Next times">
      {mistake !== undefined ? (
        <p className="note">No next times: {mistake}.</p>
      ) : ticks.length === 0 ? (
        <p className="note">No next times: it ends before.</p>
      ) : (
        <>
          <p className="note">Next times, in {isLocal ? `${timeZone} and UTC` : "UTC"}:</p>
          <ul>
            {ticks.map((at) => (
              <li key={at}>
                {isLocal && `${formatIn(timeZone, at)} · `}
                <Time iso={new Date(at).toISOString()} />
              </li>
            ))}
          </ul>
          {ticks.length < SHOWN_TICKS && <p className="note">Then it ends.</p>}
        </>
      )}
    </div>
  );
}

/** Says that ticks come too often; `undefined` if they don't. Where a block takes long, the service wants them yet further apart. */
function describeTooOften(distanceMs: number, { title, embedded }: ExplorerNetwork): string | undefined {
  const leastMs = embedded ? MIN_DISTANCE_MS.embedded : MIN_DISTANCE_MS.external;
  if (distanceMs >= leastMs) return undefined;
  return `these are ${distanceMs / 1000} s apart, and on ${title} they have to be at least ${leastMs / 1000} s`;
}

function formatIn(timeZone: string, at: number): string {
  return new Intl.DateTimeFormat(undefined, {
    timeZone,
    weekday: "short",
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }).format(at);
}
