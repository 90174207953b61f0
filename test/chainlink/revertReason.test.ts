import { encodeErrorResult, parseAbi } from "viem";
import { expect, test } from "vitest";
import { decodeRevertReason } from "../../src/chainlink/revertReason.ts";

const ERRORS = parseAbi([
  "error GasLimitTooBig(uint32 have, uint32 want)",
  "error GasLimitTooBig(uint32 limit)",
  "error InsufficientBalance()",
  "error InsufficientBalance(uint96 currentBalanceJuels)",
]);
const encode = (index: number, args: readonly unknown[]) =>
  encodeErrorResult({ abi: [ERRORS[index]!], args } as unknown as Parameters<typeof encodeErrorResult>[0]);

test.each([
  ["VRFCoordinatorV2's error", encode(0, [3, 2]), "GasLimitTooBig", "GasLimitTooBig(3, 2)"],
  ["FunctionsRouter's error of the same name", encode(1, [3]), "GasLimitTooBig", "GasLimitTooBig(3)"],
  ["one without arguments", encode(2, []), "InsufficientBalance", "InsufficientBalance()"],
  ["one with", encode(3, [5n]), "InsufficientBalance", "InsufficientBalance(5)"],
  [
    "a text",
    "0x08c379a00000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000568656c6c6f000000000000000000000000000000000000000000000000000000",
    "Error",
    "hello",
  ],
  [
    "a failed check",
    "0x4e487b710000000000000000000000000000000000000000000000000000000000000011",
    "Panic",
    "Panic(0x11): arithmetic overflow or underflow",
  ],
  ["nothing", "0x", undefined, "no reason given"],
  ["an error nobody knows", "0xdeadbeef", undefined, "0xdeadbeef"],
  ["less than a selector", "0xde", undefined, "0xde"],
] as const)("%s", (_, data, name, text) => {
  expect(decodeRevertReason(data)).toEqual({ name, text });
});
