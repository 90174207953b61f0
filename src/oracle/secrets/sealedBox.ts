import { createECDH, hkdfSync } from "node:crypto";
import { open, seal } from "../../lib/seal.ts";

const CURVE = "prime256v1";
/** Length of a public key: an uncompressed point. */
export const BOX_KEY_BYTES = 65;

/** Opens what was sealed to one node. */
export interface Box {
  /** 65 bytes. */
  readonly publicKey: Uint8Array;
  /** Opens what {@link sealTo} sealed; throws if the key, context or bytes differ. */
  open(sealed: Uint8Array, context: string): Uint8Array;
}

/** Creates a box from a secret key of 32 bytes, below the order of P-256. */
export function createBox(secretKey: Uint8Array): Box {
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(secretKey);
  return {
    publicKey: ecdh.getPublicKey(),
    open(sealed, context) {
      const ephemeral = sealed.subarray(0, BOX_KEY_BYTES);
      return open(keyOf(ecdh.computeSecret(ephemeral), ephemeral), sealed.subarray(BOX_KEY_BYTES), context);
    },
  };
}

/**
 * Encrypts bytes to a box: ephemeral key (65) ‖ AES-256-GCM under HKDF-SHA-256 of the shared x.
 *
 * @param context what the bytes belong to; a box refuses them in any other context.
 * @throws if the key is no point of P-256.
 */
export function sealTo(publicKey: Uint8Array, plaintext: Uint8Array, context: string): Uint8Array {
  const ecdh = createECDH(CURVE);
  const ephemeral = ecdh.generateKeys();
  return Buffer.concat([
    ephemeral,
    seal(keyOf(ecdh.computeSecret(publicKey), ephemeral), plaintext, context),
  ]);
}

function keyOf(shared: Uint8Array, ephemeral: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", shared, ephemeral, "tyche oracle box", 32));
}
