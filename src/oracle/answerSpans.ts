import type { Hex } from "viem";
import type { Receipt } from "../lib/nodeAnswers.ts";
import { tellStep } from "../lib/spans.ts";

/** Reports to tracing a transaction that was to answer some requests. `startMs`: when work on it started, Unix time in milliseconds. */
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
