/**
 * Checks a VRF v2 proof the way VRF.sol does, from public data alone. It shares no arithmetic with `prove`: `prove` runs on
 * libsecp256k1, this on `@noble/curves` and plain integers, with its own implementation of hashing to the curve.
 */
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concatBytes, type Hex } from "viem";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";
import { encodeUint256s, readUint256 } from "../lib/uint256.ts";
import { FIELD_SIZE, GROUP_ORDER, type Point } from "./curve.ts";
import type { Proof } from "./proof.ts";
import { outputOf } from "./randomWords.ts";

const Curve = secp256k1.Point;
type CurvePoint = InstanceType<typeof Curve>;

/** The checks of VRF.sol `_verifyVRFProof` in its order; each names the field or equation that fails. */
export type ProofCheck =
  | "publicKey"
  | "gamma"
  | "cGammaWitness"
  | "sHashWitness"
  | "uWitness"
  | "distinctWitnesses"
  | "cGammaProduct"
  | "sHashProduct"
  | "zInv"
  | "challenge";

/** Result of {@link verify}. `output` is the value that the words are derived from (uint256). */
export type ProofVerdict =
  | { readonly valid: true; readonly output: bigint }
  | { readonly valid: false; readonly failed: ProofCheck; readonly reason: string };

/**
 * Verifies that `proof` is for `seed` and its own public key; the caller compares `keyHash(proof.publicKey)` with the registered
 * one and derives `seed` from the block hash (`seedOf`). Accepts exactly what VRF.sol accepts. Where the contract compares the
 * 160-bit addresses of two points, this compares the points, except for u, of which only the address is known.
 *
 * An invalid proof is a result, never an exception. Takes about 10 ms.
 */
export function verify(proof: Proof, seed: bigint): ProofVerdict {
  // VRF.sol `_isOnCurve`: coordinates below p, y² = x³ + 7. With cofactor 1, a point on the curve is in the group.
  const publicKey = toCurvePoint(proof.publicKey);
  if (!publicKey) return fails("publicKey", "the public key is not on the curve");
  const gamma = toCurvePoint(proof.gamma);
  if (!gamma) return fails("gamma", "gamma is not on the curve");
  const cGamma = toCurvePoint(proof.cGammaWitness);
  if (!cGamma) return fails("cGammaWitness", "cGammaWitness is not on the curve");
  const sHash = toCurvePoint(proof.sHashWitness);
  if (!sHash) return fails("sHashWitness", "sHashWitness is not on the curve");

  // VRF.sol `_verifyLinearCombinationWithGenerator`; draft-irtf-cfrg-vrf-05 section 5.3 step 5.
  const c = proof.c % GROUP_ORDER;
  const s = proof.s % GROUP_ORDER;
  const u = multiply(publicKey, c).add(multiply(Curve.BASE, s));
  if (!isRecoverable(proof.publicKey, c) || u.is0() || addressOf(u) !== proof.uWitness.toLowerCase())
    return fails("uWitness", "uWitness is not the address of c·pk + s·G");

  // VRF.sol `_linearCombination`; section 5.3 step 6.
  const hashPoint = hashToCurveAgain(proof.publicKey, seed);
  if (proof.cGammaWitness.x === proof.sHashWitness.x)
    return fails("distinctWitnesses", "cGammaWitness and sHashWitness have the same x coordinate");
  if (!isRecoverable(proof.gamma, c) || !multiply(gamma, c).equals(cGamma))
    return fails("cGammaProduct", "cGammaWitness is not c·gamma");
  const hash = Curve.fromAffine(hashPoint);
  if (!isRecoverable(hashPoint, s) || !multiply(hash, s).equals(sHash))
    return fails("sHashProduct", "sHashWitness is not s·H");

  // VRF.sol `_affineECAdd`: "invZ must be inverse of z", where z = (x2 − x1)^5.
  const d = modP(proof.sHashWitness.x - proof.cGammaWitness.x);
  if (modP(modP(modP(d * d) * modP(d * d)) * modP(d * proof.zInv)) !== 1n)
    return fails("zInv", "zInv is not the inverse of the sum's z coordinate");

  // VRF.sol `_scalarFromCurvePoints`; section 5.3 steps 7 and 8.
  const v = cGamma.add(sHash).toAffine();
  const points = [hashPoint, proof.publicKey, proof.gamma, v].flatMap(({ x, y }) => [x, y]);
  const derived = keccak256(concatBytes([encodeUint256s(2n, ...points), fromHexText(proof.uWitness)]));
  if (readUint256(derived) !== proof.c) return fails("challenge", "c is not the hash of the proof's points");
  return { valid: true, output: outputOf(proof.gamma) };
}

function fails(failed: ProofCheck, reason: string): ProofVerdict {
  return { valid: false, failed, reason };
}

function toCurvePoint(point: Point): CurvePoint | undefined {
  if (point.x >= FIELD_SIZE || point.y >= FIELD_SIZE) return undefined;
  if (modP(point.y * point.y) !== modP(point.x ** 3n + 7n)) return undefined;
  return Curve.fromAffine(point);
}

/**
 * Whether VRF.sol's multiplication by `ecrecover` accepts the point and scalar. It passes the point's x as r and scalar·x as s,
 * and the precompile refuses an r of n or more and an s of 0. Points with n ≤ x < p exist (a share of 2^-127), and a scalar of 0
 * modulo n is refused.
 */
function isRecoverable(point: Point, scalar: bigint): boolean {
  return point.x < GROUP_ORDER && scalar !== 0n;
}

/** scalar·point in variable time, as all values are public; noble refuses the scalar 0. */
function multiply(point: CurvePoint, scalar: bigint): CurvePoint {
  return scalar === 0n ? Curve.ZERO : point.multiplyUnsafe(scalar);
}

function addressOf(point: CurvePoint): Hex {
  return toHexText(keccak256(point.toBytes(false).subarray(1)).subarray(12));
}

/** VRF.sol `_hashToCurve`, `_newCandidateSecp256k1Point`, `_fieldHash`; draft-irtf-cfrg-vrf-05 section 5.4.1.1. */
function hashToCurveAgain(publicKey: Point, seed: bigint): Point {
  let bytes: Uint8Array = encodeUint256s(1n, publicKey.x, publicKey.y, seed);
  for (;;) {
    let x = readUint256(keccak256(bytes));
    while (x >= FIELD_SIZE) x = readUint256(keccak256(encodeUint256s(x)));
    const ySquared = modP(x ** 3n + 7n);
    const root = power(ySquared, (FIELD_SIZE + 1n) / 4n); // p mod 4 = 3
    if (modP(root * root) === ySquared) return { x, y: root % 2n === 0n ? root : FIELD_SIZE - root };
    bytes = encodeUint256s(x);
  }
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = modP(result * result);
    if (bit === "1") result = modP(result * base);
  }
  return result;
}

function modP(value: bigint): bigint {
  const remainder = value % FIELD_SIZE;
  return remainder < 0n ? remainder + FIELD_SIZE : remainder;
}
