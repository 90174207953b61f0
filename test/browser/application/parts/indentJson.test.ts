import { array, assert, jsonValue, object, oneof, property } from "fast-check";
import { expect, test } from "vitest";
import { indentJson } from "../../../../src/browser/application/parts/indentJson.ts";

test("indents objects and arrays as JSON.stringify does", () => {
  assert(
    property(oneof(object(), array(jsonValue())), (value) => {
      const text = JSON.stringify(value);
      expect(indentJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
    }),
  );
});

test("keeps numbers beyond those of JavaScript, and members of the same name", () => {
  expect(indentJson('{"a":123456789012345678901, "a":1.10}')).toBe(
    '{\n  "a": 123456789012345678901,\n  "a": 1.10\n}',
  );
});

test.each(["42", '"{}"', "", "{", "[1,]", "{a}"])("leaves %j alone", (text) => {
  expect(indentJson(text)).toBeUndefined();
});
