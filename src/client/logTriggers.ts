import type { CallOptions } from "./limits.ts";
import { createResource } from "./resource.ts";
import type { Transport } from "./transport.ts";
import type {
  ChangeTriggerParams,
  CreateTriggerParams,
  LogRunPage,
  LogTriggerView,
  RunsParams,
} from "./types.ts";

/** The log triggers of a dapp. */
export interface LogTriggerCalls {
  /** Not repeated if its answer is lost. */
  create(params: CreateTriggerParams, options?: CallOptions): Promise<LogTriggerView>;
  list(options?: CallOptions): Promise<readonly LogTriggerView[]>;
  get(id: string, options?: CallOptions): Promise<LogTriggerView>;
  /** Changes what is given; `paused` pauses or resumes. */
  change(id: string, changes: ChangeTriggerParams, options?: CallOptions): Promise<LogTriggerView>;
  delete(id: string, options?: CallOptions): Promise<LogTriggerView>;
  /** Lists the runs of the last 30 days, newest first. */
  runs(id: string, page?: RunsParams, options?: CallOptions): Promise<LogRunPage>;
}

/** Creates the calls of log triggers. */
export function createLogTriggerCalls(transport: Transport): LogTriggerCalls {
  const { calls, get, of } = createResource<LogTriggerView>(transport, "/api/triggers");
  return {
    ...calls,
    runs: (id, page, options) => get(of(id, "/runs"), options, page),
  };
}
