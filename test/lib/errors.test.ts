import { expect, test } from "vitest";
import { TycheError, messageOf, type TycheErrorOptions } from "../../src/lib/errors.ts";

class ExampleError extends TycheError {}

test("keeps code, blame and cause, is not retryable, takes the subclass name", () => {
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

test("whose fault it is and whether its message leaves the server are told apart", () => {
  const exposes = (options: Pick<TycheErrorOptions, "blame" | "expose">) =>
    new TycheError("failed", { code: "example", ...options }).expose;
  expect([exposes({ blame: "caller" }), exposes({ blame: "upstream" }), exposes({ blame: "us" })]).toEqual([
    true,
    true,
    false,
  ]);
  expect([exposes({ blame: "us", expose: true }), exposes({ blame: "upstream", expose: false })]).toEqual([
    true,
    false,
  ]);
});

test("messageOf reads errors and anything else that was thrown", () => {
  expect(messageOf(new Error("a"))).toBe("a");
  expect(messageOf("b")).toBe("b");
});
