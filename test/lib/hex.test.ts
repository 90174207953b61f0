import { bytesToHex } from "viem";
import { expect, test } from "vitest";
import { fromHexText, toHexText } from "../../src/lib/hex.ts";

const SIZES = [0, 1, 31, 32, 47, 48, 64, 256, 1_000, 4_096, 4_097, 70_000];

test("the same text as viem's at every size, and back", () => {
  for (const size of SIZES) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 37) % 256);
    expect(toHexText(bytes)).toBe(bytesToHex(bytes));
    expect(Uint8Array.from(fromHexText(toHexText(bytes)))).toEqual(bytes);
  }
});

test("writes a view's own bytes, not its buffer's", () => {
  expect(toHexText(new Uint8Array([1, 2, 3, 4]).subarray(1, 3))).toBe("0x0203");
  expect(toHexText(new Uint8Array(100).fill(7).subarray(50))).toBe(`0x${"07".repeat(50)}`);
});

test("gives every text bytes of its own", () => {
  const texts = Array.from({ length: 200 }, (_, i) => toHexText(new Uint8Array(1_000).fill(i)));
  const all = texts.map(fromHexText);
  expect(all.map(toHexText)).toEqual(texts);
  expect(all.every((bytes) => bytes.constructor === Uint8Array)).toBe(true);
});

test("no prefix, an odd digit, a character that is none, at both sizes", () => {
  for (const text of ["00", "0x0", "0x0g", `0x${"00".repeat(60)}0`, `0x${"00".repeat(60)}zz`]) {
    expect(() => fromHexText(text as `0x${string}`)).toThrow(SyntaxError);
  }
});
