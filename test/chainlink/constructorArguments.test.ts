import { encodeAbiParameters, type Hex } from "viem";
import { expect, test } from "vitest";
import { decodeConstructorArguments } from "../../src/chainlink/constructorArguments.ts";
import { loadArtifacts } from "../../src/chainlink/contracts/artifacts.ts";

const { bytecode, abi } = loadArtifacts().FixedPriceFeed;
const { inputs } = abi.find((item) => item.type === "constructor")!;
const encoded = encodeAbiParameters(
  inputs,
  inputs.map(({ type }, i) => (type === "string" ? `text ${i}` : BigInt(i + 1))),
);
const input: Hex = `${bytecode}${encoded.slice(2)}`;

test("what follows the creation code is decoded by the constructor's declaration", () => {
  expect(decodeConstructorArguments("FixedPriceFeed", input)).toEqual(
    inputs.map(({ name, type }, i) => ({ name, type, value: type === "string" ? `text ${i}` : `${i + 1}` })),
  );
});

test.each<[what: string, input: Hex]>([
  ["another contract's creation code", loadArtifacts().BlockhashStore.bytecode],
  ["no arguments", bytecode],
  ["half an argument", input.slice(0, -2) as Hex],
  ["more than the arguments", `${input}00`],
  ["no input", "0x"],
])("%s is unknown", (_, given) => {
  expect(decodeConstructorArguments("FixedPriceFeed", given)).toBeNull();
});

test("a contract without a constructor has no arguments, and nothing may follow its code", () => {
  const { bytecode: code } = loadArtifacts().BlockhashStore;
  expect(decodeConstructorArguments("BlockhashStore", code)).toEqual([]);
  expect(decodeConstructorArguments("BlockhashStore", `${code}00`)).toBeNull();
});
