import type { CallOptions } from "./requests.ts";
import { createResource } from "./resource.ts";
import type { Transport } from "./transport.ts";
import type { LogRunPage, LogTriggerView } from "./types.ts";

/** What can be changed of a log trigger. */
export interface LogTriggerChanges {
  readonly name?: string | undefined;
  /** As in a schedule; `{ event: "name" }` in place of a value stands for a value of the log. */
  readonly action?: LogTriggerView["action"] | undefined;
  /** Network of its requests. Default: that of the logs. */
  readonly actionNetwork?: string | undefined;
  readonly paused?: boolean | undefined;
}

/** What is set of a log trigger. */
export interface LogTriggerParams extends LogTriggerChanges {
  readonly name: string;
  readonly action: LogTriggerView["action"];
  /** Network of the logs. Default: the only one. */
  readonly network?: string | undefined;
  /** 1 to 10 contracts. */
  readonly addresses: readonly string[];
  /** Human-readable ABI, such as `event Closed(uint256 indexed round)`. */
  readonly event?: string | undefined;
  /** Instead of `event`: topics by position; `null` is any. */
  readonly topics?: readonly (string | readonly string[] | null)[] | undefined;
  /** Wanted values of indexed arguments, by name. */
  readonly filters?: Readonly<Record<string, unknown>> | undefined;
  /** Default: `safe`. */
  readonly confidence?: LogTriggerView["confidence"] | undefined;
  /** First block whose logs it acts on. Default: the next one. */
  readonly fromBlock?: number | undefined;
}

/** The log triggers of a dapp. */
export interface LogTriggerCalls {
  /** Not repeated if its answer is lost. */
  create(params: LogTriggerParams, options?: CallOptions): Promise<LogTriggerView>;
  list(options?: CallOptions): Promise<readonly LogTriggerView[]>;
  get(id: string, options?: CallOptions): Promise<LogTriggerView>;
  /** Changes what is given; `paused` pauses or resumes. */
  change(id: string, changes: LogTriggerChanges, options?: CallOptions): Promise<LogTriggerView>;
  delete(id: string, options?: CallOptions): Promise<LogTriggerView>;
  /** Lists the runs of the last 30 days, newest first. */
  runs(
    id: string,
    page?: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
    options?: CallOptions,
  ): Promise<LogRunPage>;
}

/** Creates the calls of log triggers. */
export function createLogTriggerCalls(transport: Transport): LogTriggerCalls {
  const { calls, send, of } = createResource<LogTriggerView>(transport, "/api/triggers");
  return {
    ...calls,
    runs: (id, page = {}, options) =>
      send({ method: "GET", path: of(id, "/runs"), query: { ...page } }, options),
  };
}
