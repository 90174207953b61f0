import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toHexText } from "../../src/lib/hex.ts";
import { encodeUint256s, readUint256, writeUint256 } from "../../src/lib/uint256.ts";

test("words are big-endian and consecutive", () => {
  expect(toHexText(encodeUint256s(1n, 0x1234n))).toBe(`0x${"00".repeat(31)}01${"00".repeat(30)}1234`);
});

test("every value reads back, at any offset of any view", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat(40), (value, offset) => {
      const bytes = Buffer.alloc(90).subarray(3);
      writeUint256(bytes, offset, value);
      expect(readUint256(bytes, offset)).toBe(value);
    }),
  );
});

test("negative, or 2^256 and more", () => {
  expect(() => encodeUint256s(-1n)).toThrow(RangeError);
  expect(() => encodeUint256s(2n ** 256n)).toThrow(RangeError);
});

test("reading past the end", () => {
  expect(() => readUint256(new Uint8Array(40), 9)).toThrow(RangeError);
});
