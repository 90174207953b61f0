import { encodeAbiParameters, encodeFunctionData, parseAbiParameters } from "viem";
import { expect, test } from "vitest";
import { decodeTransmission } from "../../src/chainlink/calldata.ts";
import { functionsCoordinatorAbi } from "../../src/chainlink/contracts/abi.ts";
import { toWord } from "../../src/lib/uint256.ts";

const WORD = toWord(1n);

test.each([
  [31, 31],
  [32, undefined],
])("limit: of a transmission with %i signatures, %s are read", (signatures, read) => {
  const report = encodeAbiParameters(parseAbiParameters("bytes32[], bytes[], bytes[], bytes[], bytes[]"), [
    [WORD],
    ["0x01"],
    ["0x"],
    ["0x"],
    ["0x"],
  ]);
  const words = Array.from({ length: signatures }, () => WORD);
  const data = encodeFunctionData({
    abi: functionsCoordinatorAbi,
    functionName: "transmit",
    args: [[WORD, WORD, WORD], report, words, words, WORD],
  });
  expect(decodeTransmission(data)?.signatures.length).toBe(read);
});
