import {
  concat,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  parseAbi,
  parseAbiParameters,
  type Hex,
} from "viem";
import { expect, test } from "vitest";
import { decodeBoundedCall, decodeBoundedLog, decodeBoundedParameters } from "../../src/evm/boundedAbi.ts";
import { toWord } from "../../src/lib/uint256.ts";

/** Encodes `bytes[]` with `count` elements, all of which are the same `length` bytes of the data. */
function encodeRepeated(count: number, length: number): Hex {
  const toBytes = toWord(BigInt(32 * count));
  return concat([
    toWord(32n),
    toWord(BigInt(count)),
    ...Array.from({ length: count }, () => toBytes),
    toWord(BigInt(length)),
    `0x${"00".repeat(length)}`,
  ]);
}

test("decodes what a compiler encodes, whatever its types", () => {
  const parameters = parseAbiParameters([
    "uint256 a, Inner[2] b, Inner[] c, uint256[3][] d, bytes[][] e, string f, Flat[] g, bytes[2] h",
    "struct Inner { bytes x; uint8 y; }",
    "struct Flat { bool x; address[2] y; }",
  ]);
  const inner = { x: "0x0102", y: 3 } as const;
  const address = `0x${"11".repeat(20)}` as const;
  const values = [
    7n,
    [inner, inner],
    [inner],
    [[1n, 2n, 3n]],
    [["0x", "0x05"], []],
    "text",
    [{ x: true, y: [address, address] }],
    ["0x", "0x06"],
  ] as const;
  const data = encodeAbiParameters(parameters, values as never);
  expect(decodeBoundedParameters(parameters, data)).toEqual(decodeAbiParameters(parameters, data));
});

test("decodes a call of a function, and no other", () => {
  const abi = parseAbi(["function one(bytes[] list)", "function two()"]);
  const data = encodeFunctionData({ abi, functionName: "one", args: [["0x01"]] });
  expect(decodeBoundedCall({ abi, data })).toEqual({ functionName: "one", args: [["0x01"]] });
  expect(() => decodeBoundedCall({ abi, data: "0x12345678" })).toThrow("0x12345678");
});

test("decodes a log of an event, unless it grows", () => {
  const abi = parseAbi(["event Told(uint256 indexed number, bytes[] list)"]);
  const [topic] = encodeEventTopics({ abi, eventName: "Told" });
  const topics = [topic, toWord(7n)] as [Hex, Hex];
  const data = encodeAbiParameters(parseAbiParameters("bytes[]"), [["0x01"]]);
  expect(decodeBoundedLog({ abi, topics, data }).args).toEqual({ number: 7n, list: ["0x01"] });
  expect(() => decodeBoundedLog({ abi, topics, data: encodeRepeated(1_300, 100_000) })).toThrow("4 times");
});

test("rejects data that decode to many times their size", () => {
  const parameters = parseAbiParameters("bytes[]");
  expect(decodeBoundedParameters(parameters, encodeRepeated(3, 1_000))).toHaveLength(1);
  for (const data of [encodeRepeated(5, 1_000), encodeRepeated(1_300, 100_000)])
    expect(() => decodeBoundedParameters(parameters, data)).toThrow("more than 4 times their size");
});

test("rejects data that end too early, or name lengths beyond any data", () => {
  const parameters = parseAbiParameters("bytes[]");
  for (const data of ["0x", toWord(32n), concat([toWord(32n), toWord(2n ** 255n)])] as const)
    expect(() => decodeBoundedParameters(parameters, data)).toThrow(RangeError);
});
