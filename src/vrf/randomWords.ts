import type { Hex } from "viem";
import { keccak256 } from "../lib/keccak.ts";
import { encodeUint256s, readUint256 } from "../lib/uint256.ts";
import type { Point } from "./curve.ts";
import { toHexText } from "../lib/hex.ts";

/** VRF.sol `VRF_RANDOM_OUTPUT_HASH_PREFIX`. */
const OUTPUT_PREFIX = 3n;

/** Returns the identifier of a proving key, keccak256(abi.encode(pk)): VRFCoordinatorV2 `hashOfKey`. */
export function keyHash(publicKey: Point): Hex {
  return toHexText(keccak256(encodeUint256s(publicKey.x, publicKey.y)));
}

/**
 * Returns the seed that a proof is for, keccak256(preSeed ‖ blockHash): VRFCoordinatorV2 `_getRandomnessFromProof`.
 * `blockHash` is that of the request's block. The requester cannot foresee it, and the block's producer cannot foresee the
 * proof, so neither alone chooses the seed.
 */
export function seedOf(preSeed: bigint, blockHash: Hex): bigint {
  return readUint256(keccak256(encodeUint256s(preSeed, BigInt(blockHash))));
}

/** Returns the id of the request with this pre-seed, keccak256(keyHash ‖ preSeed): VRFCoordinatorV2 `_computeRequestId`. */
export function requestIdOf(keyHash: Hex, preSeed: bigint): bigint {
  return readUint256(keccak256(encodeUint256s(BigInt(keyHash), preSeed)));
}

/** Returns a proof's output, keccak256(3 ‖ gamma): VRF.sol `_randomValueFromVRFProof`. */
export function outputOf(gamma: Point): bigint {
  return readUint256(keccak256(encodeUint256s(OUTPUT_PREFIX, gamma.x, gamma.y)));
}

/** Returns the words a request receives, word i = keccak256(output ‖ i): VRFCoordinatorV2 `fulfillRandomWords`. */
export function randomWords(output: bigint, numWords: number): bigint[] {
  return Array.from({ length: numWords }, (_, index) =>
    readUint256(keccak256(encodeUint256s(output, BigInt(index)))),
  );
}
