import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useLocation, useParams } from "wouter";
import type {
  ExplorerNetwork,
  LogRun,
  LogTriggerView,
  ScheduleParams,
  ScheduleView,
  TriggerRun,
} from "../../../../client/index.ts";
import { describeArguments } from "../../../../lib/eventWords.ts";
import { findCronMistake, isTimeZone, nextTicks, parseDuration } from "../../../../lib/scheduleTimes.ts";
import { announce } from "../../announce.ts";
import { Loaded } from "../../page.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { Age, Code, Time, TransactionLink } from "../../parts/format.tsx";
import { ConfirmButton, describeError, Field, readField, Select, useSubmission } from "../../parts/forms.tsx";
import { List, type Column } from "../../parts/list.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { StateTag } from "../../parts/requestParts.tsx";
import { Folded, Listing, Notice, Tag, UnknownText } from "../../parts/parts.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useClient, useNetworks, useTitleOf } from "../../services.tsx";

const REFRESH_MS = 2_000;
/** Runs shown; the API and the command line have the rest. */
const RUNS = 20;
/** Ticks that the form foretells. */
const SHOWN_TICKS = 5;
const NO_OBJECT = "must be a JSON object";

/** `/dapps/{dappId}/triggers`: the requests that the service makes by itself. */
export function Triggers() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  const { schedules, triggers } = useClient(dappId);
  const networks = useNetworks();
  return (
    <DappFrame dappId={dappId} tab="triggers">
      {() => (
        <>
          <TriggerList
            dappId={dappId}
            kind="schedules"
            title="Schedules"
            note="Requests that the service makes at certain times."
            list={() => schedules.list()}
            when={timesOf}
            state={(schedule) => <ScheduleState schedule={schedule} />}
          />
          <Loaded query={networks}>{(served) => <AddSchedule dappId={dappId} networks={served} />}</Loaded>
          <TriggerList
            dappId={dappId}
            kind="triggers"
            title="Log triggers"
            note="Requests that the service makes when contracts emit events."
            list={() => triggers.list()}
            when={({ event }) => event ?? "topics"}
            state={(trigger) => <LogTriggerState trigger={trigger} />}
          />
          <Loaded query={networks}>{(served) => <AddLogTrigger dappId={dappId} networks={served} />}</Loaded>
        </>
      )}
    </DappFrame>
  );
}

/** `/dapps/{dappId}/triggers/{id}`: one of them, and what came of it. */
export function Trigger() {
  const { dappId, id } = useParams<{ readonly dappId: string; readonly id: string }>();
  return (
    <DappFrame dappId={dappId} tab="triggers" title={id}>
      {() => (
        <section className="panel" id="trigger">
          {id.startsWith("sch") ? (
            <SchedulePart dappId={dappId} id={id} />
          ) : (
            <LogTriggerPart dappId={dappId} id={id} />
          )}
        </section>
      )}
    </DappFrame>
  );
}

function TriggerList<Item extends Pick<ScheduleView, "id" | "name" | "network">>({
  dappId,
  kind,
  title,
  note,
  list,
  when,
  state,
}: {
  readonly dappId: string;
  readonly kind: "schedules" | "triggers";
  readonly title: string;
  readonly note: string;
  readonly list: () => Promise<readonly Item[]>;
  readonly when: (item: Item) => string;
  readonly state: (item: Item) => ReactNode;
}) {
  const titleOf = useTitleOf();
  const query = useQuery({
    queryKey: [kind, dappId],
    queryFn: list,
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  return (
    <section className="panel" id={kind}>
      <h2>{title}</h2>
      <p className="note">{note}</p>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p className="note">None yet.</p>
          ) : (
            <List
              label={title}
              items={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  head: "Name",
                  cell: ({ id, name }) => (
                    <Link href={`/dapps/${dappId}/triggers/${id}`}>
                      <UnknownText text={name} />
                    </Link>
                  ),
                },
                {
                  head: "When",
                  kind: "long",
                  cell: (item) => (
                    <code>
                      <UnknownText text={when(item)} />
                    </code>
                  ),
                },
                { head: "Network", cell: ({ network }) => titleOf(network) },
                { head: "State", isPlain: true, cell: state },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  );
}

function timesOf({ every, cron, timeZone }: ScheduleView): string {
  return every === null ? `${cron} in ${timeZone}` : `every ${every}`;
}

function ScheduleState({ schedule: { pausedAt, next } }: { readonly schedule: ScheduleView }) {
  if (pausedAt !== null) return <Tag kind="quiet">paused</Tag>;
  return next[0] === undefined ? (
    <Tag kind="quiet">ended</Tag>
  ) : (
    <>
      <Tag kind="good">active</Tag> next <Time iso={next[0]} />
    </>
  );
}

function LogTriggerState({ trigger: { pausedAt, readTo } }: { readonly trigger: LogTriggerView }) {
  if (pausedAt !== null) return <Tag kind="quiet">paused</Tag>;
  return (
    <>
      <Tag kind="good">active</Tag>{" "}
      {readTo === null ? "waits for its first block" : `read to block ${readTo}`}
    </>
  );
}

interface PartProps {
  readonly dappId: string;
  readonly id: string;
}

function SchedulePart({ dappId, id }: PartProps) {
  const { schedules } = useClient(dappId);
  const query = useQuery({
    queryKey: ["schedules", dappId, id],
    queryFn: async () => ({
      schedule: await schedules.get(id),
      runs: (await schedules.runs(id, { limit: RUNS })).items,
    }),
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  return (
    <Loaded query={query}>
      {({ schedule, runs }) => (
        <TriggerPart
          dappId={dappId}
          kind="schedules"
          what={schedule}
          state={<ScheduleState schedule={schedule} />}
          when={timesOf(schedule)}
          change={(changes) => schedules.change(id, changes)}
          remove={() => schedules.delete(id)}
          run={() => schedules.run(id)}
        >
          <Runs
            dappId={dappId}
            items={runs}
            head="Due"
            more={{ head: "By", cell: ({ asked }: TriggerRun) => (asked ? "you" : "the clock") }}
          />
        </TriggerPart>
      )}
    </Loaded>
  );
}

function LogTriggerPart({ dappId, id }: PartProps) {
  const { triggers } = useClient(dappId);
  const query = useQuery({
    queryKey: ["triggers", dappId, id],
    queryFn: async () => ({
      trigger: await triggers.get(id),
      runs: (await triggers.runs(id, { limit: RUNS })).items,
    }),
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  return (
    <Loaded query={query}>
      {({ trigger, runs }) => (
        <TriggerPart
          dappId={dappId}
          kind="triggers"
          what={trigger}
          state={<LogTriggerState trigger={trigger} />}
          when={`${trigger.event ?? "topics"} of ${trigger.addresses.join(", ")}, ${trigger.confidence}`}
          change={(changes) => triggers.change(id, changes)}
          remove={() => triggers.delete(id)}
        >
          <Runs
            dappId={dappId}
            items={runs}
            head="Read"
            more={{
              head: "Log",
              cell: ({ log, revertedAt }: LogRun) => (
                <>
                  <TransactionLink network={trigger.network} hash={log.transactionHash} /> log {log.logIndex}{" "}
                  <UnknownText text={describeArguments(log.values)} />
                  {revertedAt !== null && <Tag kind="bad">reverted</Tag>}
                </>
              ),
            }}
          />
        </TriggerPart>
      )}
    </Loaded>
  );
}

/** What schedules and log triggers have in common. */
function TriggerPart({
  dappId,
  kind,
  what: { id, name, network, action, pausedAt },
  state,
  when,
  change,
  remove,
  run,
  children,
}: {
  readonly dappId: string;
  readonly kind: "schedules" | "triggers";
  readonly what: Pick<ScheduleView, "id" | "name" | "network" | "action" | "pausedAt">;
  readonly state: ReactNode;
  readonly when: string;
  readonly change: (changes: { readonly paused: boolean }) => Promise<unknown>;
  readonly remove: () => Promise<unknown>;
  readonly run?: () => Promise<unknown>;
  readonly children: ReactNode;
}) {
  const queries = useQueryClient();
  const titleOf = useTitleOf();
  const [, navigate] = useLocation();
  const [problem, setProblem] = useState<string>();
  const isPaused = pausedAt !== null;
  const refresh = () => queries.invalidateQueries({ queryKey: [kind, dappId] });
  const act = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    setProblem(undefined);
    try {
      await work();
      await refresh();
      announce(done);
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  const noun = kind === "schedules" ? "schedule" : "log trigger";
  return (
    <section aria-label={plainText(name)}>
      <h2>
        <UnknownText text={name} />
      </h2>
      <p>
        {state} on {titleOf(network)}
      </p>
      <p className="note">
        <Code text={id} />,{" "}
        <code>
          <UnknownText text={when} />
        </code>
      </p>
      <Folded summary="Action">
        <Listing text={JSON.stringify(action, null, 2)} label={`Action of ${plainText(name)}`} />
      </Folded>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <div className="buttons">
        {run !== undefined && (
          <button type="button" onClick={() => void act(run, "A request is made.")}>
            Run now
          </button>
        )}
        <button
          type="button"
          onClick={() =>
            void act(
              () => change({ paused: !isPaused }),
              `The ${noun} is ${isPaused ? "resumed" : "paused"}.`,
            )
          }
        >
          {isPaused ? "Resume" : "Pause"}
        </button>
        <ConfirmButton
          question={`Delete this ${noun}?`}
          detail="Its list of runs goes with it; their requests stay. This can't be undone."
          confirm="Delete it"
          onConfirm={async () => {
            await remove();
            navigate(`/dapps/${dappId}/triggers`);
            announce(`The ${noun} is deleted.`);
          }}
        >
          Delete
        </ConfirmButton>
      </div>
      {children}
    </section>
  );
}

type AnyRun = Omit<TriggerRun, "state" | "asked"> & { readonly state: string };

function Runs<Run extends AnyRun>({
  dappId,
  items,
  head,
  more,
}: {
  readonly dappId: string;
  readonly items: readonly Run[];
  /** What its time is. */
  readonly head: string;
  readonly more: Column<Run>;
}) {
  if (items.length === 0) return <p className="note">No runs yet.</p>;
  return (
    <List
      label="The last runs"
      items={items}
      keyOf={({ id }) => id}
      columns={[
        { head, cell: ({ at }) => <Age iso={at} /> },
        {
          head: "Outcome",
          isPlain: true,
          cell: ({ state, reason, detail, requestId, requestState, error }) =>
            requestId === null ? (
              <>
                <Tag kind={state === "skipped" ? "bad" : "quiet"}>{reason ?? state}</Tag>{" "}
                <UnknownText text={detail ?? ""} />
              </>
            ) : (
              <>
                <Link href={`/dapps/${dappId}/requests/${requestId}`}>{requestId}</Link>{" "}
                {requestState !== null && <StateTag state={requestState} />}{" "}
                <UnknownText text={error?.message ?? ""} />
              </>
            ),
        },
        more,
      ]}
    />
  );
}

function AddSchedule({
  dappId,
  networks,
}: {
  readonly dappId: string;
  readonly networks: readonly ExplorerNetwork[];
}) {
  const { schedules } = useClient(dappId);
  const queries = useQueryClient();
  const [network, choose] = useChosenNetwork(networks);
  const [kind, setKind] = useState("cron");
  const [cron, setCron] = useState("0 20 * * *");
  const [every, setEvery] = useState("1h");
  const [timeZone, setTimeZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const { problems, refusal, isBusy, onSubmit } = useSubmission(
    ["name", "cron", "every", "timeZone", "action"],
    async (values, form) => {
      const action = parseObject(readField(values, "action"));
      if (action === undefined) return new Map([["action", NO_OBJECT]]);
      const name = readField(values, "name").trim();
      const times = kind === "cron" ? { cron, timeZone } : { every };
      await schedules.create({ name, network, action, ...times });
      form.reset();
      await queries.invalidateQueries({ queryKey: ["schedules", dappId] });
      announce("The schedule is added.");
    },
  );
  return (
    <section className="panel" id="new-schedule">
      <h2>New schedule</h2>
      <form className="fields" onSubmit={onSubmit}>
        <Field id="schedule-name" label="Name" problem={problems.get("name")}>
          {(control) => <input {...control} name="name" required maxLength={60} autoComplete="off" />}
        </Field>
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
        <ActionField
          id="schedule-action"
          initial={'{"preset": "coinflip"}'}
          problem={problems.get("action")}
        />
        {refusal !== undefined && <Notice kind="bad">{refusal}</Notice>}
        <div>
          <button className="action" disabled={isBusy}>
            Add a schedule
          </button>
        </div>
      </form>
    </section>
  );
}

function AddLogTrigger({
  dappId,
  networks,
}: {
  readonly dappId: string;
  readonly networks: readonly ExplorerNetwork[];
}) {
  const { triggers } = useClient(dappId);
  const queries = useQueryClient();
  const [network, choose] = useChosenNetwork(networks);
  const [confidence, setConfidence] = useState<LogTriggerView["confidence"]>("safe");
  const { problems, refusal, isBusy, onSubmit } = useSubmission(
    ["name", "addresses", "event", "filters", "fromBlock", "action"],
    async (values, form) => {
      const read = (name: string): string => readField(values, name).trim();
      const action = parseObject(read("action"));
      const filters = parseObject(read("filters") || "{}");
      if (action === undefined) return new Map([["action", NO_OBJECT]]);
      if (filters === undefined) return new Map([["filters", NO_OBJECT]]);
      const fromBlock = read("fromBlock");
      await triggers.create({
        name: read("name"),
        network,
        addresses: read("addresses").split(/[\s,]+/),
        event: read("event"),
        filters,
        confidence,
        ...(fromBlock === "" ? {} : { fromBlock: Number(fromBlock) }),
        action,
      });
      form.reset();
      await queries.invalidateQueries({ queryKey: ["triggers", dappId] });
      announce("The log trigger is added.");
    },
  );
  return (
    <section className="panel" id="new-log-trigger">
      <h2>New log trigger</h2>
      <form className="fields" onSubmit={onSubmit}>
        <Field id="trigger-name" label="Name" problem={problems.get("name")}>
          {(control) => <input {...control} name="name" required maxLength={60} autoComplete="off" />}
        </Field>
        <NetworkSelect id="trigger-network" networks={networks} value={network} onChange={choose} />
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
              name="event"
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
        <ActionField
          id="trigger-action"
          initial={'{"preset": "range", "min": "1", "max": {"event": "players"}}'}
          note={' {"event": "name"} stands for a value of the log.'}
          problem={problems.get("action")}
        />
        {refusal !== undefined && <Notice kind="bad">{refusal}</Notice>}
        <div>
          <button className="action" disabled={isBusy}>
            Add a log trigger
          </button>
        </div>
      </form>
    </section>
  );
}

/** What is requested, as JSON text. */
function ActionField({
  id,
  initial,
  note = "",
  problem,
}: {
  readonly id: string;
  readonly initial: string;
  readonly note?: string;
  readonly problem: string | undefined;
}) {
  return (
    <Field
      id={id}
      label="Action"
      note={`{"preset": …}, {"random": {…}} or {"function": {…}}, with the parameters of that endpoint.${note}`}
      problem={problem}
      wide
    >
      {(control) => (
        <textarea
          {...control}
          name="action"
          rows={3}
          className="mono"
          spellCheck={false}
          defaultValue={initial}
        />
      )}
    </Field>
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

/** Returns a JSON object; undefined if the text is none. */
function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
