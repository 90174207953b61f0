import { createECDH } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import { bytesToHex, stringToHex, type Hex } from "viem";
import {
  CiphertextError,
  decrypt,
  deriveSecondGenerator,
  parseCiphertext,
  toBase64,
  type Ciphertext,
  type ThresholdPublicKey,
} from "./tdh2.ts";

/** Opens what was encrypted to a network's keys. */
export interface SecretOpener {
  /** 32 bytes, of the DON's public key. */
  readonly donSecretKey: Uint8Array;
  /**
   * Opens a ciphertext made for the threshold key, once its proof has been checked.
   *
   * @throws {CiphertextError} when it is malformed, or encrypted to another key.
   */
  open(ciphertext: string, isFor: (parsed: Ciphertext) => boolean): Promise<Uint8Array>;
}

/** The keys of an oracle network whose nodes all belong to one operator. */
export interface SecretKeys extends SecretOpener {
  /** 64 bytes, x ‖ y on secp256k1: what `getDONPublicKey` returns. */
  readonly donPublicKey: Hex;
  /** JSON in UTF-8: what `getThresholdPublicKey` returns. */
  readonly thresholdPublicKey: Hex;
  readonly threshold: ThresholdPublicKey;
}

/**
 * Derives the keys from two independent seeds of 32 bytes. There is one share, and the operator has it: with all nodes in one process,
 * several would protect nothing.
 */
export function createSecretKeys(seeds: {
  readonly don: Uint8Array;
  readonly threshold: Uint8Array;
}): SecretKeys {
  const don = createECDH("secp256k1");
  don.setPrivateKey(seeds.don);
  const ecdh = createECDH("prime256v1");
  ecdh.setPrivateKey(p256.Point.Fn.toBytes(toScalar(seeds.threshold)));
  const publicKey = ecdh.getPublicKey();
  const H = toBase64(publicKey);
  const threshold = { Group: "P256", G_bar: deriveSecondGenerator(publicKey), H, HArray: [H] } as const;
  return {
    donPublicKey: bytesToHex(don.getPublicKey().subarray(1)),
    thresholdPublicKey: stringToHex(JSON.stringify(threshold)),
    threshold,
    donSecretKey: seeds.don,
    async open(ciphertext, isFor) {
      const parsed = parseCiphertext(ciphertext, threshold);
      if (!isFor(parsed)) throw new CiphertextError("it is for somebody else");
      // OpenSSL multiplies in constant time and gives only x: of the two points with that x, the wrong one opens nothing.
      const x = ecdh.computeSecret(parsed.u);
      return await decrypt(parsed, Uint8Array.of(EVEN, ...x)).catch(() =>
        decrypt(parsed, Uint8Array.of(ODD, ...x)),
      );
    },
  };
}

/** First bytes of a compressed point (SEC 1, section 2.3.3). */
const EVEN = 2;
const ODD = 3;

function toScalar(seed: Uint8Array): bigint {
  return (BigInt(bytesToHex(seed)) % (p256.Point.Fn.ORDER - 1n)) + 1n;
}
