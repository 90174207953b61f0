import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useLocation, useParams } from "wouter";
import type { LogRun, LogTriggerView, ScheduleView, TriggerRun } from "../../../../client/index.ts";
import { capitalize } from "../../../../lib/capitalize.ts";
import { cut } from "../../../../lib/cut.ts";
import { describeArguments } from "../../../../text/eventArguments.ts";
import { announce } from "../../announce.ts";
import { Loaded } from "../../page.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { Age, Copyable, Time, TransactionLink } from "../../parts/format.tsx";
import { ConfirmButton, describeError, useEdit } from "../../parts/forms.tsx";
import { ForRole } from "../../parts/forRole.tsx";
import { List, type Column } from "../../parts/list.tsx";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { StateTag } from "../../parts/requestParts.tsx";
import { Facts, Folded, Listing, Notice, ResultText, Tag, UnknownText } from "../../parts/parts.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useClient, useMay, useNetworks, useOperator, useTitleOf } from "../../services.tsx";
import { LogTriggerForm, ScheduleForm, type TriggerFormProps } from "./triggerForms.tsx";
import { describeAction, describeLateness, describeLogs, describeTimes } from "./triggerText.ts";

const REFRESH_MS = 2_000;
/** Longer results are cut in the list of runs. */
const MAX_RESULT = 40;
/** Runs shown; the API and the command line have the rest. */
const RUNS = 20;

/** `/dapps/{dappId}/triggers`: the requests that the service makes by itself. */
export function Triggers() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  const { schedules, triggers } = useClient(dappId);
  const titleOf = useTitleOf();
  // One form at a time: their fields have the same names.
  const [open, setOpen] = useState<Kind | "none">();
  const shared = { dappId, open, setOpen };
  return (
    <DappFrame dappId={dappId} tab="triggers">
      {() => (
        <>
          <TriggerList
            {...shared}
            kind="schedules"
            title="Schedules"
            note="Requests that the service makes at certain times."
            list={() => schedules.list()}
            describe={(schedule) => `${describeTimes(schedule)}, on ${titleOf(schedule.network)}`}
            state={(schedule) => <ScheduleState schedule={schedule} />}
            Form={ScheduleForm}
          />
          <TriggerList
            {...shared}
            kind="triggers"
            title="Log triggers"
            note="Requests that the service makes when contracts emit events."
            list={() => triggers.list()}
            describe={(trigger) => `${describeLogs(trigger)}, on ${titleOf(trigger.network)}`}
            state={(trigger) => <LogTriggerState trigger={trigger} />}
            Form={LogTriggerForm}
          />
          <ForRole
            dappId={dappId}
            operation="createTrigger"
            does="create, pause and delete schedules and log triggers"
          />
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

type Kind = "schedules" | "triggers";
const OPERATIONS = {
  schedules: { create: "createSchedule", change: "changeSchedule" },
  triggers: { create: "createTrigger", change: "changeTrigger" },
} as const;
const NOUNS = { schedules: "schedule", triggers: "log trigger" } as const;
type Common = Pick<ScheduleView, "id" | "name" | "network" | "action" | "pausedAt">;

function TriggerList<Item extends Common>({
  dappId,
  open,
  setOpen,
  kind,
  title,
  note,
  list,
  describe,
  state,
  Form,
}: {
  readonly dappId: string;
  /** Which form is open; `none` once one has been closed. */
  readonly open: Kind | "none" | undefined;
  readonly setOpen: (kind: Kind | "none") => void;
  readonly kind: Kind;
  readonly title: string;
  readonly note: string;
  readonly list: () => Promise<readonly Item[]>;
  /** Says when it acts. */
  readonly describe: (item: Item) => string;
  readonly state: (item: Item) => ReactNode;
  readonly Form: FormOf<Item>;
}) {
  const query = useQuery({
    queryKey: [kind, dappId],
    queryFn: list,
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  return (
    <>
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
                    head: "What it does",
                    kind: "long",
                    isPlain: true,
                    cell: (item) => (
                      <div className="sentence">
                        <UnknownText text={`${describeAction(item.action)} ${describe(item)}`} />
                      </div>
                    ),
                  },
                  { head: "State", isPlain: true, cell: state },
                  {
                    head: "Actions",
                    hasHiddenHead: true,
                    cell: (item) => (
                      <TriggerButtons
                        dappId={dappId}
                        kind={kind}
                        what={item}
                        more={
                          <Link href={`/dapps/${dappId}/triggers/${item.id}`}>
                            History<span className="visually-hidden"> of {plainText(item.name)}</span>
                          </Link>
                        }
                      />
                    ),
                  },
                ]}
              />
            )
          }
        </Loaded>
        {open !== kind && (
          <ForRole dappId={dappId} operation={OPERATIONS[kind].create}>
            <button type="button" autoFocus={open === "none"} onClick={() => setOpen(kind)}>
              New {NOUNS[kind]}
            </button>
          </ForRole>
        )}
      </section>
      {open === kind && <OpenForm Form={Form} dappId={dappId} close={() => setOpen("none")} />}
    </>
  );
}

type FormOf<Item> = (props: TriggerFormProps<Item>) => ReactNode;

/** A form, once there is what it chooses from. */
function OpenForm<Item>({
  Form,
  ...props
}: Omit<TriggerFormProps<Item>, "networks" | "presets"> & { readonly Form: FormOf<Item> }) {
  const operator = useOperator();
  const networks = useNetworks();
  const presets = useQuery({ queryKey: ["presets"], queryFn: () => operator.presets() });
  return (
    <Loaded query={networks}>
      {(served) => (
        <Loaded query={presets}>
          {(installed) => <Form {...props} networks={served} presets={installed} />}
        </Loaded>
      )}
    </Loaded>
  );
}

function ScheduleState({ schedule: { pausedAt, next } }: { readonly schedule: ScheduleView }) {
  if (pausedAt !== null) return <Tag kind="quiet">paused</Tag>;
  return next[0] === undefined ? (
    <Tag kind="quiet">ended</Tag>
  ) : (
    <>
      <Tag kind="good">active</Tag> next <Age iso={next[0]} />, <Time iso={next[0]} />
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
          when={describeTimes(schedule)}
          exactly={schedule.every ?? `${schedule.cron} in ${schedule.timeZone}`}
          more={
            <p>
              {describeLateness(schedule)}
              {schedule.until !== null && (
                <>
                  {" "}
                  Ends <Time iso={schedule.until} />.
                </>
              )}
            </p>
          }
          run={() => schedules.run(id)}
          Form={ScheduleForm}
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
          when={describeLogs(trigger)}
          exactly={`${trigger.event ?? "topics"} of ${trigger.addresses.join(", ")}, ${trigger.confidence}`}
          Form={LogTriggerForm}
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
function TriggerPart<Item extends Common>({
  dappId,
  kind,
  what,
  state,
  when,
  exactly,
  more,
  run,
  Form,
  children,
}: {
  readonly dappId: string;
  readonly kind: Kind;
  readonly what: Item;
  readonly state: ReactNode;
  readonly when: string;
  /** As it was given. */
  readonly exactly: string;
  readonly more?: ReactNode;
  readonly run?: () => Promise<unknown>;
  readonly Form: FormOf<Item>;
  readonly children: ReactNode;
}) {
  const titleOf = useTitleOf();
  const { isOpen, button, close } = useEdit();
  const { id, name, network, action } = what;
  return (
    <section aria-label={plainText(name)}>
      <h2>
        <UnknownText text={name} />
      </h2>
      <p className="sentence">
        <UnknownText text={`${describeAction(action)} ${when}, on ${titleOf(network)}.`} />
      </p>
      <p>{state}</p>
      {more}
      <Facts
        entries={[
          [capitalize(NOUNS[kind]), <Copyable text={id} what={`${NOUNS[kind]} id`} />],
          [
            kind === "schedules" ? "Times" : "Logs",
            <code>
              <UnknownText text={exactly} />
            </code>,
          ],
        ]}
      />
      <Folded summary="Action">
        <Listing text={JSON.stringify(action, null, 2)} label={`Action of ${plainText(name)}`} />
      </Folded>
      <TriggerButtons dappId={dappId} kind={kind} what={what} run={run}>
        <button {...button}>Edit</button>
      </TriggerButtons>
      {isOpen && <OpenForm Form={Form} dappId={dappId} what={what} close={close} />}
      {children}
    </section>
  );
}

function TriggerButtons({
  dappId,
  kind,
  what: { id, name, pausedAt },
  run,
  more,
  children,
}: {
  readonly dappId: string;
  readonly kind: Kind;
  readonly what: Common;
  readonly run?: (() => Promise<unknown>) | undefined;
  /** What is there for every role, too. */
  readonly more?: ReactNode;
  readonly children?: ReactNode;
}) {
  const { [kind]: api } = useClient(dappId);
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [problem, setProblem] = useState<string>();
  const may = useMay(dappId);
  const noun = NOUNS[kind];
  const isPaused = pausedAt !== null;
  const act = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    setProblem(undefined);
    try {
      await work();
      await queries.invalidateQueries({ queryKey: [kind, dappId] });
      announce(done);
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  if (may(OPERATIONS[kind].change) !== true) return more;
  const whose = <span className="visually-hidden"> {plainText(name)}</span>;
  return (
    <>
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
              () => api.change(id, { paused: !isPaused }),
              `The ${noun} is ${isPaused ? "resumed" : "paused"}.`,
            )
          }
        >
          {isPaused ? "Resume" : "Pause"}
          {whose}
        </button>
        {more}
        {children}
        <ConfirmButton
          question={`Delete this ${noun}?`}
          detail="Its list of runs goes with it; their requests stay. This can't be undone."
          confirm="Delete it"
          onConfirm={async () => {
            await api.delete(id);
            navigate(`/dapps/${dappId}/triggers`);
            await queries.invalidateQueries({ queryKey: [kind, dappId] });
            announce(`The ${noun} is deleted.`);
          }}
        >
          Delete
          {whose}
        </ConfirmButton>
      </div>
    </>
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
          kind: "long",
          isPlain: true,
          cell: ({ state, reason, detail, requestId, requestState, result, error }) =>
            requestId === null ? (
              <>
                <Tag kind={state === "skipped" ? "bad" : "quiet"}>{reason ?? state}</Tag>{" "}
                <UnknownText text={detail ?? ""} />
              </>
            ) : (
              <>
                {requestState !== null && <StateTag state={requestState} />}{" "}
                {result !== null && <ResultText text={cut(result, MAX_RESULT)} />}
                <UnknownText text={error?.message ?? ""} />{" "}
                <Link href={`/dapps/${dappId}/requests/${requestId}`}>{requestId}</Link>
              </>
            ),
        },
        more,
      ]}
    />
  );
}
