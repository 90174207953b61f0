import { encodeAbiParameters, type Hex } from "viem";

/** bytes4(keccak256("VRF ExtraArgsV1")): VRFV2PlusClient.EXTRA_ARGS_V1_TAG. */
const EXTRA_ARGS_V1_TAG = "0x92fd1338";

/**
 * Encodes a request's extra arguments in 36 bytes, as VRFV2PlusClient `_argsToBytes` does: the form that every request's
 * commitment contains.
 */
export function encodeExtraArgs({ nativePayment }: { readonly nativePayment: boolean }): Hex {
  return `${EXTRA_ARGS_V1_TAG}${encodeAbiParameters([{ type: "bool" }], [nativePayment]).slice(2)}`;
}
