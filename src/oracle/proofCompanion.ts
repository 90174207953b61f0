import type { Hex } from "viem";
import type { SignedReport } from "../chainlink/presetReport.ts";
import type { Receipt } from "../lib/nodeAnswers.ts";
import type { BegunProof } from "../vrf/proof.ts";
import type { Answerer } from "./answerer.ts";
import type { VrfRequest } from "./vrf/fulfillment.ts";

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
