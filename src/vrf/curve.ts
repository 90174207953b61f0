/**
 * secp256k1, the curve y² = x³ + 7 over the field of p elements, as VRF.sol uses it (SEC 2 v2, section 2.4.1). Its cofactor is
 * 1: every point on the curve is in the group of prime order n, so no small-subgroup check is needed, and affine coordinates
 * cannot express the point at infinity.
 */

/** p, VRF.sol's `FIELD_SIZE`. */
export const FIELD_SIZE = 0xffffffff_ffffffff_ffffffff_ffffffff_ffffffff_ffffffff_fffffffe_fffffc2fn;

/** n, VRF.sol's `GROUP_ORDER`. */
export const GROUP_ORDER = 0xffffffff_ffffffff_ffffffff_fffffffe_baaedce6_af48a03b_bfd25e8c_d0364141n;

/** A point in affine coordinates; Solidity's `uint256[2]`. */
export interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

/**
 * The curve arithmetic that a proof needs. Points are 65 bytes (0x04 ‖ x ‖ y), scalars 32 bytes, all big-endian. All engines
 * return byte-identical results. Where an operation returns undefined, the result is the point at infinity or zero.
 */
export interface CurveEngine {
  readonly name: string;
  /** scalar·G for a secret scalar in 1..n−1. */
  multiplyBase(scalar: Uint8Array): Uint8Array;
  /** scalar·point for a secret scalar in 1..n−1. */
  multiplySecret(point: Uint8Array, scalar: Uint8Array): Uint8Array;
  /** scalar·point for a public scalar in 1..n−1. */
  multiplyPublic(point: Uint8Array, scalar: Uint8Array): Uint8Array;
  /** a − b; undefined if they are equal. */
  subtract(a: Uint8Array, b: Uint8Array): Uint8Array | undefined;
  /** The point with this x coordinate and an even y; undefined if x ≥ p or no point has this x. */
  liftX(x: Uint8Array): Uint8Array | undefined;
  /** (k − c·secret) mod n for scalars in 1..n−1; undefined if that is zero. */
  subtractProduct(k: Uint8Array, c: Uint8Array, secret: Uint8Array): Uint8Array | undefined;
}
