import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  MAX_JSON_DEPTH,
  MalformedJsonError,
  parseJson as parse,
  parseJsonText,
  type JsonValue,
} from "../../src/lib/parseJson.ts";

const parseJson = (text: string): JsonValue => parse(text, "The body");

function plain(value: JsonValue): unknown {
  return JSON.parse(JSON.stringify(value));
}

test("reads every kind of value", () => {
  const text = ' { "a" : [ 1 , -2.5e3, "x\\n\\u00e9\\ud83d\\ude00", true, false, null, {} , [] ] } ';
  expect(plain(parseJson(text))).toEqual(JSON.parse(text));
});

test("agrees with JSON.parse on every value that it can write", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6, stringUnit: "grapheme" }), (text) => {
      fc.pre(!hasUnsafeInteger(JSON.parse(text)));
      expect(plain(parseJson(text))).toEqual(JSON.parse(text));
    }),
    { numRuns: 500, seed: 1 },
  );
});

test("accepts and refuses what JSON.parse does", () => {
  const pieces = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "a",
    "1",
    "-",
    ".",
    "e",
    "true",
    "null",
    " ",
    "\n",
    "\0",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      expect(outcomeOf(() => plain(parseJson(text)))).toEqual(outcomeOf(() => JSON.parse(text) as unknown));
    }),
    { numRuns: 5_000, seed: 2 },
  );
});

test("keeps whole numbers past 2^53 exact", () => {
  expect(parseJson("[9007199254740991, 9007199254740993, -9007199254740993]")).toEqual([
    9007199254740991,
    9007199254740993n,
    -9007199254740993n,
  ]);
});

test("__proto__ is a member like any other", () => {
  const value = parseJson('{"__proto__": {"polluted": 1}, "constructor": 2}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test.each([
  ["", "expected a value, the text ends, at line 1, column 1 (position 0)"],
  ["{", "expected a member name in double quotes, the text ends, at line 1, column 2 (position 1)"],
  ['{"a":1,}', 'expected a member name in double quotes, found "}", at line 1, column 8 (position 7)'],
  ["{'a':1}", 'expected a member name in double quotes, found "\'", at line 1, column 2 (position 1)'],
  ['{"a" 1}', 'expected a colon, found "1", at line 1, column 6 (position 5)'],
  ['{"a":1 "b":2}', 'expected a comma or a closing brace, found "\\"", at line 1, column 8 (position 7)'],
  ["[1 2]", 'expected a comma or a closing bracket, found "2", at line 1, column 4 (position 3)'],
  ["{} x", 'expected the end of the text, found "x", at line 1, column 4 (position 3)'],
  ['{\n  "a": nul\n}', 'expected a value, found "n", at line 2, column 8 (position 9)'],
  ["[01]", 'expected a comma or a closing bracket, found "1", at line 1, column 3 (position 2)'],
  ["NaN", 'expected a value, found "N", at line 1, column 1 (position 0)'],
  ['"\\x41"', 'expected an escape sequence, found "\\\\", at line 1, column 2 (position 1)'],
  ['"\\ud800"', "a string holds a lone surrogate, at line 1, column 1 (position 0)"],
  ['{"a":1,"\\u0061":2}', 'the name "a" appears twice in one object, at line 1, column 8 (position 7)'],
])("%j", (text, message) => {
  expect(() => parseJson(text)).toThrow(message);
});

test("a file's values keep their places, and what would lose digits or be special is refused", () => {
  const { value, positionOf } = parseJsonText('{\n  "a/b": [1, {"c": true}]\n}', "it");
  expect(value).toEqual({ "a/b": [1, { c: true }] });
  expect(positionOf("/a~1b/1/c")).toEqual({ line: 2, column: 20 });
  expect(positionOf("/a~1b/7")).toEqual({ line: 2, column: 10 });
  expect(() => parseJsonText('{"__proto__": 1}', "it")).toThrow('the name "__proto__" is not allowed');
  expect(() => parseJsonText("[9007199254740993]", "it")).toThrow("must be written as a string");
});

test("nesting past the limit, without deep recursion", () => {
  const deepest = "[".repeat(MAX_JSON_DEPTH) + "]".repeat(MAX_JSON_DEPTH);
  expect(JSON.stringify(parseJson(deepest))).toBe(deepest);
  expect(() => parseJson("[".repeat(100_000))).toThrow(`at most ${MAX_JSON_DEPTH} levels of nesting`);
});

/** Returns the value, or `refused`; rethrows any error that isn't one of the two parsers' own classes. */
function outcomeOf(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    if (error instanceof MalformedJsonError || error instanceof SyntaxError) return "refused";
    throw error;
  }
}

function hasUnsafeInteger(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnsafeInteger);
}
