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
 * A node's dealing follows from its seed and the configuration's digest: it deals the same after a restart, with nothing to store.
 */
import { createECDH } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { bytesToHex, isHex, size, stringToHex, type Hex } from "viem";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { isObject } from "../lib/isObject.ts";
import { deriveKey } from "../lib/secrets.ts";
import { deriveSecondGenerator, toBase64, type ThresholdPublicKey } from "./tdh2.ts";

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
 */
export function createDealer(seed: Uint8Array, needed: number): Dealer {
  // Twice as long as the order, so that the remainder is as good as uniform.
  const coefficients = Array.from({ length: needed }, (_, k) =>
    Fn.create(BigInt(bytesToHex(concatBytes(deriveKey(seed, `high ${k}`), deriveKey(seed, `low ${k}`))))),
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

/** Combines the dealings of all nodes, in their order, with what this node was given of each, which {@link isPartOf} has checked. */
export function combineDealings(dealings: readonly Dealing[], parts: readonly Uint8Array[]): SharedKey {
  const sums = dealings[0]!.commitments.map((_, k) =>
    dealings.map(({ commitments }) => toPoint(commitments[k]!)).reduce((sum, one) => sum.add(one)),
  );
  const encode = (point: Point): string => toBase64(point.toBytes(false));
  const H = sums[0]!.toBytes(false);
  const threshold: ThresholdPublicKey = {
    Group: "P256",
    G_bar: deriveSecondGenerator(H),
    H: toBase64(H),
    HArray: dealings.map((_, index) => encode(valueAt(sums, index))),
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
      .map((part) => Fn.fromBytes(part.subarray(0, SCALAR_BYTES)))
      .reduce((sum, one) => Fn.add(sum, one)),
  };
}

const toPoint = (encoded: Hex): Point => Point.fromBytes(fromHexText(encoded));

/** Returns the generator times a polynomial's value at `index` + 1, given the generator times its coefficients. */
function valueAt(commitments: readonly Point[], index: number): Point {
  const x = BigInt(index + 1);
  return commitments.reduceRight((sum, one) => sum.multiplyUnsafe(x).add(one), Point.ZERO);
}
