import { bls12_381 } from "@noble/curves/bls12-381.js";
import { drandMessage, LOCAL_BEACON_ID, QUICKNET, type BeaconTerms } from "./drand.ts";
import { toHexText } from "../lib/hex.ts";
import { once } from "../lib/memo.ts";

const { G2, shortSignatures: bls } = bls12_381;
/** The generator of public keys, as a point like any other: of the one that it knows, noble makes tables first, ten times the work of one key. */
const GENERATOR = G2.Point.fromAffine(G2.Point.BASE.toAffine());

/**
 * Creates the local beacon: a chain of rounds like drand's quicknet, with a key of the service's own, so that rounds can be tried without
 * internet. It proves nothing.
 *
 * @param seed 48 bytes, secret: the key follows from them.
 */
export function createLocalBeacon(seed: Uint8Array, marginSeconds: number): BeaconTerms {
  const secretKey = bls12_381.utils.randomSecretKey(seed);
  /** Takes 30 ms, for which a verification without the beacon need not wait. */
  const publicKey = once(() => toHexText(GENERATOR.multiply(G2.Point.Fn.fromBytes(secretKey)).toBytes()));
  const { genesisTime, period } = QUICKNET;
  return {
    chain: {
      get publicKey() {
        return publicKey();
      },
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
