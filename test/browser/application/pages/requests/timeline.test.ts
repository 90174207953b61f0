import { expect, test } from "vitest";
import type { RequestKind, RequestState } from "../../../../../src/client/index.ts";
import { stepsAhead } from "../../../../../src/browser/application/pages/requests/steps.ts";

test.each<[RequestKind, readonly RequestState[], string]>([
  ["preset", ["received", "submitted"], "randomness fulfilled"],
  ["preset", ["checking"], "received submitted randomness fulfilled"],
  ["function", ["received", "submitted", "executing"], "fulfilled"],
  ["random", ["received", "submitted", "randomness"], "fulfilled"],
  ["preset", ["received", "failed"], ""],
])("%s at %j has %j ahead", (kind, states, expected) => {
  const timeline = states.map((state, i) => ({ seq: i + 1, state, at: new Date(i).toISOString() }));
  expect(stepsAhead({ kind, timeline, state: states.at(-1)! }).join(" ")).toBe(expected);
});
