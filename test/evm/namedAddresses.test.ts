import type { Hex } from "viem";
import { expect, test } from "vitest";
import { namedAddresses } from "../../src/evm/namedAddresses.ts";

const ADDRESS: Hex = `0x${"c0".repeat(20)}`;
const word = (hex: string): string => hex.padStart(64, "0");
const call = (...words: readonly string[]): Hex => `0x12345678${words.join("")}`;

test("finds the words of a call's arguments that are addresses, also of a call within it", () => {
  const own = word(ADDRESS.slice(2).toUpperCase());
  expect([...namedAddresses(call(word("1"), own, "07".repeat(32), own))]).toEqual([ADDRESS]);
  expect([...namedAddresses(call(word("20"), word("44"), `12345678${own}`))]).toEqual([ADDRESS]);
});

test.each([
  ["a small number", call(word("ff".repeat(16)))],
  ["a hash", call("c0".repeat(32))],
  ["half a word", call(word(ADDRESS.slice(2)).slice(2))],
  ["nothing", "0x"],
] as const)("%s is no address", (_, input) => {
  expect([...namedAddresses(input)]).toEqual([]);
});

test("takes 64 addresses of a call at most", () => {
  const words = Array.from({ length: 100 }, (_, i) =>
    word(`${"c0".repeat(19)}${String(i).padStart(2, "0")}`),
  );
  expect(namedAddresses(call(...words)).size).toBe(64);
});
