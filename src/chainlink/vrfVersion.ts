import type { Hex } from "viem";
import type { VrfVersion } from "../domain/vocabulary.ts";
import { subscriptionOwnerAbi, subscriptionOwnerV2PlusAbi } from "./contracts/abi.ts";

/** Returns a request's VRF version: only v2.5 has extra arguments. */
export function vrfVersionOf(request: { readonly extraArgs?: string }): VrfVersion {
  return request.extraArgs === undefined ? "v2" : "v2.5";
}

/** Interface of SubscriptionOwner by VRF version; it takes the same arguments under different selectors. */
export const SUBSCRIPTION_OWNER_ABIS = {
  v2: subscriptionOwnerAbi,
  "v2.5": subscriptionOwnerV2PlusAbi,
} as const satisfies Record<VrfVersion, object>;

/** Whether a request pays in the chain's coin: decided by the last byte of its extra arguments, as in VRFCoordinatorV2_5. */
export function isPaidNatively({ extraArgs }: { readonly extraArgs?: Hex }): boolean {
  return extraArgs?.endsWith("01") ?? false;
}
