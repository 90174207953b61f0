import * as fc from "fast-check";
import * as secp256k1 from "secp256k1";
import { expect, test } from "vitest";
import { GROUP_ORDER } from "../../src/vrf/curve.ts";
import { proofNonces, rfc6979 } from "../../src/vrf/proof.ts";
import { encodeUint256s } from "../../src/lib/uint256.ts";

const secretKey = new Uint8Array(32).fill(7);
const hashPoint = secp256k1.publicKeyCreate(new Uint8Array(32).fill(9), false);

test("the first candidate is libsecp256k1's RFC 6979 nonce", () => {
  // ECDSA's r is the x coordinate of k·G, and libsecp256k1 derives k by RFC 6979 with HMAC-SHA-256 by default.
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: GROUP_ORDER - 1n }),
      fc.bigInt({ min: 0n, max: GROUP_ORDER - 1n }),
      (secret, digest) => {
        const k = rfc6979(encodeUint256s(secret), encodeUint256s(digest)).next().value;
        const { signature } = secp256k1.ecdsaSign(encodeUint256s(digest), encodeUint256s(secret));
        expect(secp256k1.publicKeyCreate(k, true).subarray(1)).toEqual(signature.subarray(0, 32));
      },
    ),
    { numRuns: 100, seed: 3 },
  );
});

test("a digest of the group order and more is reduced", () => {
  const first = (digest: bigint): Uint8Array => rfc6979(secretKey, encodeUint256s(digest)).next().value;
  expect(first(GROUP_ORDER + 5n)).toEqual(first(5n));
});

test("later candidates differ", () => {
  const candidates = proofNonces(secretKey, hashPoint, new Uint8Array(32));
  const values = Array.from({ length: 5 }, () => Buffer.from(candidates.next().value).toString("hex"));
  expect(new Set(values).size).toBe(5);
});

test("key, point and seed each change the nonce", () => {
  const nonce = (...[key, point, seed]: Parameters<typeof proofNonces>): string =>
    Buffer.from(proofNonces(key, point, seed).next().value).toString("hex");
  const otherPoint = secp256k1.publicKeyCreate(new Uint8Array(32).fill(10), false);
  const values = [
    nonce(secretKey, hashPoint, encodeUint256s(1n)),
    nonce(new Uint8Array(32).fill(8), hashPoint, encodeUint256s(1n)),
    nonce(secretKey, otherPoint, encodeUint256s(1n)),
    nonce(secretKey, hashPoint, encodeUint256s(2n)),
  ];
  expect(new Set(values).size).toBe(4);
});
