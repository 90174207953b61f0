import { expect, test } from "vitest";
import { createId } from "../../src/domain/id.ts";

test("a prefix and 26 Crockford digits", () => {
  expect(createId("req")).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
});

test("ids of one moment, and of a clock that goes back, still sort by their making", () => {
  const now = Date.now() + 1_000;
  const ids = [createId("x", now), createId("x", now), createId("x", now - 500), createId("x", now + 1)];
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(4);
});
