import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak256 } from "viem";
import { describe, expect, test } from "vitest";
import { FIELD_SIZE, type Point } from "../../src/vrf/curve.ts";
import { createProvingKey, prove, type Proof } from "../../src/vrf/proof.ts";
import { verify, type ProofCheck } from "../../src/vrf/verify.ts";
import { hashToCurve, randomValueFromVrfProof } from "./support/vrfSol.ts";

const Curve = secp256k1.Point;
const seed = 99n;
const key = createProvingKey(new Uint8Array(32).fill(7));
const proof = prove(key, { preSeed: 5n, seed });
const other = prove(createProvingKey(new Uint8Array(32).fill(8)), { preSeed: 5n, seed });
const otherSeed = prove(key, { preSeed: 5n, seed: 100n });

const negated = (point: Point): Point => ({ x: point.x, y: FIELD_SIZE - point.y });
const shifted = (point: Point): Point => ({ x: point.x, y: point.y + 1n });

// Each negative twin: what was changed, the proof, our verdict, the contract's revert reason.
const twins: readonly (readonly [string, Partial<Proof>, ProofCheck, string])[] = [
  ["another key", { publicKey: other.publicKey }, "uWitness", "addr(c*pk+s*g)!=_uWitness"],
  ["a mirrored key", { publicKey: negated(proof.publicKey) }, "uWitness", "addr(c*pk+s*g)!=_uWitness"],
  ["a key off the curve", { publicKey: shifted(proof.publicKey) }, "publicKey", "public key is not on curve"],
  ["a key at the origin", { publicKey: { x: 0n, y: 0n } }, "publicKey", "public key is not on curve"],
  ["a key x of p", { publicKey: { x: FIELD_SIZE, y: 1n } }, "publicKey", "invalid x-ordinate"],
  ["a key y of p", { publicKey: { x: 1n, y: FIELD_SIZE } }, "publicKey", "invalid y-ordinate"],
  ["another gamma", { gamma: other.gamma }, "cGammaProduct", "First mul check failed"],
  ["a mirrored gamma", { gamma: negated(proof.gamma) }, "cGammaProduct", "First mul check failed"],
  ["a gamma off the curve", { gamma: shifted(proof.gamma) }, "gamma", "gamma is not on curve"],
  ["a zero c", { c: 0n }, "uWitness", "addr(c*pk+s*g)!=_uWitness"],
  ["a c plus 1", { c: proof.c + 1n }, "uWitness", "addr(c*pk+s*g)!=_uWitness"],
  ["a zero s", { s: 0n }, "uWitness", "addr(c*pk+s*g)!=_uWitness"],
  ["an s plus 1", { s: proof.s + 1n }, "uWitness", "addr(c*pk+s*g)!=_uWitness"],
  ["a zero uWitness", { uWitness: `0x${"00".repeat(20)}` }, "uWitness", "bad witness"],
  ["another uWitness", { uWitness: other.uWitness }, "uWitness", "addr(c*pk+s*g)!=_uWitness"],
  [
    "a cGammaWitness off the curve",
    { cGammaWitness: shifted(proof.cGammaWitness) },
    "cGammaWitness",
    "cGammaWitness is not on curve",
  ],
  [
    "another cGammaWitness",
    { cGammaWitness: other.cGammaWitness },
    "cGammaProduct",
    "First mul check failed",
  ],
  [
    "an sHashWitness off the curve",
    { sHashWitness: shifted(proof.sHashWitness) },
    "sHashWitness",
    "sHashWitness is not on curve",
  ],
  ["another sHashWitness", { sHashWitness: other.sHashWitness }, "sHashProduct", "Second mul check failed"],
  [
    "a mirrored sHashWitness",
    { sHashWitness: negated(proof.sHashWitness) },
    "sHashProduct",
    "Second mul check failed",
  ],
  [
    "equal witnesses",
    { sHashWitness: proof.cGammaWitness },
    "distinctWitnesses",
    "points in sum must be distinct",
  ],
  ["a zero zInv", { zInv: 0n }, "zInv", "invZ must be inverse of z"],
  ["a zInv plus 1", { zInv: proof.zInv + 1n }, "zInv", "invZ must be inverse of z"],
];

describe("negative twins", () => {
  test.each(twins)("%s", (_, change, failed, revertReason) => {
    const twin = { ...proof, ...change };
    expect(verify(twin, seed)).toMatchObject({ valid: false, failed });
    expect(() => randomValueFromVrfProof(twin, seed)).toThrow(revertReason);
  });
});

test("a proof for another seed fails at s·H", () => {
  expect(verify(otherSeed, seed)).toMatchObject({ valid: false, failed: "sHashProduct" });
  expect(() => randomValueFromVrfProof(otherSeed, seed)).toThrow("Second mul check failed");
});

test("a consistent proof of other points fails at the challenge", () => {
  // Without the hash, c and s can be chosen freely and everything else computed to fit: only the challenge binds them.
  const forged = forge();
  expect(verify(forged, seed)).toMatchObject({ valid: false, failed: "challenge" });
  expect(() => randomValueFromVrfProof(forged, seed)).toThrow("invalid proof");
});

test("the pre-seed is not part of what is proven", () => {
  expect(verify({ ...proof, preSeed: 0n }, seed).valid).toBe(true);
});

test("uWitness may be written in mixed case", () => {
  expect(verify({ ...proof, uWitness: `0x${proof.uWitness.slice(2).toUpperCase()}` }, seed).valid).toBe(true);
});

/** Creates a "proof" for gamma = 2·secret·H, with arbitrary c and s, that satisfies every equation but the challenge's. */
function forge(): Proof {
  const [c, s] = [12345n, 67890n];
  const hash = Curve.fromAffine(hashToCurve(key.publicKey, seed));
  const gamma = Curve.fromAffine(proof.gamma).double();
  const u = Curve.fromAffine(key.publicKey).multiply(c).add(Curve.BASE.multiply(s));
  const [cGamma, sHash] = [gamma.multiply(c).toAffine(), hash.multiply(s).toAffine()];
  const zInv = Curve.Fp.inv(Curve.Fp.pow(Curve.Fp.sub(sHash.x, cGamma.x), 5n));
  return {
    ...proof,
    gamma: gamma.toAffine(),
    c,
    s,
    uWitness: `0x${keccak256(u.toBytes(false).subarray(1)).slice(26)}`,
    cGammaWitness: cGamma,
    sHashWitness: sHash,
    zInv,
  };
}
