import type { Hex } from "viem";
import type { PendingRequest } from "./status.ts";
import type { WatchedBlock } from "../evm/blockReader.ts";
import type { SignedReport } from "../chainlink/presetReport.ts";
import type { Receipt } from "../lib/nodeAnswers.ts";
import type { BegunProof } from "../vrf/proof.ts";
import type { VrfRequest } from "./vrf/fulfillment.ts";

/** Answers requests of one kind on a chain. All its state follows from the chain's logs. */
export interface Answerer {
  /** Contracts whose logs it reads, lower case. */
  readonly addresses: readonly Hex[];
  /**
   * Notes the new head, then reads the block's logs, then begins what can begin: what a log means may depend on the head, never the reverse.
   * `live`: all blocks that predate the start have been read, so open requests may be acted upon.
   */
  onBlock(block: WatchedBlock, live: boolean): void;
  /** Returns the first block to reread, if earlier than `firstReplaced`. */
  onReorg(firstReplaced: bigint): bigint | undefined;
  pending(): PendingRequest[];
}

/** What goes with the proofs of presets' words: their results, in the same transaction. */
export interface ProofCompanion extends Answerer {
  /** Lower case. */
  readonly presetConsumer: Hex;
  /** Takes a proof that may be delivered now. Resolves when it should be: its results are ready, or would take too long. */
  accompany(request: VrfRequest, proof: BegunProof): Promise<void>;
  /** Sends a transaction with the results of these VRF requests that are ready, in `reports`; there may be none. */
  withReports(
    requestIds: readonly Hex[],
    send: (reports: readonly SignedReport[]) => Promise<Receipt>,
  ): Promise<Receipt>;
}
