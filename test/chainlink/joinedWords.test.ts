import { array, assert, bigInt, property } from "fast-check";
import { concat, keccak256, numberToHex, stringToBytes, toHex } from "viem";
import { expect, test } from "vitest";
import { joinWords } from "../../src/chainlink/fulfilmentWords.ts";

const words32 = bigInt({ min: 0n, max: 2n ** 256n - 1n });

test("the same as by viem, over any id and two to four words", () => {
  const tag = keccak256(stringToBytes("tyche.JoinedWords.v1"));
  assert(
    property(words32, array(words32, { minLength: 2, maxLength: 4 }), (id, words) => {
      const inputs = [id, ...words].map((one) => numberToHex(one, { size: 32 }));
      expect(toHex(joinWords(inputs[0]!, words), { size: 32 })).toBe(keccak256(concat([tag, ...inputs])));
    }),
  );
});

test("a seed that another program computed", () => {
  // Computed with a keccak-256 written in Python from its specification.
  expect(toHex(joinWords("0x1", [2n, 3n]), { size: 32 })).toBe(
    "0xfd49578955ef27157e539eb557b6876d5db0b20f9c6d86f400a0a90525f45f48",
  );
});

test("another order of the words, or another request, gives another seed", () => {
  const seeds = [joinWords("0x1", [2n, 3n]), joinWords("0x1", [3n, 2n]), joinWords("0x2", [2n, 3n])];
  expect(new Set(seeds).size).toBe(3);
});
