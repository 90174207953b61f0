import { keccak256 } from "../lib/keccak.ts";
import { encodeUint256s } from "../lib/uint256.ts";
import type { CurveEngine, Point } from "./curve.ts";

/** VRF.sol `HASH_TO_CURVE_HASH_PREFIX`. */
const HASH_TO_CURVE_PREFIX = 1n;

/**
 * Hashes `seed` to the point H, whose discrete logarithm nobody knows: VRF.sol `_hashToCurve`, draft-irtf-cfrg-vrf-05 section
 * 5.4.1.1 (try and increment). Returns 65 bytes, y even.
 *
 * Both loops of the contract, `_fieldHash` while x ≥ p and `_hashToCurve` while no point has that x, hash the last x again, so one
 * loop covers both. It takes two rounds on average; finding a seed that needs m rounds takes 2^m tries.
 */
export function hashToCurve(publicKey: Point, seed: bigint, engine: CurveEngine): Uint8Array {
  let x = keccak256(encodeUint256s(HASH_TO_CURVE_PREFIX, publicKey.x, publicKey.y, seed));
  for (;;) {
    const point = engine.liftX(x);
    if (point) return point;
    x = keccak256(x);
  }
}
