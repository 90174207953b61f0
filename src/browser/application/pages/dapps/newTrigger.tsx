import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type {
  ExplorerNetwork,
  LogTriggerView,
  PresetView,
  ScheduleParams,
} from "../../../../client/index.ts";
import { findCronMistake, isTimeZone, nextTicks, parseDuration } from "../../../../lib/scheduleTimes.ts";
import { announce } from "../../announce.ts";
import { Time } from "../../parts/format.tsx";
import { Field, readField, Select, type Submission, useSubmission } from "../../parts/forms.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";
import { Notice } from "../../parts/parts.tsx";
import { useClient } from "../../services.tsx";
import { ActionFields, parseObject, readAction } from "./actionFields.tsx";

/** Ticks that the form foretells. */
const SHOWN_TICKS = 5;
const NO_OBJECT = "must be a JSON object";

/** What the forms work with. */
interface NewTrigger {
  readonly dappId: string;
  readonly networks: readonly ExplorerNetwork[];
  readonly presets: readonly PresetView[];
  readonly close: () => void;
}

/** What the forms share: the name before the fields, what is requested after them, and the buttons. */
function NewTriggerForm({
  kind,
  submission: { problems, refusal, isBusy, onSubmit },
  action,
  close,
  children,
}: {
  readonly kind: "schedule" | "log trigger";
  readonly submission: Submission;
  readonly action: ReactNode;
  readonly close: () => void;
  readonly children: ReactNode;
}) {
  return (
    <section className="panel" id={`new-${kind.replace(" ", "-")}`}>
      <h2>New {kind}</h2>
      <form className="fields" onSubmit={onSubmit}>
        <Field id="trigger-name" label="Name" problem={problems.get("name")}>
          {(control) => (
            <input {...control} name="name" required maxLength={60} autoComplete="off" autoFocus />
          )}
        </Field>
        {children}
        {action}
        {refusal !== undefined && <Notice kind="bad">{refusal}</Notice>}
        <div className="buttons">
          <button className="action" disabled={isBusy}>
            Add a {kind}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </section>
  );
}

/** The form for a new schedule. */
export function AddSchedule({ dappId, networks, presets, close }: NewTrigger) {
  const { schedules } = useClient(dappId);
  const queries = useQueryClient();
  const [network, choose] = useChosenNetwork(networks);
  const [kind, setKind] = useState("cron");
  const [cron, setCron] = useState("0 20 * * *");
  const [every, setEvery] = useState("1h");
  const [timeZone, setTimeZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const submission = useSubmission(["name", "cron", "every", "timeZone", "action"], async (values) => {
    const action = readAction(values, presets);
    if (action === undefined) return new Map([["action", NO_OBJECT]]);
    const name = readField(values, "name").trim();
    const times = kind === "cron" ? { cron, timeZone } : { every };
    await schedules.create({ name, network, action, ...times });
    await queries.invalidateQueries({ queryKey: ["schedules", dappId] });
    close();
    announce("The schedule is added.");
  });
  const { problems } = submission;
  return (
    <NewTriggerForm
      kind="schedule"
      submission={submission}
      action={<ActionFields presets={presets} problem={problems.get("action")} />}
      close={close}
    >
      <NetworkSelect networks={networks} value={network} onChange={choose} />
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
          <Field
            id="schedule-cron"
            label="Cron expression"
            note="Minute, hour, day, month and weekday, or six fields with seconds first."
            problem={problems.get("cron")}
          >
            {(control) => (
              <input
                {...control}
                value={cron}
                className="mono"
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => setCron(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field id="schedule-zone" label="Time zone" problem={problems.get("timeZone")}>
            {(control) => (
              <input
                {...control}
                value={timeZone}
                list="time-zones"
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => setTimeZone(event.currentTarget.value)}
              />
            )}
          </Field>
          <datalist id="time-zones">
            {["UTC", ...Intl.supportedValuesOf("timeZone")].map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </>
      ) : (
        <Field
          id="schedule-every"
          label="Distance"
          note="Such as 10s, 5m, 1h or 1d."
          problem={problems.get("every")}
        >
          {(control) => (
            <input
              {...control}
              value={every}
              autoComplete="off"
              onChange={(event) => setEvery(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
      <NextTicks {...(kind === "cron" ? { cron, timeZone } : { every })} />
    </NewTriggerForm>
  );
}

/** The form for a new log trigger. */
export function AddLogTrigger({ dappId, networks, presets, close }: NewTrigger) {
  const { triggers } = useClient(dappId);
  const queries = useQueryClient();
  const [network, choose] = useChosenNetwork(networks);
  const [event, setEvent] = useState("");
  const [confidence, setConfidence] = useState<LogTriggerView["confidence"]>("safe");
  const submission = useSubmission(
    ["name", "addresses", "event", "filters", "fromBlock", "action"],
    async (values) => {
      const read = (name: string): string => readField(values, name).trim();
      const action = readAction(values, presets);
      const filters = parseObject(read("filters") || "{}");
      if (action === undefined) return new Map([["action", NO_OBJECT]]);
      if (filters === undefined) return new Map([["filters", NO_OBJECT]]);
      const fromBlock = read("fromBlock");
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
      announce("The log trigger is added.");
    },
  );
  const { problems } = submission;
  return (
    <NewTriggerForm
      kind="log trigger"
      submission={submission}
      action={<ActionFields presets={presets} event={event} problem={problems.get("action")} />}
      close={close}
    >
      <NetworkSelect networks={networks} value={network} onChange={choose} />
      <Field
        id="trigger-addresses"
        label="Contracts"
        note="Up to ten addresses, apart by spaces."
        problem={problems.get("addresses")}
        wide
      >
        {(control) => <input {...control} name="addresses" required className="mono" autoComplete="off" />}
      </Field>
      <Field
        id="trigger-event"
        label="Event"
        note="As its contract declares it, from the word event on."
        problem={problems.get("event")}
        wide
      >
        {(control) => (
          <input
            {...control}
            value={event}
            onChange={(change) => setEvent(change.currentTarget.value)}
            required
            className="mono"
            autoComplete="off"
            spellCheck={false}
            placeholder="event Closed(uint256 indexed round, uint256 players)"
          />
        )}
      </Field>
      <Field
        id="trigger-filters"
        label="Filters"
        note={'Values of indexed arguments, such as {"round": "7"}. Default: any.'}
        problem={problems.get("filters")}
        wide
      >
        {(control) => <input {...control} name="filters" className="mono" autoComplete="off" />}
      </Field>
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
      <Field
        id="trigger-from"
        label="From block"
        note="Default: the next one."
        problem={problems.get("fromBlock")}
      >
        {(control) => <input {...control} name="fromBlock" type="number" min={0} autoComplete="off" />}
      </Field>
    </NewTriggerForm>
  );
}

/** The next times that are due, as the form says while it is typed. */
function NextTicks({ cron = "", timeZone = "", every }: Pick<ScheduleParams, "cron" | "timeZone" | "every">) {
  const everyMs = every === undefined ? undefined : parseDuration(every);
  const mistake =
    every === undefined
      ? (findCronMistake(cron) ?? (isTimeZone(timeZone) ? undefined : "the time zone is unknown"))
      : everyMs === undefined
        ? "the distance can't be read"
        : undefined;
  const now = Date.now();
  const timing = everyMs === undefined ? { cron, timeZone } : { everyMs, startsAt: now };
  const isLocal = every === undefined && timeZone !== "UTC";
  return (
    <div className="field wide" role="status" aria-label="Next times">
      {mistake === undefined ? (
        <>
          <p className="note">Next times, in {isLocal ? `${timeZone} and UTC` : "UTC"}:</p>
          <ul>
            {nextTicks(timing, now, SHOWN_TICKS).map((at) => (
              <li key={at}>
                {isLocal && `${formatIn(timeZone, at)} · `}
                <Time iso={new Date(at).toISOString()} />
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p className="note">No next times: {mistake}.</p>
      )}
    </div>
  );
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
