import { toHex, type Hex } from "viem";
import { expect, test } from "vitest";
import { describeResult } from "../../src/verify/describeResult.ts";

const hexOf = (text: string): Hex => toHex(new TextEncoder().encode(text));
const word = (value: bigint): Hex => toHex(BigInt.asUintN(256, value), { size: 32 });

test.each([
  ["text", hexOf("Winners: bob, dän"), '"Winners: bob, dän"'],
  ["text that looks like a number", hexOf("5"), '"5"'],
  ["text of 32 bytes", hexOf("x".repeat(32)), `"${"x".repeat(32)}"`],
  ["text of several lines", hexOf("a\n\tb"), String.raw`"a\n\tb"`],
  ["no bytes", "0x", '""'],
  ["a number", word(1_000_000n), "1000000"],
  ["zero", word(0n), "0"],
] as const)("%s", (_, hex, shown) => {
  expect(describeResult(hex)).toBe(shown);
});

test("32 bytes that may be a negative number have both readings", () => {
  expect(describeResult(word(-5n))).toBe(`-5, or ${2n ** 256n - 5n} if unsigned`);
});

test.each([
  ["no UTF-8", "0xff00"],
  ["control characters", hexOf("a\u001b[31m")],
] as const)("%s is shown as hex", (_, hex) => {
  expect(describeResult(hex)).toBe(hex);
});

test("characters that would reorder others are named", () => {
  expect(describeResult(hexOf("bob\u202eevil"))).toBe('"bobU+202Eevil"');
});
