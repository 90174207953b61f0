import { setTimeout as sleep } from "node:timers/promises";
import { createId } from "../domain/id.ts";
import { startWakeLoop, type WakeLoop } from "../lib/wakeLoop.ts";
import {
  findLogTrigger,
  listDueLanes,
  listDueLogRuns,
  listRevertedRuns,
  listRunLogs,
  type RevertedRun,
  type RunLane,
} from "../store/logTriggers.ts";
import { addEvents } from "../store/outbox.ts";
import type { Queryable } from "../store/queryable.ts";
import type { StoredRun } from "../store/triggerRuns.ts";
import { presentRunLog, requestRun, type ActOptions, type TriggerOutcome } from "./actOnRun.ts";
import { fillReferences, type ParseAction } from "./eventReferences.ts";

/** Requests that the log triggers of one dapp make on one network in a second, at most. */
export const RATE_PER_SECOND = 20;
const LOOK_INTERVAL_MS = 1_000;
/** Pause of a lane in which only runs that must wait are left. */
const WAIT_MS = 5_000;
const PAGE = 100;

/** Starts to request what runs of logs are due for: dapps and networks side by side, the runs of each in order and at its rate. */
export function startLogActor(
  given: Omit<ActOptions, "now"> & {
    readonly parseAction: ParseAction;
    readonly onError: (error: unknown) => void;
  },
): WakeLoop {
  const options = { ...given, now: Date.now };
  const { store, onError } = options;
  const acting = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const isStopped = (): boolean => stopping.signal.aborted;

  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => {});

  const actOnLane = async (lane: RunLane): Promise<void> => {
    /** Triggers whose runs must wait, such as for the next day of their API key. */
    const waiting = new Set<string>();
    for (let runs; (runs = await listDueLogRuns(store.db, lane, PAGE, waiting)).length > 0;) {
      for (const run of runs) {
        if (isStopped()) return;
        if (waiting.has(run.trigger_id)) continue;
        const began = performance.now();
        if ((await act(run)) === "waiting") waiting.add(run.trigger_id);
        await pause(Math.max(0, 1_000 / RATE_PER_SECOND - (performance.now() - began)));
      }
    }
    if (waiting.size > 0) await pause(WAIT_MS);
  };

  const act = async (run: StoredRun): Promise<TriggerOutcome | undefined> => {
    const trigger = await findLogTrigger(store.db, run.trigger_id);
    const [log] = await listRunLogs(store.db, [run.id]);
    if (trigger === undefined || log === undefined || trigger.pausedAt !== null) return undefined;
    const { action, actionNetwork: network } = trigger;
    const values = JSON.parse(log.args) as Record<string, string>;
    return await requestRun(options, { ...trigger, network, isPatient: true, log }, run, {
      command: () => options.parseAction(fillReferences(action, values), network),
      findSkip: async () =>
        log.reverted_at === null
          ? undefined
          : { reason: "reverted", detail: "a reorg removed the log before there was a request" },
      // A reorg that came while the request was made could not report it.
      onRequested: async (db) => {
        const reverted = await listRevertedRuns(db, { runId: run.id });
        return log.reverted_at === null && (await addRevertedEvents(db, reverted, options.now()));
      },
    });
  };

  const look = async (): Promise<void> => {
    for (const lane of await listDueLanes(store.db)) {
      const name = `${lane.dappId} ${lane.actionNetwork}`;
      if (acting.has(name) || isStopped()) continue;
      const work = actOnLane(lane)
        .catch(async (error: unknown) => {
          onError(error);
          await pause(LOOK_INTERVAL_MS);
        })
        .finally(() => acting.delete(name));
      acting.set(name, work);
    }
  };
  const loop = startWakeLoop(look, { intervalMs: LOOK_INTERVAL_MS, onError });
  return {
    wake: loop.wake,
    async stop() {
      stopping.abort();
      await loop.stop();
      await Promise.all(acting.values());
    },
  };
}

/** Stores the events of requested runs whose logs a reorg removed. @returns whether there is something to deliver. */
export async function addRevertedEvents(
  db: Queryable,
  runs: readonly RevertedRun[],
  at: number,
): Promise<boolean> {
  const type = "trigger.reverted";
  return await addEvents(
    db,
    runs.map((run) => ({
      id: createId("evt", at),
      dappId: run.trigger.dappId,
      type,
      subject: run.trigger.id,
      at,
      write: () =>
        JSON.stringify({
          type,
          timestamp: new Date(at).toISOString(),
          data: {
            triggerId: run.trigger.id,
            name: run.trigger.name,
            requestId: run.requestId,
            ...presentRunLog(run),
          },
        }),
    })),
  );
}
