import type { DappDirectory } from "../dapps/dapps.ts";
import { TycheError } from "../lib/errors.ts";
import { createId } from "../lib/id.ts";
import type { SkipReason } from "../lib/vocabulary.ts";
import type { Command, Service } from "../requests/service.ts";
import type { Fence } from "../store/leases.ts";
import { addEvents, type OutboxEvent } from "../store/outbox.ts";
import type { Queryable } from "../store/queryable.ts";
import { findRequestByKey } from "../store/requests.ts";
import type { StoredSchedule } from "../store/schedules.ts";
import type { Store } from "../store/store.ts";
import { endRun, findOpenRequestOf, noteWait, type StoredRun } from "../store/triggerRuns.ts";

/** Key of a run that its owner asked for; ticks have their time. */
export const ASKED = "now ";

export interface ActOptions {
  readonly store: Store;
  readonly submit: Service["submit"];
  readonly findActing: DappDirectory["findActing"];
  /** Called when an event is stored. */
  readonly onEvent: () => void;
  readonly now: () => number;
}

/**
 * Requests what a schedule's run is due for, or records why not. The run's key is the request's idempotency key: whoever acts on it again,
 * after a crash or beside another replica, finds the same request.
 *
 * @param fence prevents this process from recording once another replica acts.
 * @returns whether the run is no longer due; `false`: it waits, and its `detail` says for what.
 */
export async function actOnRun(
  options: ActOptions,
  schedule: StoredSchedule,
  run: StoredRun,
  fence?: Pick<Fence, "assertHeld">,
): Promise<boolean> {
  const { store, now } = options;
  const { dappId } = schedule;
  const end = async (requestId: string): Promise<true> => {
    await store.write(async (db) => {
      await fence?.assertHeld(db);
      await endRun(db, run.id, { state: "requested", reason: null, detail: null, request_id: requestId });
    });
    return true;
  };
  const skip = async (reason: SkipReason, detail: string): Promise<true> => {
    const isTold = await store.write(async (db) => {
      await fence?.assertHeld(db);
      const skipped = { state: "skipped", reason, detail, request_id: null } as const;
      if (!(await endRun(db, run.id, skipped))) return false;
      return await addSkipEvent(db, schedule, { reason, detail, ticks: [run.at], at: now() });
    });
    if (isTold) options.onEvent();
    return true;
  };

  // Callers' keys have no blanks.
  const idempotencyKey = `${run.trigger_id} ${run.key}`;
  const earlier = await findRequestByKey(store.db, dappId, idempotencyKey);
  if (earlier !== undefined) return await end(earlier.id);
  if (!run.key.startsWith(ASKED)) {
    if (schedule.pausedAt !== null) return await skip("paused", "the schedule was paused before it ran");
    if (now() - run.at > schedule.windowMs)
      return await skip("missed", run.detail ?? "the service could not act on it in time");
    const open = schedule.overlap === "skip" ? await findOpenRequestOf(store.db, run.trigger_id) : undefined;
    if (open !== undefined) return await skip("overlap", `request ${open} had not ended`);
  }
  const dapp = await options.findActing(dappId, schedule.keyId);
  if (dapp === undefined)
    return await skip(
      "key",
      "the API key that last changed the schedule is revoked; change it with another one",
    );
  try {
    const request = await options.submit(dapp, schedule.command as Command, {
      idempotencyKey,
      isAsync: true,
    });
    return await end(request.id);
  } catch (error) {
    if (!(error instanceof TycheError)) throw error;
    if (error.code === "rate_limited") return await skip("limit", error.message);
    if (error.blame === "caller" && !error.retryable) return await skip("refused", error.message);
    if (!["overloaded", "chain_unavailable"].includes(error.code)) throw error;
    await noteWait(store.db, run.id, error.message);
    return false;
  }
}

/** Stores the event of ticks that were skipped for one reason. @returns whether there is something to deliver. */
export async function addSkipEvent(
  db: Queryable,
  schedule: Pick<StoredSchedule, "id" | "dappId" | "name" | "command">,
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
    timestamp: new Date(at).toISOString(),
    data: {
      id: schedule.id,
      name: schedule.name,
      network: schedule.command.network,
      reason,
      detail: detail.slice(0, 1_000),
      count: ticks.length,
      from: new Date(ticks[0]!).toISOString(),
      to: new Date(ticks.at(-1)!).toISOString(),
    },
  };
  const event: OutboxEvent = {
    id: createId("evt", at),
    dappId: schedule.dappId,
    type: body.type,
    subject: schedule.id,
    at,
    write: () => JSON.stringify(body),
  };
  return await addEvents(db, [event]);
}
