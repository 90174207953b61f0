import type { DappDirectory } from "../dapps/dapps.ts";
import { TycheError } from "../lib/errors.ts";
import { createId } from "../domain/id.ts";
import { formatTime } from "../lib/time.ts";
import type { SkipReason } from "../domain/vocabulary.ts";
import { OpenLimitError } from "../requests/accept/requestLimits.ts";
import type { Command, Service } from "../requests/service.ts";
import { addEvents, type OutboxEvent } from "../store/outbox.ts";
import type { StoredRunLog } from "../store/logTriggers.ts";
import type { Queryable } from "../store/queryable.ts";
import { findRequestByKey } from "../store/requests.ts";
import type { StoredSchedule } from "../store/schedules.ts";
import type { Store } from "../store/store.ts";
import { ASKED, endRun, findOpenRequestOf, noteWait, type StoredRun } from "../store/triggerRuns.ts";

export interface ActOptions {
  readonly store: Store;
  readonly submit: Service["submit"];
  readonly findActing: DappDirectory["findActing"];
  /** Called when an event is stored. */
  readonly onEvent: () => void;
  readonly now: () => number;
}

type RunLog = Omit<StoredRunLog, "args">;

/** Whose run it is, and how it acts. */
export interface ActingTrigger extends Pick<StoredSchedule, "id" | "dappId" | "keyId" | "name"> {
  readonly network: string;
  /** Whether its runs wait for the next day once the requests of the day are used up; otherwise they are skipped. */
  readonly isPatient: boolean;
  /** The log that the run is about; a schedule's is about none. */
  readonly log?: RunLog;
}

/** What an event says of whose run it is. */
type ToldTrigger = Pick<ActingTrigger, "id" | "dappId" | "name" | "network" | "log">;

/** What became of a run: `waiting` is still due, and its `detail` says what for. */
export type TriggerOutcome = "requested" | "skipped" | "waiting";

/** Why a run makes no request. */
export interface Skip {
  readonly reason: SkipReason;
  readonly detail: string;
}

/** Requests what a schedule's run is due for, or records why not. @param later see {@link requestRun}. */
export async function actOnRun(
  options: ActOptions,
  schedule: StoredSchedule,
  run: StoredRun,
  later: readonly StoredRun[] = [],
): Promise<TriggerOutcome> {
  const { store, now } = options;
  const findSkip = async (): Promise<Skip | undefined> =>
    findTickSkip(schedule, run, { now: now(), open: await findOverlapped(store.db, schedule) });
  const command = (): Command => schedule.command as Command;
  const acting = { ...schedule, network: schedule.command.network, isPatient: false };
  return await requestRun(options, acting, run, { later, command, findSkip });
}

/** Returns the id of a request that must end before a schedule makes the next one; `undefined` if there is none. */
export async function findOverlapped(db: Queryable, schedule: StoredSchedule): Promise<string | undefined> {
  return schedule.overlap === "skip" ? await findOpenRequestOf(db, schedule.id) : undefined;
}

/** Returns why a schedule makes no request of a tick. @param present.open what {@link findOverlapped} returned. */
export function findTickSkip(
  { pausedAt, windowMs }: Pick<StoredSchedule, "pausedAt" | "windowMs">,
  run: StoredRun,
  { now, open }: { readonly now: number; readonly open: string | undefined },
): Skip | undefined {
  if (run.key.startsWith(ASKED)) return undefined;
  if (pausedAt !== null) return { reason: "paused", detail: "the schedule was paused before it ran" };
  if (now - run.at > windowMs)
    return { reason: "missed", detail: run.detail ?? "the service could not act on it in time" };
  return open === undefined ? undefined : { reason: "overlap", detail: `request ${open} had not ended` };
}

/**
 * Requests what a run is due for, or records why not. The run's key is the request's idempotency key: whoever acts on it again, after a
 * crash or beside another replica, finds the same request.
 *
 * @param how.command throws `invalid_parameter` if there is nothing that could be requested.
 * @param how.findSkip returns why there is to be no request.
 * @param how.later other runs of the trigger that are due, for the same: a refusal is theirs, too.
 * @param how.onRequested called in the transaction that records the request; returns whether it has stored an event.
 */
export async function requestRun(
  options: ActOptions,
  trigger: ActingTrigger,
  run: StoredRun,
  how: {
    readonly command: () => Command;
    readonly findSkip: () => Promise<Skip | undefined>;
    readonly later?: readonly StoredRun[];
    readonly onRequested?: (db: Queryable) => Promise<boolean>;
  },
): Promise<TriggerOutcome> {
  const { store } = options;
  const { later = [] } = how;
  const end = async (requestId: string): Promise<TriggerOutcome> => {
    const isTold = await store.write(async (db) => {
      await endRun(db, run.id, { state: "requested", reason: null, detail: null, request_id: requestId });
      return (await how.onRequested?.(db)) ?? false;
    });
    if (isTold) options.onEvent();
    return "requested";
  };
  const skip = async (why: Skip, others: readonly StoredRun[] = []): Promise<TriggerOutcome> => {
    await skipRuns(options, trigger, [run, ...others], why);
    return "skipped";
  };

  const idempotencyKey = idempotencyKeyOf(run);
  const findRequest = () => findRequestByKey(store.db, trigger.dappId, idempotencyKey);
  const earlier = await findRequest();
  if (earlier !== undefined) return await end(earlier.id);
  const unwanted = await how.findSkip();
  if (unwanted !== undefined) return await skip(unwanted);
  const dapp = await options.findActing(trigger.dappId, trigger.keyId);
  if (dapp === undefined) {
    const detail = "the API key that last changed it is revoked or has expired; change it with another one";
    return await skip({ reason: "key", detail }, later);
  }
  try {
    const request = await options.submit(dapp, how.command(), { idempotencyKey, isAsync: true });
    return await end(request.id);
  } catch (error) {
    if (!(error instanceof TycheError)) throw error;
    // Another replica may have requested another action, which its owner changed meanwhile.
    const made = await findRequest();
    if (made !== undefined) return await end(made.id);
    const detail = error.message;
    const isLimit = error.code === "rate_limited" && !(error instanceof OpenLimitError);
    if (isLimit && !trigger.isPatient) return await skip({ reason: "limit", detail }, later);
    if (!isLimit && error.blame === "caller" && !error.retryable)
      return await skip({ reason: "refused", detail }, later);
    if (!["overloaded", "chain_unavailable", "rate_limited"].includes(error.code)) throw error;
    await noteWait(store.db, run.id, detail);
    return "waiting";
  }
}

/** Records that runs of a trigger, earliest first, make no request for one reason, and stores one event; leaves out those that have a request. */
export async function skipRuns(
  { store, onEvent, now }: Pick<ActOptions, "store" | "onEvent" | "now">,
  trigger: ToldTrigger,
  runs: readonly StoredRun[],
  { reason, detail }: Skip,
): Promise<void> {
  const isTold = await store.write(async (db) => {
    const ticks: number[] = [];
    for (const run of runs) {
      if ((await findRequestByKey(db, trigger.dappId, idempotencyKeyOf(run))) !== undefined) continue;
      const skipped = { state: "skipped", reason, detail, request_id: null } as const;
      if (await endRun(db, run.id, skipped)) ticks.push(run.at);
    }
    return ticks.length > 0 && (await addSkipEvent(db, trigger, { reason, detail, ticks, at: now() }));
  });
  if (isTold) onEvent();
}

/** Says what a run that is due waits for: those before it, and what the first of its trigger waits for. */
export function describeQueue(
  ahead: number,
  {
    what,
    first,
    rest = "",
  }: { readonly what: string; readonly first: StoredRun | undefined; readonly rest?: string },
): string {
  if (ahead === 0) return "it is next";
  const detail = first?.detail ?? null;
  const wait = detail === null ? rest : `; its trigger's first run waits: ${detail}`;
  return `${ahead} of the ${what} ${ahead === 1 ? "is" : "are"} before it${wait}`;
}

/** Returns the idempotency key of a run's request. Callers' keys have no blanks. */
export function idempotencyKeyOf({ trigger_id, key }: Pick<StoredRun, "trigger_id" | "key">): string {
  return `${trigger_id} ${key}`;
}

/** Says in an event which run it is about, and which log. */
export function presentRunLog(log: RunLog): Readonly<Record<string, string | number>> {
  return {
    runId: log.run_id,
    network: log.network,
    blockNumber: log.block_number,
    blockHash: log.block_hash,
    transactionHash: log.transaction_hash,
    logIndex: log.log_index,
  };
}

/** Stores the event of ticks that were skipped for one reason. @returns whether there is something to deliver. */
export async function addSkipEvent(
  db: Queryable,
  trigger: ToldTrigger,
  skipped: {
    readonly reason: SkipReason;
    readonly detail: string;
    /** When they were due, earliest first. */
    readonly ticks: readonly number[];
    readonly at: number;
  },
): Promise<boolean> {
  const { reason, detail, ticks, at } = skipped;
  const body = {
    type: "trigger.skipped",
    timestamp: formatTime(at),
    data: {
      triggerId: trigger.id,
      name: trigger.name,
      network: trigger.network,
      ...(trigger.log === undefined ? {} : presentRunLog(trigger.log)),
      reason,
      detail: detail.slice(0, 1_000),
      count: ticks.length,
      from: formatTime(ticks[0]!),
      to: formatTime(ticks.at(-1)!),
    },
  };
  const event: OutboxEvent = {
    id: createId("evt", at),
    dappId: trigger.dappId,
    type: body.type,
    subject: trigger.id,
    at,
    write: () => JSON.stringify(body),
  };
  return await addEvents(db, [event]);
}
