import type { RequestIntake } from "../requestIntake.ts";
import type { RequestPipeline } from "../requestPipeline.ts";
import { openKeptPipeline, type KeptPipelineOptions } from "./keptPipeline.ts";

/** Who dispatches on a network: this process, or one of several replicas. */
export interface Dispatch {
  /** Where requests currently go: to the pipeline here, or to the dispatching replica. */
  intake(): RequestIntake;
  /** The pipeline, while this process dispatches. */
  pipeline(): RequestPipeline | undefined;
  /** Id of the dispatching replica, if known, and whether it is this one; `undefined` where there are no replicas. */
  dispatcher(): { readonly replica?: string; readonly isHere: boolean } | undefined;
  /** Ends what is in flight here; with replicas, another one takes over at once. Idempotent. */
  close(): Promise<void>;
}

/** Dispatches on a network that no other process serves from the same database. */
export async function openSoleDispatch(options: KeptPipelineOptions): Promise<Dispatch> {
  const pipeline = await openKeptPipeline(options);
  return {
    intake: () => pipeline,
    pipeline: () => pipeline,
    dispatcher: () => undefined,
    close: () => pipeline.close(),
  };
}
