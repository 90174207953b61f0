import { encodeAbiParameters, parseAbiParameters, toHex } from "viem";
import { expect, test } from "vitest";
import {
  decodeProof,
  encodeProof,
  MalformedProofError,
  PROOF_BYTES,
  createProvingKey,
  prove,
} from "../../src/vrf/proof.ts";

const proof = prove(createProvingKey(new Uint8Array(32).fill(7)), { preSeed: 5n, seed: 99n });

test("the bytes are those of viem's ABI encoder for VRF.sol's struct Proof", () => {
  const struct = parseAbiParameters([
    "Proof proof",
    "struct Proof { uint256[2] pk; uint256[2] gamma; uint256 c; uint256 s; uint256 seed; address uWitness; uint256[2] cGammaWitness; uint256[2] sHashWitness; uint256 zInv; }",
  ]);
  const pair = ({ x, y }: { x: bigint; y: bigint }) => [x, y] as const;
  const expected = encodeAbiParameters(struct, [
    {
      pk: pair(proof.publicKey),
      gamma: pair(proof.gamma),
      c: proof.c,
      s: proof.s,
      seed: proof.preSeed,
      uWitness: proof.uWitness,
      cGammaWitness: pair(proof.cGammaWitness),
      sHashWitness: pair(proof.sHashWitness),
      zInv: proof.zInv,
    },
  ]);
  expect(toHex(encodeProof(proof))).toBe(expected);
  expect(encodeProof(proof).length).toBe(PROOF_BYTES);
});

test("decoding gives the proof back, from any offset", () => {
  expect(decodeProof(encodeProof(proof))).toEqual(proof);
  expect(decodeProof(Buffer.concat([Buffer.alloc(4), encodeProof(proof), Buffer.alloc(9)]), 4)).toEqual(
    proof,
  );
});

test("too few bytes", () => {
  expect(() => decodeProof(encodeProof(proof).subarray(0, PROOF_BYTES - 1))).toThrow(MalformedProofError);
});

test("a uWitness of more than 20 bytes", () => {
  const bytes = encodeProof(proof);
  bytes[7 * 32 + 11] = 1;
  expect(() => decodeProof(bytes)).toThrow(MalformedProofError);
});

test("a number that does not fit a word", () => {
  expect(() => encodeProof({ ...proof, c: 2n ** 256n })).toThrow(RangeError);
  expect(() => encodeProof({ ...proof, s: -1n })).toThrow(RangeError);
});
