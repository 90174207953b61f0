import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { ConfigSchema } from "../../src/config/configSchema.ts";
import { definitionSchema } from "../../src/presets/definitionSchema.ts";

test.each([
  ["the configuration", ConfigSchema],
  ["a preset's definition", definitionSchema],
])("the schema of %s is one of draft 2020-12", (_, schema) => {
  const checker = new Ajv2020();
  expect([checker.validateSchema(schema), checker.errors]).toEqual([true, null]);
});
