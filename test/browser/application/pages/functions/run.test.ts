import { expect, test } from "vitest";
import { describeFailedCall } from "../../../../../src/browser/application/pages/functions/run.ts";
import { InvalidParameterError } from "../../../../../src/client/errorClasses.ts";

const refusal = (message: string, details: readonly object[]) =>
  describeFailedCall(
    new InvalidParameterError({ code: "invalid_parameter", status: 400, data: { err: message, details } }),
  );

test("says each thing that is wrong with a call once", () => {
  expect(
    refusal("args.0: must be text; the body is too long", [
      { path: "/args/0", message: "must be text" },
      { path: "", message: "the body is too long" },
      { path: "/label", message: "must be short" },
    ]),
  ).toEqual({
    kind: "problem",
    message: "args.0: must be text; the body is too long",
    details: ["label: must be short"],
  });
});
