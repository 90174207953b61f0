import type { RequestIntake } from "../requestIntake.ts";
import { type RequestPipeline, openRequestPipeline } from "../requestPipeline.ts";
import type { Fence } from "../../store/leases.ts";
import type { Store } from "../../store/store.ts";
import { createRetention, type Keep } from "../keep/retention.ts";
import type { MinedTransaction } from "../observe/transactionMetrics.ts";
import type { OpenNetwork } from "../openNetwork.ts";
import type { RequestBook } from "../requestBook.ts";
import { fenceStore } from "./fenced.ts";

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

export interface KeptPipelineOptions {
  readonly network: OpenNetwork;
  readonly store: Store;
  readonly book: RequestBook;
  /** How long ended requests and other old records are kept. */
  readonly keep: Keep;
  /** Prevents writing and sending once another replica dispatches. Default: none. */
  readonly fence?: Fence;
  /** Called for every transaction of the service that is mined. */
  readonly onTransaction: (transaction: MinedTransaction) => void;
}

/** Opens the pipeline of a network, and starts deleting records whose retention time is over. */
export async function openKeptPipeline(options: KeptPipelineOptions): Promise<RequestPipeline> {
  const { network, store, fence, keep } = options;
  const { source, chain, finality, onError } = network;
  const { name } = source.profile;
  const pipeline = await openRequestPipeline({
    ...options,
    onReceipt: (receipt, { kind, entries }) =>
      options.onTransaction({ network: name, purpose: kind, requests: entries.flat().length, receipt }),
  });
  const { finalNumber } = finality;
  const retention = createRetention({
    network: name,
    store: fenceStore(store, fence),
    operator: chain.operator.address,
    keep,
    finalNumber,
    ...(chain.removeBlocks && { removeBlocks: chain.removeBlocks }),
  });
  retention.start(onError);
  return {
    ...pipeline,
    async close(end) {
      await retention.stop();
      await pipeline.close(end);
    },
  };
}
