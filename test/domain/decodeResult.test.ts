import { decodeResult as reference } from "@chainlink/functions-toolkit/dist/decodeResult.js";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeResult } from "../../src/domain/decodeResult.ts";
import type { ReturnType } from "../../src/domain/vocabulary.ts";
import { fromHexText } from "../../src/lib/hex.ts";

const bytesOf = (hex: string): Uint8Array => fromHexText(`0x${hex}`);

test.each<[hex: string, returnType: ReturnType, expected: string]>([
  ["", "uint256", "0"],
  ["", "int256", "0"],
  ["", "string", ""],
  ["ff", "uint256", "255"],
  ["ff", "int256", "255"],
  ["ff".repeat(32), "uint256", String(2n ** 256n - 1n)],
  ["ff".repeat(32), "int256", "-1"],
  [`80${"00".repeat(31)}`, "int256", String(-(2n ** 255n))],
  ["00".repeat(32), "int256", "0"],
  [`${"00".repeat(25)}1fffffffffffff`, "uint256", String(2n ** 53n - 1n)],
  [`${"00".repeat(25)}20000000000000`, "uint256", String(2n ** 53n)],
  [`${"00".repeat(24)}8000000000000000`, "int256", String(2n ** 63n)],
  [`${"00".repeat(23)}010000000000000001`, "uint256", String(2n ** 64n + 1n)],
  [`7f${"ff".repeat(31)}`, "int256", String(2n ** 255n - 1n)],
  ["efbbbf61", "string", "\ufeffa"],
  ["61ff62", "string", "a\ufffdb"],
])("%s as %s", (hex, returnType, expected) => {
  expect(decodeResult(bytesOf(hex), returnType)).toBe(expected);
});

test("agrees with the toolkit", () => {
  const types = fc.constantFrom<ReturnType>("string", "uint256", "int256");
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 32 }), types, (bytes, returnType) => {
      const expected = String(reference(`0x${Buffer.from(bytes).toString("hex")}`, returnType as never));
      expect(decodeResult(bytes, returnType)).toBe(expected);
    }),
    { seed: 1, numRuns: 500 },
  );
});

test("reads a view's own bytes, not its buffer's", () => {
  const bytes = new Uint8Array(40).fill(1);
  bytes.fill(0, 4, 35)[35] = 9;
  expect(decodeResult(bytes.subarray(4, 36), "uint256")).toBe("9");
});

test("an integer of 33 bytes", () => {
  expect(() => decodeResult(new Uint8Array(33), "uint256")).toThrow(
    "a result of 33 bytes is too large for uint256",
  );
});
