import { keccak256 } from "../../lib/keccak.ts";
import { loadSecp256k1 } from "../../lib/secp256k1.ts";
import { toHexText } from "../../lib/hex.ts";

/**
 * Recovers the address (lower case) whose key signed a 32-byte digest; `undefined` if the 65 bytes r ‖ s ‖ recovery id are not a
 * signature, or have s in the upper half, which is a second form of the same signature.
 */
export function recoverAddress(digest: Uint8Array, signature: Uint8Array): string | undefined {
  const native = loadSecp256k1();
  // Copies: a slice of a Buffer is a view, and the library normalizes in place.
  const compact = Uint8Array.from(signature.subarray(0, 64));
  const recoveryId = signature[64]!;
  if (recoveryId > 1) return undefined;
  try {
    if (Buffer.compare(native.signatureNormalize(Uint8Array.from(compact)), compact) !== 0) return undefined;
    const publicKey = native.ecdsaRecover(compact, recoveryId, digest, false);
    return toHexText(keccak256(publicKey.subarray(1)).subarray(12));
  } catch {
    return undefined;
  }
}
