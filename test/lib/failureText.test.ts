import { expect, test } from "vitest";
import { DISAGREEMENT } from "../../src/oracle/protocol/agree.ts";
import { CRASH_TEXT, TIMEOUT_TEXT } from "../../sandbox/run.ts";
import { explainFailure, isDisagreement } from "../../src/lib/failureText.ts";

test.each([
  [TIMEOUT_TEXT, /ran for longer/],
  [CRASH_TEXT, /can't be compiled, needs more memory/],
  ["error", /without a text/],
  ["response >256 bytes", /longer than the network takes/],
  ["returned value not an ArrayBuffer or Uint8Array", /must return bytes/],
])("explains the runtime's own error %s", (error, explanation) => {
  expect(explainFailure(error)).toMatch(explanation);
});

test("tells the nodes' own error from a source's", () => {
  expect(isDisagreement(new TextDecoder().decode(DISAGREEMENT.bytes))).toBe(true);
  expect(isDisagreement("no price")).toBe(false);
});

test("has nothing to add to a source's own error", () => {
  expect(explainFailure("no price")).toBeUndefined();
  expect(explainFailure(`no price: ${TIMEOUT_TEXT}`)).toBeUndefined();
});
