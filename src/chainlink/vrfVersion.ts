import {
  presetConsumerAbi,
  presetConsumerV2PlusAbi,
  subscriptionOwnerAbi,
  subscriptionOwnerV2PlusAbi,
} from "./contracts/abi.ts";

/** Versions of Chainlink VRF: `v2` with VRFCoordinatorV2, `v2.5` with VRFCoordinatorV2_5. */
export const VRF_VERSIONS = ["v2", "v2.5"] as const;
export type VrfVersion = (typeof VRF_VERSIONS)[number];

/** Returns a request's VRF version: only v2.5 has extra arguments. */
export function vrfVersionOf(request: { readonly extraArgs?: string }): VrfVersion {
  return request.extraArgs === undefined ? "v2" : "v2.5";
}

/** Interfaces of our own contracts by VRF version; they take the same arguments under different selectors. */
export const OWN_ABIS = {
  v2: { presetConsumer: presetConsumerAbi, subscriptionOwner: subscriptionOwnerAbi },
  "v2.5": { presetConsumer: presetConsumerV2PlusAbi, subscriptionOwner: subscriptionOwnerV2PlusAbi },
} as const satisfies Record<VrfVersion, object>;
