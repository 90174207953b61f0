/**
 * drand's rounds: a threshold signature of many operators on the round's number, which nobody can compute before enough of them sign, at
 * the round's time. Scheme bls-unchained-g1-rfc9380 (drand.love/docs/cryptography): signatures are points of G1 of BLS12-381, 48 bytes,
 * keys points of G2, 96 bytes; a round has exactly one valid signature.
 */
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, hexToBytes, type Hex } from "viem";
import { toHexText } from "../lib/hex.ts";

/** What identifies a chain of rounds, as a relay's `/info` tells it; the hash of all is the chain's hash. */
export interface DrandChain {
  /** 96 bytes of hex. */
  readonly publicKey: Hex;
  /** Unix time of round 1, in seconds. */
  readonly genesisTime: number;
  /** Seconds between rounds. */
  readonly period: number;
  /** Hash of the group that began the chain, 32 bytes. */
  readonly groupHash: Hex;
  readonly beaconId: string;
}

/** drand's own chain with a round every three seconds. */
export const QUICKNET: DrandChain = {
  publicKey:
    "0x83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a",
  genesisTime: 1_692_803_367,
  period: 3,
  groupHash: "0xf477d5c89f21a17c863a7f937c6a6d15859414d2be09cd448d4279af331c5d3e",
  beaconId: "quicknet",
};

/** Name of the chains of rounds that services sign themselves. */
export const LOCAL_BEACON_ID = "local";

/** Whether a service signs the rounds of a chain itself: whoever holds its key knows them all. */
export function isLocalBeacon({ beaconId }: Pick<DrandChain, "beaconId">): boolean {
  return beaconId === LOCAL_BEACON_ID;
}

/** RFC 9380, section 3.1, with the suite of the scheme. */
const DOMAIN = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_";
const DEFAULT_BEACON = "default";

const { shortSignatures: bls } = bls12_381;

/** Returns a chain's hash, 32 bytes: SHA-256 of period, genesis, key, group hash and, unless it is the default one, the beacon's id. */
export function drandChainHash({ publicKey, genesisTime, period, groupHash, beaconId }: DrandChain): Hex {
  const head = new DataView(new ArrayBuffer(12));
  head.setUint32(0, period);
  head.setBigInt64(4, BigInt(genesisTime));
  const id = beaconId === DEFAULT_BEACON ? "" : beaconId;
  const parts = [new Uint8Array(head.buffer), hexToBytes(publicKey), hexToBytes(groupHash)];
  return toHexText(sha256(concatBytes([...parts, new TextEncoder().encode(id)])));
}

/** Returns the Unix time, in seconds, at which a round is due. */
export function drandRoundTime({ genesisTime, period }: DrandChain, round: bigint): number {
  return genesisTime + (Number(round) - 1) * period;
}

/** Writes a Unix time in seconds as ISO 8601, or `undefined` for one that is further away than dates reach, as any round can be asked for. */
export function drandDate(seconds: number): string | undefined {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Returns the first round that is due at or after a Unix time in seconds. */
export function drandRoundAt({ genesisTime, period }: DrandChain, time: number): bigint {
  return BigInt(Math.max(0, Math.ceil((time - genesisTime) / period)) + 1);
}

/** Whether these bytes are a round's signature. Takes some 10 ms to 100 ms. */
export function verifyDrandRound({ publicKey }: DrandChain, round: bigint, signature: Uint8Array): boolean {
  try {
    return bls.verify(signature, drandMessage(round), hexToBytes(publicKey));
  } catch {
    // Not a point of the curve, or of another length.
    return false;
  }
}

/** Returns the point of G1 that a round's signature signs. */
export function drandMessage(round: bigint): ReturnType<typeof bls.hash> {
  const number = new DataView(new ArrayBuffer(8));
  number.setBigUint64(0, round);
  return bls.hash(sha256(new Uint8Array(number.buffer)), DOMAIN);
}

/** A round that a request waits for. */
export interface DrandRound {
  readonly round: bigint;
  /** 32 bytes. */
  readonly chainHash: Hex;
}

/** Bytes of a packed round. */
export const PACKED_ROUND_BYTES = 40;

/** Packs a round as requests name it on chain: its number, 8 bytes, and the chain's hash, 32. */
export function packRound({ round, chainHash }: DrandRound): Uint8Array {
  const number = new DataView(new ArrayBuffer(8));
  number.setBigUint64(0, round);
  return concatBytes([new Uint8Array(number.buffer), hexToBytes(chainHash)]);
}

/** Unpacks {@link PACKED_ROUND_BYTES} bytes of {@link packRound}. */
export function unpackRound(bytes: Uint8Array): DrandRound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return { round: view.getBigUint64(0), chainHash: toHexText(bytes.subarray(8)) };
}

/** Identifies a round among those of all chains. */
export function roundKey({ round, chainHash }: DrandRound): string {
  return `${chainHash} ${round}`;
}

/** A round as answers show it. */
interface ShownRound {
  readonly round: string;
  /** When it is due, in ISO 8601; `null` for a chain of rounds that is not known. */
  readonly time: string | null;
  readonly chainHash: Hex;
  readonly isLocal?: true;
}

/** Shows a round, of drand's quicknet or of one of the operator's own chains of rounds. */
export function showRound(
  { round, chainHash }: DrandRound,
  ownChains: readonly DrandChain[] = [],
): { readonly shown: ShownRound; readonly chain: DrandChain | undefined } {
  const chain = [QUICKNET, ...ownChains].find((one) => drandChainHash(one) === chainHash);
  const time = (chain && drandDate(drandRoundTime(chain, round))) ?? null;
  const isLocal = chain !== undefined && isLocalBeacon(chain);
  return {
    chain,
    shown: { round: round.toString(), time, chainHash, ...(isLocal ? { isLocal: true } : {}) },
  };
}

/** Takes rounds that no relay has from anybody who has them. */
export interface LateBeacons {
  /** Has a round taken from anybody from now on. Returns its signature, which was checked, once it is there; rejects when `signal` aborts. */
  receive(round: DrandRound, signal: AbortSignal): Promise<Uint8Array>;
  /** Notes a late round that a relay has after all. Never rejects. */
  settle(round: DrandRound, signature: Uint8Array): Promise<void>;
}

/** How a network uses drand. */
export interface BeaconTerms {
  readonly chain: DrandChain;
  /** Base URLs of the relays that are asked for rounds; none is trusted. */
  readonly relays: readonly string[];
  /** Signs a round, in place of relays: for a chain of our own. */
  readonly sign?: (round: bigint) => Uint8Array;
  /** Default: only relays bring rounds. */
  readonly late?: LateBeacons | undefined;
  /** How far in the future, in seconds, a round is when it is chosen: its request must be mined before. */
  readonly marginSeconds: number;
  /** Whether presets wait for a round where neither call nor dapp says otherwise. Default `false`. */
  readonly isDefault?: boolean;
}
