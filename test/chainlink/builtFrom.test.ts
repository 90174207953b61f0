import type { Hex } from "viem";
import { expect, test } from "vitest";
import { getContractBuild, isCodeOf } from "../../src/chainlink/contracts/builtFrom.ts";

const IMMUTABLE = "00".repeat(32);
const runtimeCode = (value: string, end = "fe"): string => `608060405261ab7f${value}5b00${end}`;
/** The runtime code comes after a similar-looking prefix and before another contract's code. */
const creationCode: Hex = `0x6080604052600255${runtimeCode(IMMUTABLE)}6001`;

test.each<[what: string, code: Hex, isOf: boolean]>([
  ["the same code", `0x${runtimeCode(IMMUTABLE)}`, true],
  ["the same code with an immutable's value", `0x${runtimeCode("ab".repeat(32))}`, true],
  ["another last byte", `0x${runtimeCode("ab".repeat(32), "fd")}`, false],
  ["another byte before the value", `0x${runtimeCode(IMMUTABLE).replace("61ab", "61ac")}`, false],
  ["code that is longer than what creates it", `0x${"00".repeat(100)}`, false],
  ["no code", "0x", false],
])("%s", (_, code, isOf) => {
  expect(isCodeOf(creationCode, code)).toBe(isOf);
});

test("a build has the contract's own source first, and all that it imports but nothing else", () => {
  const { sources, compiler, abi } = getContractBuild("PresetConsumer");
  const paths = sources.map(({ path }) => path);
  expect(paths[0]).toBe("src/chainlink/contracts/PresetConsumer.sol");
  expect(paths).toContain("src/chainlink/contracts/PresetConsumerBase.sol");
  expect(paths).not.toContain("src/chainlink/contracts/FixedPriceFeed.sol");
  expect(compiler).toBe("0.8.19");
  expect(abi.length).toBeGreaterThan(10);
});
