import type { CallOptions } from "./limits.ts";
import { createResource } from "./resource.ts";
import type { Transport } from "./transport.ts";
import type {
  ChangeScheduleParams,
  CreateScheduleParams,
  RunsParams,
  ScheduleView,
  TriggerRun,
  TriggerRunPage,
} from "./types.ts";

/** The schedules of a dapp. */
export interface ScheduleCalls {
  /** Not repeated if its answer is lost. */
  create(params: CreateScheduleParams, options?: CallOptions): Promise<ScheduleView>;
  list(options?: CallOptions): Promise<readonly ScheduleView[]>;
  get(id: string, options?: CallOptions): Promise<ScheduleView>;
  /** Changes what is given; `paused` pauses or resumes. */
  change(id: string, changes: ChangeScheduleParams, options?: CallOptions): Promise<ScheduleView>;
  delete(id: string, options?: CallOptions): Promise<ScheduleView>;
  /** Requests at once what a tick would. Not repeated if its answer is lost. */
  run(id: string, options?: CallOptions): Promise<TriggerRun>;
  /** Lists the runs of the last 30 days, newest first. */
  runs(id: string, page?: RunsParams, options?: CallOptions): Promise<TriggerRunPage>;
}

/** Creates the calls of schedules. */
export function createScheduleCalls(transport: Transport): ScheduleCalls {
  const { calls, send, get, of } = createResource<ScheduleView>(transport, "/api/schedules");
  return {
    ...calls,
    run: (id, options) => send({ method: "POST", path: of(id, "/run"), isOnce: true }, options),
    runs: (id, page, options) => get(of(id, "/runs"), options, page),
  };
}
