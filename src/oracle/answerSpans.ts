import type { Hex } from "viem";
import type { Receipt } from "../evm/client.ts";
import { tellStep } from "../lib/spans.ts";

/** Tells tracing of a transaction that was to answer some requests. `startMs`: Unix time in milliseconds at which it was begun. */
export function tellAnswers(
  name: "prove words" | "report",
  requestIds: readonly Hex[],
  { startMs, receipt }: { readonly startMs: number; readonly receipt: Receipt },
): void {
  for (const requestId of requestIds)
    tellStep(requestId, {
      name,
      startMs,
      attributes: { "tyche.transaction": receipt.transactionHash },
      failure: receipt.succeeded ? undefined : "reverted",
    });
}
