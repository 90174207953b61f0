import { expect, test } from "vitest";
import { divideEvenly } from "../../src/requests/divideEvenly.ts";

test("the first parts take the remainder", () => {
  expect(divideEvenly(10n, 4)).toEqual([3n, 3n, 2n, 2n]);
});
