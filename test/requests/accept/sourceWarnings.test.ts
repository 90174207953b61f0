import { expect, test } from "vitest";
import type { RunResult, Touch } from "../../../sandbox/index.ts";
import { warningsOf } from "../../../src/requests/accept/sourceWarnings.ts";

/** A run that returned these bytes. */
const runOf = (bytes: Uint8Array, touched: readonly Touch[] = []): RunResult => ({
  ok: true,
  bytes,
  touched,
  console: "",
  consoleTruncated: false,
  timeMs: 1,
  memoryBytes: 1,
  httpRequests: 0,
});
const ran = {
  source: "return args[0]",
  run: runOf(Buffer.from("hello")),
  returnType: "string",
} as const;

test("nothing to say of a source that gives every node the same", () => {
  expect(warningsOf({ ...ran, run: runOf(Buffer.from("hello"), ["http", "imports"]) })).toEqual({});
});

test.each([
  ["randomness", { run: runOf(Buffer.from("hello"), ["randomness"]) }, /four nodes see four values/],
  ["time", { run: runOf(Buffer.from("hello"), ["time"]) }, /^The source reads the clock/],
  ["secrets", { source: "return secrets.apiKey" }, /^The source reads `secrets`, and the call passes none/],
  ["secrets by index", { source: "return secrets ['apiKey']" }, /^The source reads `secrets`/],
] as const)("warns of %s", (_, change, warning) => {
  expect(warningsOf({ ...ran, ...change })).toEqual({ warnings: [expect.stringMatching(warning)] });
});

test("secrets that are passed are none of its business", () => {
  expect(warningsOf({ ...ran, source: "return secrets.apiKey", shownChars: 0 })).toEqual({});
});

const number = (lowest: number) => new Uint8Array(32).with(31, lowest);

test.each([
  [
    "text read as a number",
    "hello",
    "uint256",
    /^The result has 5 bytes and is read as uint256, but .* 32\. Return Functions\.encodeUint256\(number\), or/,
  ],
  ["nothing read as a number", "", "int256", /^The result has 0 bytes and is read as int256.*encodeInt256/],
  [
    "a number read as text",
    number(5),
    "string",
    /^The result has 32 bytes, .* Ask for returnType uint256 or int256\.$/,
  ],
] as const)("warns of %s", (_, result, returnType, warning) => {
  const run = runOf(Buffer.from(result));
  expect(warningsOf({ ...ran, run, returnType })).toEqual({ warnings: [expect.stringMatching(warning)] });
});

test.each([
  ["a number", number(5), "uint256"],
  ["a number", number(5), "int256"],
  ["text of 32 bytes", "x".repeat(32), "string"],
  ["no text", "", "string"],
] as const)("says nothing of %s read as what it is", (_, result, returnType) => {
  expect(warningsOf({ ...ran, run: runOf(Buffer.from(result)), returnType })).toEqual({});
});
