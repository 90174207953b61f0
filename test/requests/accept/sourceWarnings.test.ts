import { expect, test } from "vitest";
import { warningsOf } from "../../../src/requests/accept/sourceWarnings.ts";

const ran = { source: "return args[0]", touched: [], hasSecrets: false } as const;

test("default: nothing to say of a source that gives every node the same", () => {
  expect(warningsOf({ ...ran, touched: ["http", "imports"] })).toEqual({});
});

test.each([
  ["randomness", { touched: ["randomness"] }, /four nodes see four values/],
  ["time", { touched: ["time"] }, /^The source reads the clock/],
  ["secrets", { source: "return secrets.apiKey" }, /^The source reads `secrets`, and the call passes none/],
  ["secrets by index", { source: "return secrets ['apiKey']" }, /^The source reads `secrets`/],
] as const)("behaviour: warns of %s", (_, change, warning) => {
  expect(warningsOf({ ...ran, ...change })).toEqual({ warnings: [expect.stringMatching(warning)] });
});

test("behaviour: secrets that are passed are none of its business", () => {
  expect(warningsOf({ ...ran, source: "return secrets.apiKey", hasSecrets: true })).toEqual({});
});
