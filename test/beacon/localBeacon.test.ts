import { expect, test } from "vitest";
import { isLocalBeacon, QUICKNET, verifyDrandRound } from "../../src/beacon/drand.ts";
import { createLocalBeacon } from "../../src/beacon/localBeacon.ts";

const create = (byte: number) => createLocalBeacon(new Uint8Array(48).fill(byte), 5);

test("signs rounds that its own key verifies, the same at every start", () => {
  const { chain, sign } = create(1);
  expect(verifyDrandRound(chain, 7n, sign!(7n))).toBe(true);
  expect(verifyDrandRound(chain, 8n, sign!(7n))).toBe(false);
  expect(verifyDrandRound(QUICKNET, 7n, sign!(7n))).toBe(false);
  expect(create(1).chain).toEqual(chain);
  expect(create(2).chain.publicKey).not.toBe(chain.publicKey);
});

test("is named local, which drand's chains are not", () => {
  expect(isLocalBeacon(create(1).chain)).toBe(true);
  expect(isLocalBeacon(QUICKNET)).toBe(false);
});
