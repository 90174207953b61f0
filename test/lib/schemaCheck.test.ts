import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { ConfigSchema } from "../../src/config/configSchema.ts";
import { compileSchema, createSchemaCheck } from "../../src/lib/schemaCheck.ts";
import { definitionSchema } from "../../src/presets/definitionSchema.ts";

test.each([
  ["the configuration", ConfigSchema],
  ["a preset's definition", definitionSchema],
])("the schema of %s is one of draft 2020-12", (_, schema) => {
  const checker = new Ajv2020();
  expect([checker.validateSchema(schema), checker.errors]).toEqual([true, null]);
});

describe("a check that is not compiled", () => {
  const schema = {
    type: "object",
    properties: { title: { type: "string", maxLength: 3 }, count: { type: "integer" }, any: {} },
    required: ["title"],
    additionalProperties: false,
  };
  const options = { describeUnknown: () => "is unknown" };
  const check = createSchemaCheck(schema, options);
  const compiled = compileSchema(schema, options);

  test.each([
    { value: { title: "abc", count: 1, any: [2n ** 60n] } },
    { value: { title: "été" } },
    { value: { title: "abcd", count: 1.5, other: true } },
    { value: { title: "abc", count: 2n ** 60n } },
    { value: { title: "e\u0301e\u0301" } },
    { value: { title: "🇦🇹🇦🇹" } },
    { value: { title: "👍🏽x" } },
    { value: {} },
    { value: null },
    { value: undefined },
  ])("says the same of $value as the compiled one", ({ value }) => {
    expect(check(value)).toEqual(compiled(value));
  });
});
