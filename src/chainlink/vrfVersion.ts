import type { VrfVersion } from "../lib/vocabulary.ts";
import {
  presetConsumerAbi,
  presetConsumerV2PlusAbi,
  subscriptionOwnerAbi,
  subscriptionOwnerV2PlusAbi,
} from "./contracts/abi.ts";

export { VRF_VERSIONS, type VrfVersion } from "../lib/vocabulary.ts";

/** Returns a request's VRF version: only v2.5 has extra arguments. */
export function vrfVersionOf(request: { readonly extraArgs?: string }): VrfVersion {
  return request.extraArgs === undefined ? "v2" : "v2.5";
}

/** Interfaces of our own contracts by VRF version; they take the same arguments under different selectors. */
export const OWN_ABIS = {
  v2: { presetConsumer: presetConsumerAbi, subscriptionOwner: subscriptionOwnerAbi },
  "v2.5": { presetConsumer: presetConsumerV2PlusAbi, subscriptionOwner: subscriptionOwnerV2PlusAbi },
} as const satisfies Record<VrfVersion, object>;
