import { expect, test } from "vitest";
import { shareOut } from "../../src/lib/shareOut.ts";

test("the first parts take the remainder", () => {
  expect(shareOut(10n, 4)).toEqual([3n, 3n, 2n, 2n]);
});
