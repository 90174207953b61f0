import { expect, test } from "vitest";
import { TycheError, messageOf } from "../../src/lib/errors.ts";

class ExampleError extends TycheError {}

test("default: keeps code, blame and cause, is not retryable, takes the subclass name", () => {
  const cause = new Error("root");
  const error = new ExampleError("failed", { code: "example", blame: "us", cause });
  expect(error).toMatchObject({
    name: "ExampleError",
    code: "example",
    blame: "us",
    retryable: false,
    cause,
  });
});

test("behaviour: messageOf reads errors and anything else that was thrown", () => {
  expect(messageOf(new Error("a"))).toBe("a");
  expect(messageOf("b")).toBe("b");
});
