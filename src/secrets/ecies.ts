import { createDecipheriv, createECDH, createHash, createHmac, ECDH, timingSafeEqual } from "node:crypto";
import { CiphertextError } from "./tdh2.ts";

const CURVE = "secp256k1";
const IV_BYTES = 16;
const POINT_BYTES = 33;
const MAC_BYTES = 32;
const HEAD_BYTES = IV_BYTES + POINT_BYTES + MAC_BYTES;
const AES_KEY_BYTES = 32;

/**
 * Opens what eth-crypto's `encryptWithPublicKey` and `cipher.stringify` make, as functions-toolkit does to the DON's key: iv (16) ‖
 * ephemeral public key (33, compressed) ‖ MAC (32) ‖ AES-256-CBC ciphertext. SHA-512 of the shared x is the AES key (32) and the key (32) of
 * an HMAC-SHA-256 over iv ‖ ephemeral key (65) ‖ ciphertext.
 *
 * @param secretKey 32 bytes.
 * @throws {CiphertextError} when it is malformed, or encrypted to another key.
 */
export function openEcies(secretKey: Uint8Array, sealed: Uint8Array): Uint8Array {
  if (sealed.length <= HEAD_BYTES) throw new CiphertextError("it is shorter than any ciphertext");
  const iv = sealed.subarray(0, IV_BYTES);
  const compressed = sealed.subarray(IV_BYTES, IV_BYTES + POINT_BYTES);
  const mac = sealed.subarray(IV_BYTES + POINT_BYTES, HEAD_BYTES);
  const ciphertext = sealed.subarray(HEAD_BYTES);
  const { shared, ephemeral } = agree(secretKey, compressed);
  const aesKey = sharedForms(shared)
    .map((form) => createHash("sha512").update(form).digest())
    .find((keys) => {
      const hmac = createHmac("sha256", keys.subarray(AES_KEY_BYTES));
      return timingSafeEqual(hmac.update(iv).update(ephemeral).update(ciphertext).digest(), mac);
    })
    ?.subarray(0, AES_KEY_BYTES);
  if (aesKey === undefined) throw new CiphertextError("it is encrypted to another key");
  const decipher = createDecipheriv("aes-256-cbc", aesKey, iv);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    throw new CiphertextError("its padding is wrong");
  }
}

/** Returns the shared x as native builds of eccrypto hash it, and as its pure one does: without leading zeros. */
function sharedForms(shared: Uint8Array): readonly Uint8Array[] {
  const first = shared.findIndex((byte) => byte !== 0);
  return first > 0 ? [shared, shared.subarray(first)] : [shared];
}

function agree(
  secretKey: Uint8Array,
  compressed: Uint8Array,
): { readonly shared: Uint8Array; readonly ephemeral: string | Uint8Array } {
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(secretKey);
  try {
    return {
      shared: ecdh.computeSecret(compressed),
      ephemeral: ECDH.convertKey(compressed, CURVE, undefined, undefined, "uncompressed"),
    };
  } catch {
    throw new CiphertextError("its ephemeral key is not a point of the curve");
  }
}
