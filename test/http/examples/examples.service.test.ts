import { expect, test } from "vitest";
import examples from "../../../src/http/examples.json" with { type: "json" };
import { recordExamples } from "./recordExamples.ts";
import { settle } from "./settle.ts";

test("`npm run examples` has nothing to change: answers have the form and the texts of the committed examples", async () => {
  expect(settle(examples, await recordExamples())).toEqual(examples);
});
