import { expect, test } from "vitest";
import { parseResultBound, type ParameterKind } from "../../src/presets/resultBound.ts";

const kinds = new Map<string, ParameterKind>([
  ["n", "decimal"],
  ["m", "decimal"],
  ["text", "string"],
  ["list", "array"],
  ["flag", "boolean"],
]);
const params = { n: "12", m: "-345", text: "é✓", list: ["a", "ccc", "bb"], flag: true };

test.each([
  ["7", 7n],
  ["1 + 2 * 3 - 4", 3n],
  ["(1+2)*3", 9n],
  ["10 - 3 - 2", 5n],
  ["n * n", 144n],
  ["digits(m)", 4n],
  ["digits(n + 88)", 3n],
  ["bytes(text)", 5n],
  ["count(list)", 3n],
  ["longest(list, 2)", 5n],
  ["longest(list, 0)", 0n],
  ["longest(list, n * 1000)", 6n],
  ["n - (max(n, m) + min(n, m))", 345n],
  ["max(n, m) + min(n, m)", 0n],
  ["bytes(text) - 100", 0n],
  [" longest ( list , 1 ) ", 3n],
])("%s", (text, expected) => {
  expect(parseResultBound(text, kinds).evaluate(params)).toBe(expected);
});

test("tells which parameters it depends on", () => {
  expect(parseResultBound("n + longest(list, m) + n", kinds).parameters).toEqual(["n", "list", "m"]);
});

test.each([
  ["", "a number or a name expected, found the end"],
  ["1 +", "a number or a name expected, found the end"],
  ["1 1", 'an operator expected, found "1"'],
  ["(1", '")" expected, found the end'],
  ["n % 2", '"%" means nothing here'],
  ["x", 'the name of a decimal parameter expected, found "x"'],
  ["text", 'the name of a decimal parameter expected, found "text"'],
  ["bytes(list)", 'the name of a string parameter expected, found "list"'],
  ["longest(list)", '"," expected, found ")"'],
  ["constructor(1)", 'there is no function "constructor"; there are digits, bytes, count, longest, min, max'],
  ["(".repeat(400), "nested deeper than 20"],
])("%s", (text, message) => {
  expect(() => parseResultBound(text, kinds)).toThrow(message);
});
