import type { RunResult } from "../run.ts";
import type { RunMessage } from "./messages.ts";
import type { SecretGuard } from "./secretGuard.ts";
import type { Session } from "./session.ts";
import type { Worker } from "./worker.ts";

/** A run that a pool has accepted, from its place in the queue to its result. */
export interface Job {
  readonly message: RunMessage;
  readonly caller: string;
  readonly guard: SecretGuard;
  readonly resolve: (result: RunResult) => void;
  readonly reject: (error: Error) => void;
  session?: Session;
  startedMs: number;
  isAborted: boolean;
  /** Whether a child has already died during this run. */
  isRetried: boolean;
  worker?: Worker;
}

/** Whether a run may go to a child together with another; true within a group. */
export function belongs({ message: { group } }: Job, next: Job): boolean {
  return group !== null && group === next.message.group;
}
