import type { CallOptions } from "./requests.ts";
import { createResource } from "./resource.ts";
import type { Transport } from "./transport.ts";
import type { ScheduleView, TriggerRun, TriggerRunPage } from "./types.ts";

/** What is set of a schedule. */
export interface ScheduleParams {
  readonly name?: string | undefined;
  /** Distance between ticks, such as `10s`, `5m`, `1h` or `1d`. */
  readonly every?: string | undefined;
  /** Cron expression, instead of `every`: five fields, or six with seconds first. */
  readonly cron?: string | undefined;
  /** Time zone of `cron`. Default: UTC. */
  readonly timeZone?: string | undefined;
  /** `{ preset, … }` with the preset's parameters, `{ random: {…} }` or `{ function: {…} }`. */
  readonly action?: ScheduleView["action"] | undefined;
  /** What is done about ticks that the service could not act on in time. Default: `one`. */
  readonly catchUp?: ScheduleView["catchUp"] | undefined;
  /** How late a tick may be caught up with. Default: `1d`. */
  readonly window?: string | undefined;
  /** Whether a tick is skipped while the request before it has not ended. Default: `skip`. */
  readonly overlap?: ScheduleView["overlap"] | undefined;
  /** ISO 8601; `null`: no end. */
  readonly until?: string | null | undefined;
  readonly paused?: boolean | undefined;
}

/** The schedules of a dapp. */
export interface ScheduleCalls {
  /** Not repeated if its answer is lost. */
  create(
    params: ScheduleParams & {
      readonly name: string;
      readonly action: ScheduleView["action"];
      /** Default: the only one. */
      readonly network?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<ScheduleView>;
  list(options?: CallOptions): Promise<readonly ScheduleView[]>;
  get(id: string, options?: CallOptions): Promise<ScheduleView>;
  /** Changes what is given; `paused` pauses or resumes. */
  change(id: string, changes: ScheduleParams, options?: CallOptions): Promise<ScheduleView>;
  delete(id: string, options?: CallOptions): Promise<ScheduleView>;
  /** Requests at once what a tick would. Not repeated if its answer is lost. */
  run(id: string, options?: CallOptions): Promise<TriggerRun>;
  /** Lists the runs of the last 30 days, newest first. */
  runs(
    id: string,
    page?: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
    options?: CallOptions,
  ): Promise<TriggerRunPage>;
}

/** Creates the calls of schedules. */
export function createScheduleCalls(transport: Transport): ScheduleCalls {
  const { calls, send, of } = createResource<ScheduleView>(transport, "/api/schedules");
  return {
    ...calls,
    run: (id, options) => send({ method: "POST", path: of(id, "/run"), isOnce: true }, options),
    runs: (id, page = {}, options) =>
      send({ method: "GET", path: of(id, "/runs"), query: { ...page } }, options),
  };
}
