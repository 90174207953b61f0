import { formatUnits } from "viem";
import { isPaidNatively } from "../chainlink/extraArgs.ts";
import type { VrfSubscription } from "../chainlink/vrfCoordinator.ts";
import type { VrfRequest } from "./fulfillment.ts";

/** Returns what a request is paid from: a subscription's LINK and coin are separate. */
export function purseOf(request: Pick<VrfRequest, "subscriptionId" | "extraArgs">): string {
  return `${request.subscriptionId} ${isPaidNatively(request) ? "coin" : "LINK"}`;
}

/** Describes that a subscription holds too little for a request, and how much it holds if known. */
export function shortageOf(request: VrfRequest, holds?: VrfSubscription): string {
  const [currency, held] = isPaidNatively(request)
    ? ["coin", holds?.balanceWei]
    : ["LINK", holds?.balanceJuels];
  const balance =
    held === undefined ? `too little ${currency}` : `${formatUnits(held, 18)} ${currency}, too little`;
  return `VRF subscription ${request.subscriptionId} holds ${balance} for this request; fund it`;
}
