import { TycheError } from "../lib/errors.ts";
import { encodeUint256s, readUint256, WORD_BYTES } from "../lib/uint256.ts";
import type { Point } from "./curve.ts";
import type { Proof } from "./proof.ts";

/** Bytes of an encoded proof: thirteen words, because all the struct's members are static. */
export const PROOF_BYTES = 13 * WORD_BYTES;

const ADDRESS_LIMIT = 1n << 160n;

/**
 * Encodes a proof as `abi.encode` does VRF.sol's struct `Proof`: the words pk.x, pk.y, gamma.x, gamma.y, c, s, seed (our
 * `preSeed`), uWitness (left-padded), cGammaWitness.x, .y, sHashWitness.x, .y, zInv. Returns 416 bytes.
 *
 * @throws RangeError if a number does not fit in 32 bytes.
 */
export function encodeProof(proof: Proof): Uint8Array {
  return encodeUint256s(
    proof.publicKey.x,
    proof.publicKey.y,
    proof.gamma.x,
    proof.gamma.y,
    proof.c,
    proof.s,
    proof.preSeed,
    BigInt(proof.uWitness),
    proof.cGammaWitness.x,
    proof.cGammaWitness.y,
    proof.sHashWitness.x,
    proof.sHashWitness.y,
    proof.zInv,
  );
}

/**
 * Decodes the output of {@link encodeProof} from the 416 bytes of `bytes` that start at `offset` (default 0): the calldata of
 * VRFCoordinatorV2 `fulfillRandomWords` from byte 4 on. Checks the form only; {@link verify} checks the content.
 *
 * @throws MalformedProofError if bytes are missing or the address has more than 20 bytes (Solidity's decoder reverts too).
 */
export function decodeProof(bytes: Uint8Array, offset = 0): Proof {
  if (bytes.length < offset + PROOF_BYTES)
    throw new MalformedProofError(`has ${bytes.length - offset} bytes of ${PROOF_BYTES}`);
  const word = (index: number): bigint => readUint256(bytes, offset + index * WORD_BYTES);
  const point = (index: number): Point => ({ x: word(index), y: word(index + 1) });
  const uWitness = word(7);
  if (uWitness >= ADDRESS_LIMIT) throw new MalformedProofError("has a uWitness of more than 20 bytes");
  return {
    publicKey: point(0),
    gamma: point(2),
    c: word(4),
    s: word(5),
    preSeed: word(6),
    uWitness: `0x${uWitness.toString(16).padStart(40, "0")}`,
    cGammaWitness: point(8),
    sHashWitness: point(10),
    zInv: word(12),
  };
}

/** Thrown for bytes that are not an encoded proof. */
export class MalformedProofError extends TycheError {
  constructor(problem: string) {
    super(`The VRF proof ${problem}; pass the whole struct of VRF.sol.`, {
      code: "vrf_proof_malformed",
      blame: "caller",
    });
  }
}
