import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bytesToHex, hexToBytes, numberToHex } from "viem";
import { sha256 } from "@noble/hashes/sha2.js";
import { describe, expect, test } from "vitest";
import {
  drandChainHash,
  drandDate,
  drandRoundAt,
  drandRoundTime,
  QUICKNET,
  verifyDrandRound,
} from "../../src/beacon/drand.ts";
import { QUICKNET_HASH } from "../../src/domain/vocabulary.ts";
import { ownDrandChain, signOwnRound } from "../support/drandRelay.ts";

/** Rounds of quicknet as drand published them (github.com/thibmeu/drand-rs, `dee rand -u quicknet --long 1000`; drand's clients use them too). */
const ROUND_1000 = hexToBytes(
  "0xb44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
);
const ROUND_1001 = hexToBytes(
  "0xb33bf3667cbd5a82de3a24b4e0e9fe5513cc1a0e840368c6e31f5fcfa79bea03f73896b25883abf2853d10337fb8fa41",
);

test("the hash of quicknet is the published one", () => {
  expect(drandChainHash(QUICKNET)).toBe(QUICKNET_HASH);
});

test("published rounds of quicknet are valid", () => {
  expect(verifyDrandRound(QUICKNET, 1000n, ROUND_1000)).toBe(true);
  expect(verifyDrandRound(QUICKNET, 1001n, ROUND_1001)).toBe(true);
  expect(bytesToHex(sha256(ROUND_1000))).toBe(
    "0xfe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd",
  );
});

describe("a signature is refused", () => {
  const flipped = Uint8Array.from(ROUND_1000);
  flipped[47]! ^= 1;
  test.each([
    ["of the next round", ROUND_1001],
    ["with a changed bit", flipped],
    ["of other length", ROUND_1000.slice(1)],
    ["that is the point at infinity", Uint8Array.of(0xc0, ...new Uint8Array(47))],
    ["that is no point", new Uint8Array(48)],
    // (0, 2), of order 3.
    ["that is a point of the curve, but not of G1", Uint8Array.of(0x80, ...new Uint8Array(47))],
    ["that is nothing", new Uint8Array()],
  ])("%s", (_what, signature) => {
    expect(verifyDrandRound(QUICKNET, 1000n, signature)).toBe(false);
  });

  // The word follows from its bytes: who could write one point in two ways could choose between two words.
  test("that is the round's point in other bytes", () => {
    const { Fp } = bls12_381.fields;
    const chain = ownDrandChain();
    const xOf = (round: bigint) => {
      const bytes = signOwnRound(round);
      return BigInt(bytesToHex(bytes.with(0, bytes[0]! & 0x1f)));
    };
    // The coordinate has 381 bits, and so has this sum, for a quarter of all rounds.
    const isAmbiguous = (round: bigint) => xOf(round) + Fp.ORDER < 1n << 381n;
    const round = Array.from({ length: 100 }, (_, i) => BigInt(i + 1)).find(isAmbiguous)!;
    const right = signOwnRound(round);
    const unreduced = hexToBytes(numberToHex(xOf(round) + Fp.ORDER, { size: 48 }));
    unreduced[0]! |= right[0]! & 0xe0;
    const uncompressed = bls12_381.G1.Point.fromBytes(right).toBytes(false);
    expect(
      [right, unreduced, uncompressed].map((signature) => verifyDrandRound(chain, round, signature)),
    ).toEqual([true, false, false]);
  });

  test("a round under another key", () => {
    const publicKey = bytesToHex(new Uint8Array(96));
    expect(verifyDrandRound({ ...QUICKNET, publicKey }, 1000n, ROUND_1000)).toBe(false);
  });
});

test("rounds and times belong to each other", () => {
  expect(drandRoundTime(QUICKNET, 1n)).toBe(QUICKNET.genesisTime);
  // As drand's client tells it: 2023-08-23 15:59:24 UTC.
  expect(new Date(drandRoundTime(QUICKNET, 1000n) * 1000).toISOString()).toBe("2023-08-23T15:59:24.000Z");
  const due = drandRoundTime(QUICKNET, 1000n);
  expect([due - 2, due, due + 1].map((time) => drandRoundAt(QUICKNET, time))).toEqual([1000n, 1000n, 1001n]);
  expect(drandRoundAt(QUICKNET, 0)).toBe(1n);
  expect(drandDate(drandRoundTime(QUICKNET, 2n ** 64n - 1n))).toBeUndefined();
});
