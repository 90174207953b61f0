import { expect, test } from "vitest";
import { describeType, type Schema } from "../../../src/browser/docs/describeType.ts";

test.each<[Schema, string]>([
  [{ type: "string", pattern: "^0x[0-9a-f]{64}$" }, "32 bytes as 0x-hex"],
  [{ type: "string", pattern: "^0x[0-9a-fA-F]{40}$" }, "address: 20 bytes as 0x-hex"],
  [{ enum: ["drand", "local", "none"] }, '"drand", "local" or "none"'],
  [
    {
      anyOf: [
        { type: "integer", minimum: 1, maximum: 500 },
        { type: "string", pattern: "^-?[0-9]{1,78}$" },
      ],
    },
    "whole number, 1 to 500, or the same as text",
  ],
  [{ anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] }, "time in ISO 8601 or null"],
  [
    { type: "array", items: { type: "string", minLength: 1 }, maxItems: 4 },
    "list, at most 4, each: text, at least 1 characters",
  ],
  [{ const: false }, "always false"],
  [{ type: "string", pattern: "^[ab]$" }, "text that matches ^[ab]$"],
])("says %j in words", (schema, words) => {
  expect(describeType(schema)).toBe(words);
});
