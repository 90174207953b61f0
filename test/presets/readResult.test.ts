import { expect, test } from "vitest";
import { describeResult } from "../../src/presets/readResult.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const show = { as: "list", before: "Winners: ", separator: ", ", count: "count", from: "list" } as const;
const parameters = {
  type: "object",
  properties: { count: { decimal: {} }, list: { type: "array", items: { type: "string" } } },
} as const;
const lotto = { returnType: "string", definition: { args: ["count", "list"], parameters, show } } as const;
const coin = {
  returnType: "uint256",
  definition: {
    args: [],
    parameters: { type: "object", properties: {} },
    show: { as: "coin", sides: ["Tails", "Heads"] },
  },
} as const;

test("describes a result as its preset shows it, with the arguments that are on chain", () => {
  expect(describeResult(coin, new Uint8Array([1]), [])).toBe("Heads");
  expect(describeResult(lotto, encode("Winners: cy, ann"), ["2", '["ann","cy","a, b"]'])).toBe("cy, ann");
});

test("describes a result of another form as its text", () => {
  expect(describeResult(coin, new Uint8Array([2]), [])).toBe("2");
  expect(describeResult(lotto, encode("nobody"), ["2", '["ann","cy"]'])).toBe("nobody");
});

test.each([[[]], [["2"]], [["2", "ann"]], [["2", "{}"]], [["2", "[null]"]]])(
  "describes nothing of arguments that are not the preset's: %j",
  (args) => {
    expect(describeResult(lotto, encode("Winners: cy, ann"), args)).toBeUndefined();
  },
);

test("describes nothing of bytes that are not of the preset's type", () => {
  expect(describeResult(coin, new Uint8Array(33), [])).toBeUndefined();
});
