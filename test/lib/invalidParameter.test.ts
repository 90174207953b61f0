import { expect, test } from "vitest";
import { InvalidParameterError } from "../../src/lib/invalidParameter.ts";

test("names every violation in one sentence and keeps them as details", () => {
  const violations = [
    { path: "/min", message: "must be an integer" },
    { path: "/list/3", message: "must be a string" },
    { path: "", message: "must be an object" },
  ];
  const error = new InvalidParameterError(violations);
  expect(error.message).toBe("min: must be an integer; list.3: must be a string; must be an object");
  expect(error).toMatchObject({ code: "invalid_parameter", blame: "caller", retryable: false });
  expect(error.details).toEqual(violations);
});

test("the message stays short when much is wrong", () => {
  const violations = Array.from({ length: 1000 }, (_, index) => ({ path: `/${index}`, message: "x" }));
  const error = new InvalidParameterError(violations);
  expect(error.message).toMatch(/^0: x; 1: x; .*; 9: x; and 990 more$/);
  expect(error.details).toHaveLength(1000);
});
