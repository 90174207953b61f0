import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeAnswers, TYPES_FILE } from "../../pack/apiTypes.ts";

test("has the types that follow from the schemas; `npm run types` writes them", async () => {
  expect(await describeAnswers()).toBe(readFileSync(TYPES_FILE, "utf8"));
});
