import { getAbiItem, toFunctionSelector, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import { presetConsumerAbi } from "../../src/chainlink/contracts/abi.ts";
import { loadArtifacts } from "../../src/chainlink/contracts/artifacts.ts";
import { isPresetConsumer } from "../../src/chainlink/presetConsumerReads.ts";

describe.each(["PresetConsumer", "PresetConsumerV2Plus"] as const)("isPresetConsumer of %s", (name) => {
  const { bytecode } = loadArtifacts()[name];

  test("is true of the code of this version", () => {
    expect(isPresetConsumer(bytecode)).toBe(true);
  });

  test.each(["submit", "deliver"] as const)("is false where %s takes something else", (changed) => {
    const selector = toFunctionSelector(getAbiItem({ abi: presetConsumerAbi, name: changed })).slice(2);
    expect(isPresetConsumer(bytecode.replaceAll(selector, "d043a815") as Hex)).toBe(false);
  });
});

test("an address without code is none", () => {
  expect(isPresetConsumer("0x")).toBe(false);
});
