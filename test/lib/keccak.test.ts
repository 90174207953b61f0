import { randomBytes } from "node:crypto";
import { keccak256 as keccak256OfViem } from "viem";
import { expect, test } from "vitest";
import { toHexText } from "../../src/lib/hex.ts";
import { keccak256 } from "../../src/lib/keccak.ts";

test("the published hash of nothing", () => {
  // Source: the EVM's hash of empty code (EIP-1052).
  expect(toHexText(keccak256(new Uint8Array()))).toBe(
    "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
  );
});

test("the same as viem's at every length around a block of 136 bytes", () => {
  for (let length = 0; length <= 300; length += 1) {
    const bytes = randomBytes(length);
    expect(toHexText(keccak256(bytes))).toBe(keccak256OfViem(bytes));
  }
});
