import { expect, test } from "vitest";
import { truncateUtf8 } from "../../src/lib/truncateUtf8.ts";

test.each([
  ["short", 256, "short"],
  ["exact", 5, "exact"],
  ["longer", 4, "long"],
  ["aä", 2, "a"],
  ["€€", 4, "€"],
  ["😀😀", 7, "😀"],
  ["", 256, "error"],
])("%j in %i bytes", (text, maxBytes, expected) => {
  expect(Buffer.from(truncateUtf8(text, maxBytes)).toString()).toBe(expected);
});
