import { encodeErrorResult, parseAbi, stringToBytes, toHex, type Hex } from "viem";
import { expect, test } from "vitest";
import type { DecodedValue } from "../../src/api/types.ts";
import { deriveWords } from "../../src/chainlink/fulfilmentWords.ts";
import { encodeArgs, encodeFunctionsRequest } from "../../src/chainlink/functionsRequest.ts";
import { encodePresetBatch, presetRequestId } from "../../src/chainlink/presetBatch.ts";
import { encodeBatchReport, encodeResults } from "../../src/chainlink/presetReport.ts";
import { unpackBytes } from "../../src/chainlink/unpackBytes.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { toWord } from "../../src/lib/uint256.ts";

const VRF_REQUEST = 77n;
const vrfRequestId = { name: "vrfRequestId", type: "uint256", value: String(VRF_REQUEST) };
const bytes = (name: string, value: Hex): DecodedValue => ({ name, type: "bytes", value });
const idOf = (item: number) => ({
  name: "requestId",
  type: "bytes32",
  value: presetRequestId(toWord(VRF_REQUEST), item),
});
const text = (name: string, value: string) => ({ name, type: "string", value });
const held = (...values: readonly DecodedValue[]) => unpackBytes(values).at(-1)!.holds;
const REVERT = encodeErrorResult({ abi: parseAbi(["error Error(string)"]), args: ["too late"] });

test("a batch holds its presets, with their ids and arguments", () => {
  const batch = encodePresetBatch([
    { sourceId: 3, args: encodeArgs(["ann", "bob"]) },
    { sourceId: 4, args: encodeArgs([]) },
  ]);
  const entry = (value: string) => ({ name: "", type: "string", value });
  const preset = (sourceId: number, args: readonly string[], id: readonly DecodedValue[]) => ({
    name: "",
    type: "preset",
    value: [
      ...id,
      { name: "sourceId", type: "uint16", value: String(sourceId) },
      { name: "args", type: "string[]", value: args.map(entry) },
    ],
  });
  expect(held(vrfRequestId, bytes("batch", batch))).toEqual([
    preset(3, ["ann", "bob"], [idOf(0)]),
    preset(4, [], [idOf(1)]),
  ]);
  const call = {
    name: "presets",
    type: "tuple[]",
    value: [{ name: "", type: "tuple", value: [bytes("batch", batch)] }],
  };
  expect(unpackBytes([call])).toMatchObject([
    { value: [{ value: [{ holds: [preset(3, ["ann", "bob"], []), {}] }] }] },
  ]);
});

test("results are texts, numbers, bytes and errors, and the last may be a round's signature", () => {
  const packed = encodeResults([
    { ok: true, bytes: stringToBytes("ann, bob") },
    { ok: true, bytes: new Uint8Array(32).fill(0) },
    { ok: true, bytes: new Uint8Array(40).fill(1) },
    { ok: false, bytes: stringToBytes("no list") },
    { ok: true, bytes: new Uint8Array(48).fill(0x81) },
  ]);
  const result = (item: number, value: DecodedValue) => ({
    name: "",
    type: "result",
    value: [idOf(item), value],
  });
  const results = [
    result(0, text("result", "ann, bob")),
    result(1, { name: "result", type: "uint256", value: "0" }),
    result(2, { name: "result", type: "bytes", value: toHex(new Uint8Array(40).fill(1)) }),
    result(3, text("error", "no list")),
    { name: "signature of the round", type: "bytes", value: toHex(new Uint8Array(48).fill(0x81)) },
  ];
  expect(held(vrfRequestId, bytes("results", toHexText(packed)))).toEqual(results);
  const ready = toWord(1n);
  const report = encodeBatchReport([{ vrfRequestId: toWord(VRF_REQUEST), ready, results: packed }]);
  expect(held(bytes("report", toHexText(report)))).toMatchObject([
    { type: "batch", value: [{ value: toWord(VRF_REQUEST) }, { name: "results", holds: results }] },
  ]);
});

test("a function's data, response and callback are readable, and so are reasons and words", () => {
  const data = toHexText(encodeFunctionsRequest({ source: "return 1", args: ["eth"] }));
  expect(held(bytes("data", data))).toEqual([
    text("source", "return 1"),
    { name: "args", type: "string[]", value: [text("", "eth")] },
  ]);
  expect(held(bytes("response", toWord(42n)))).toEqual([{ name: "result", type: "uint256", value: "42" }]);
  expect(held(bytes("reason", REVERT))).toEqual([text("error", "too late")]);
  const code = (value: string) => ({ name: "resultCode", type: "uint8", value });
  expect(held(code("1"), bytes("callbackReturnData", REVERT))).toEqual([text("error", "too late")]);
  expect(held(code("0"), bytes("callbackReturnData", REVERT))).toBeUndefined();
  expect(held({ name: "outputSeed", type: "uint256", value: "9" })).toEqual([
    { name: "first word", type: "uint256", value: String(deriveWords(9n, 1)[0]) },
  ]);
});

test("arguments and presets stay bytes if there are more than 2,000 of them in all", () => {
  const batch = (count: number) =>
    bytes("batch", encodePresetBatch([{ sourceId: 3, args: encodeArgs(Array<string>(count).fill("")) }]));
  const presets = (...counts: readonly number[]) => ({ name: "", type: "tuple[]", value: counts.map(batch) });
  const read = (value: DecodedValue) =>
    (unpackBytes([value])[0]!.value as readonly DecodedValue[]).map(({ holds }) => holds !== undefined);
  expect(read(presets(1_998, 0))).toEqual([true, true]);
  expect(read(presets(1_999, 0))).toEqual([true, false]);
  expect(read(presets(2_000, 0))).toEqual([false, true]);
  expect(read(presets(1_200, 1_200, 700))).toEqual([true, false, true]);
  const data = encodeFunctionsRequest({ source: "return 1", args: Array<string>(2_001).fill("") });
  expect(held(bytes("data", toHexText(data)))).toBeUndefined();
});

test("a report of 60,000 bytes of numbers is read; one with more than 2,000 batches and results stays bytes", () => {
  const report = (batches: number, bytesEach: number, results = 100): DecodedValue => {
    const packed = encodeResults(
      Array.from({ length: results }, () => ({ ok: true, bytes: new Uint8Array(bytesEach) })),
    );
    const batch = { vrfRequestId: toWord(VRF_REQUEST), ready: toWord(1n), results: packed };
    return bytes("report", toHexText(encodeBatchReport(Array.from({ length: batches }, () => batch))));
  };
  expect(held(report(17, 32))).toHaveLength(17);
  expect(held(report(19, 0))).toHaveLength(19);
  expect(held(report(20, 0))).toBeUndefined();
  expect(held(report(2_001, 0, 0))).toBeUndefined();
  const both = unpackBytes([report(10, 0), report(10, 0), report(9, 0)]);
  expect(both.map(({ holds }) => holds?.length)).toEqual([10, undefined, 9]);
});

test("extra arguments say how a request is paid only if they are those of VRF v2.5", () => {
  const word = (value: bigint) => toWord(value).slice(2);
  const payment = (value: string) => [{ name: "nativePayment", type: "bool", value }];
  expect(held(bytes("extraArgs", "0x"))).toEqual(payment("false"));
  expect(held(bytes("extraArgs", `0x92fd1338${word(0n)}`))).toEqual(payment("false"));
  expect(held(bytes("extraArgs", `0x92fd1338${word(1n)}`))).toEqual(payment("true"));
  for (const other of ["0xff01", `0x92fd1338${word(2n)}`, `0x92fd1339${word(1n)}`] as const)
    expect(held(bytes("extraArgs", other))).toBeUndefined();
});

test.each(["batch", "results", "report", "reason", "data", "constructor"])(
  "%s that holds something else stays as it is",
  (name) => {
    const one = bytes(name, "0xff01");
    expect(unpackBytes([one])).toEqual([one]);
  },
);
