/**
 * Generates a key that nobody holds, on P-256: joint-Feldman distributed key generation (P. Feldman 1987; T. Pedersen 1991).
 *
 * Each of n nodes deals: it chooses a polynomial, publishes commitments to its coefficients, and gives node i the polynomial's value at
 * i + 1, which node i checks against the commitments. The secret key is the sum of all polynomials at 0, a node's share the sum of what it
 * was given. Polynomials have as many coefficients as shares are needed to open a ciphertext; fewer say nothing about the key.
 *
 * Every node has to find every dealing right before the key is used. So there is no round of complaints: a node that deals wrongly is
 * named by those that it has wronged, and whoever owns the configuration replaces it. A dealer's polynomial is known to it, as all honest
 * nodes have checked values of it. So a dealer that waits for all others can choose among keys, but each is H = H_honest + a·G with an `a`
 * that it knows: breaking encryption to H is breaking Diffie-Hellman for H_honest, which it had no part in.
 *
 * When the nodes change, the key is handed on: verifiable secret redistribution (Y. Desmedt, S. Jajodia 1997; T. Wong, C. Wang, J. Wing 2002).
 * Each former node deals its share by a new polynomial whose constant coefficient it is, which everyone checks against its verification key.
 * As many dealings as opened a ciphertext before are combined by Lagrange's coefficients: they make new shares of the same secret key, which
 * fit none of the former ones. All new nodes must combine dealings of the same dealers. The DON's key and the second generator are new:
 * the former nodes know the former DON's key, and the new ones don't know who was the first to use a ciphertext that names nobody.
 *
 * A node's dealing follows from its seed and the configuration's digest: it deals the same after a restart, with nothing to store.
 */
import { createECDH } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { bytesToHex, isHex, size, stringToHex, type Hex } from "viem";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { isObject } from "../lib/isObject.ts";
import { deriveKey } from "../lib/seal.ts";
import {
  CiphertextError,
  deriveSecondGenerator,
  fromBase64,
  NO_LABEL,
  parseCiphertext,
  toBase64,
  weightsOf,
  type Ciphertext,
  type ThresholdPublicKey,
} from "./tdh2.ts";

const { Point } = p256;
type Point = typeof Point.BASE;
const { Fn } = Point;
const SCALAR_BYTES = 32;
const COMPRESSED_BYTES = 33;

/** What a node publishes of its dealing. */
export interface Dealing {
  /** The generator times each coefficient, compressed (33 bytes), from the constant one on. */
  readonly commitments: readonly Hex[];
  /** SHA-256 of the dealer's part of the DON's key. */
  readonly donHash: Hex;
}

/** What a node deals. */
export interface Dealer {
  readonly dealing: Dealing;
  /** Returns what only node `index` may see, 64 bytes: its share, and the dealer's part of the DON's key, which all nodes get. */
  partOf(index: number): Uint8Array;
}

/**
 * Creates a node's dealing.
 *
 * @param seed 32 bytes, for one configuration only.
 * @param needed how many shares open a ciphertext.
 * @param share what is dealt: the share of a key that is handed on; absent for a new key.
 */
export function createDealer(seed: Uint8Array, needed: number, share?: bigint): Dealer {
  // Twice as long as the order, so that the remainder is as good as uniform.
  const random = (k: number): bigint =>
    Fn.create(BigInt(bytesToHex(concatBytes(deriveKey(seed, `high ${k}`), deriveKey(seed, `low ${k}`)))));
  const coefficients = Array.from({ length: needed }, (_, k) =>
    k === 0 && share !== undefined ? share : random(k),
  );
  const don = deriveKey(seed, "don");
  return {
    dealing: {
      commitments: coefficients.map((one) => toHexText(Point.BASE.multiply(one).toBytes())),
      donHash: toHexText(sha256(don)),
    },
    partOf(index) {
      const x = BigInt(index + 1);
      const share = coefficients.reduceRight((sum, one) => Fn.add(Fn.mul(sum, x), one), 0n);
      return concatBytes(Fn.toBytes(share), don);
    },
  };
}

/** Parses what another node publishes of its dealing; `undefined` if it is none. */
export function parseDealing(given: unknown, needed: number): Dealing | undefined {
  const { commitments, donHash } = isObject(given) ? given : {};
  const isWhole =
    Array.isArray(commitments) &&
    commitments.length === needed &&
    commitments.every((one) => isHex(one) && size(one) === COMPRESSED_BYTES && isPoint(one)) &&
    isHex(donHash) &&
    size(donHash) === SCALAR_BYTES;
  return isWhole ? { commitments: commitments as Hex[], donHash } : undefined;
}

function isPoint(encoded: Hex): boolean {
  try {
    Point.fromHex(encoded.slice(2));
    return true;
  } catch {
    return false;
  }
}

/** Whether what a dealer gave node `index` is what its dealing commits to. */
export function isPartOf({ commitments, donHash }: Dealing, index: number, part: Uint8Array): boolean {
  if (part.length !== 2 * SCALAR_BYTES || toHexText(sha256(part.subarray(SCALAR_BYTES))) !== donHash)
    return false;
  try {
    const share = Fn.fromBytes(part.subarray(0, SCALAR_BYTES));
    return Point.BASE.multiply(share).equals(valueAt(commitments.map(toPoint), index));
  } catch {
    return false;
  }
}

/** The keys of an oracle network whose nodes belong to several operators, as one node has them. */
export interface SharedKey {
  readonly donPublicKey: Hex;
  readonly thresholdPublicKey: Hex;
  readonly threshold: ThresholdPublicKey;
  /** 32 bytes: every node has it, as on Chainlink's networks. */
  readonly donSecretKey: Uint8Array;
  /** This node's share of the threshold key. */
  readonly share: bigint;
}

/** Whether what is dealt is the share behind a verification key, of `HArray`. */
export function isShareOf({ commitments }: Dealing, verificationKey: string): boolean {
  return toPoint(commitments[0]!).equals(Point.fromBytes(fromBase64(verificationKey)));
}

/** To whom a key is handed on, and by whom. */
export interface Handover {
  /** Indices of the dealers among the former nodes, as many as opened a ciphertext. */
  readonly dealers: readonly number[];
  /** How many nodes it is handed on to. */
  readonly nodes: number;
  readonly configDigest: Hex;
}

/**
 * Combines the dealings of all nodes, in their order, with what this node was given of each, which {@link isPartOf} has checked.
 *
 * @param handover for a key that is handed on: the dealings are those of its dealers, which {@link isShareOf} has checked too.
 */
export function combineDealings(
  dealings: readonly Dealing[],
  parts: readonly Uint8Array[],
  handover?: Handover,
): SharedKey {
  const { dealers, nodes, configDigest } = handover ?? { nodes: dealings.length };
  const weights = dealers === undefined ? dealings.map(() => 1n) : weightsOf(dealers);
  const sums = dealings[0]!.commitments.map((_, k) =>
    dealings
      .map(({ commitments }, j) => toPoint(commitments[k]!).multiplyUnsafe(weights[j]!))
      .reduce((sum, one) => sum.add(one)),
  );
  const encode = (point: Point): string => toBase64(point.toBytes(false));
  const H = sums[0]!.toBytes(false);
  const threshold: ThresholdPublicKey = {
    Group: "P256",
    G_bar: deriveSecondGenerator(configDigest === undefined ? H : concatBytes(H, fromHexText(configDigest))),
    H: toBase64(H),
    HArray: Array.from({ length: nodes }, (_, index) => encode(valueAt(sums, index))),
  };
  const donSecretKey = sha256(concatBytes(...parts.map((part) => part.subarray(SCALAR_BYTES))));
  const don = createECDH("secp256k1");
  don.setPrivateKey(donSecretKey);
  return {
    threshold,
    thresholdPublicKey: stringToHex(JSON.stringify(threshold)),
    donPublicKey: bytesToHex(don.getPublicKey().subarray(1)),
    donSecretKey,
    share: parts
      .map((part, j) => Fn.mul(Fn.fromBytes(part.subarray(0, SCALAR_BYTES)), weights[j]!))
      .reduce((sum, one) => Fn.add(sum, one)),
  };
}

/** The second generator that a key was generated with: what names its dapp is encrypted with it, and stays valid when the key is handed on. */
export const firstGenerator = ({ H }: Pick<ThresholdPublicKey, "H">): string =>
  deriveSecondGenerator(fromBase64(H));

/**
 * Parses a ciphertext to a key that may have been handed on. One without a label must have been made since: the nodes know only of these who
 * used them first.
 *
 * @throws {CiphertextError} as {@link parseCiphertext}.
 */
export function parseHandedOn(ciphertext: string, key: Pick<ThresholdPublicKey, "G_bar" | "H">): Ciphertext {
  const G_bar = firstGenerator(key);
  try {
    return parseCiphertext(ciphertext, key);
  } catch (error) {
    if (G_bar === key.G_bar) throw error;
    const parsed = parseCiphertext(ciphertext, { G_bar });
    if (parsed.label.some((byte, i) => byte !== NO_LABEL[i])) return parsed;
    throw new CiphertextError("it names nobody, and was made before the nodes changed");
  }
}

const toPoint = (encoded: Hex): Point => Point.fromBytes(fromHexText(encoded));

/** Returns the generator times a polynomial's value at `index` + 1, given the generator times its coefficients. */
function valueAt(commitments: readonly Point[], index: number): Point {
  const x = BigInt(index + 1);
  return commitments.reduceRight((sum, one) => sum.multiplyUnsafe(x).add(one), Point.ZERO);
}
