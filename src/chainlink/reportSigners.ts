import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concatBytes, concatHex, type Hex } from "viem";
import { publicKeyToAddress } from "viem/accounts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";
import type { Transmission } from "./calldata.ts";

/**
 * Returns the digest that the nodes sign, keccak256(keccak256(report) ‖ context): OCR2Base `transmit`, without Ethereum's
 * message prefix.
 */
export function reportDigest({ report, context }: Pick<Transmission, "report" | "context">): Hex {
  const reportHash = toHexText(keccak256(fromHexText(report)));
  return toHexText(keccak256(fromHexText(concatHex([reportHash, ...context]))));
}

/** Recovers the address (checksummed) whose key signed the digest; `undefined` if the values aren't a signature. */
export function findSigner(
  digest: Hex,
  { r, s, recoveryId }: Transmission["signatures"][number],
): Hex | undefined {
  try {
    const bytes = concatBytes([Uint8Array.of(recoveryId), fromHexText(r), fromHexText(s)]);
    const key = secp256k1.Signature.fromBytes(bytes, "recovered").recoverPublicKey(fromHexText(digest));
    return publicKeyToAddress(toHexText(key.toBytes(false)));
  } catch {
    return undefined;
  }
}
