import {
  presetConsumerAbi,
  presetConsumerV2PlusAbi,
  subscriptionOwnerAbi,
  subscriptionOwnerV2PlusAbi,
} from "./contracts/abi.ts";

/** Versions of Chainlink VRF: that of VRFCoordinatorV2, and that of VRFCoordinatorV2_5. */
export const VRF_VERSIONS = ["v2", "v2.5"] as const;
export type VrfVersion = (typeof VRF_VERSIONS)[number];

/** Tells a request's version: only v2.5 has extra arguments. */
export function vrfVersionOf(request: { readonly extraArgs?: string }): VrfVersion {
  return request.extraArgs === undefined ? "v2" : "v2.5";
}

/** Interfaces of our own contracts for one version of VRF, which take the same arguments under selectors of their own. */
export const OWN_ABIS = {
  v2: { presetConsumer: presetConsumerAbi, subscriptionOwner: subscriptionOwnerAbi },
  "v2.5": { presetConsumer: presetConsumerV2PlusAbi, subscriptionOwner: subscriptionOwnerV2PlusAbi },
} as const satisfies Record<VrfVersion, object>;
