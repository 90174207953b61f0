import { bls12_381 } from "@noble/curves/bls12-381.js";
import { drandMessage, LOCAL_BEACON_ID, QUICKNET, type BeaconTerms } from "./drand.ts";
import { toHexText } from "./hex.ts";

const { shortSignatures: bls } = bls12_381;

/**
 * Creates the local beacon: a chain of rounds like drand's quicknet, with a key of the service's own, so that rounds can be tried without
 * internet. It proves nothing.
 *
 * @param seed 48 bytes, secret: the key follows from them.
 */
export function createLocalBeacon(seed: Uint8Array, marginSeconds: number): BeaconTerms {
  const { secretKey, publicKey } = bls.keygen(seed);
  const { genesisTime, period } = QUICKNET;
  return {
    chain: {
      publicKey: toHexText(publicKey.toBytes()),
      genesisTime,
      period,
      groupHash: toHexText(new Uint8Array(32)),
      beaconId: LOCAL_BEACON_ID,
    },
    relays: [],
    sign: (round) => bls.Signature.toBytes(bls.sign(drandMessage(round), secretKey)),
    marginSeconds,
  };
}
