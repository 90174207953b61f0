import { expect, test } from "vitest";
import {
  describeFailedVerdict,
  describeProven,
  describeSteps,
  describeUnconfirmed,
  describeVerdict,
} from "../../src/text/verification.ts";

const request = { kind: "preset", verdict: "valid", err: "0x", label: null, steps: [] };
const failed = { ...request, err: "0x6b6e6f776e" };
const third = { ...request, label: { draw: 3, draws: [1, 2, 3] } };

test.each([
  ["a result", [request], "valid", "ok"],
  ["the first of several", [{ ...third, label: { ...third.label, draw: 1 } }], "valid", "ok"],
  ["a draw that failed", [failed], "the draw failed, and there is no result (valid)", "notApplicable"],
  [
    "a function that failed",
    [{ ...failed, kind: "function" }],
    "the function failed, and there is no result (valid)",
    "notApplicable",
  ],
  ["one of two that failed", [request, failed], "valid: 1 of 2 requests failed", "notApplicable"],
  ["a redraw", [third], "valid: only request 3 of 3 with this label", "notApplicable"],
  [
    "a redraw among others",
    [request, third],
    "valid: 1 of 2 requests are not the first with their label",
    "notApplicable",
  ],
  [
    "a redraw that failed",
    [{ ...third, err: failed.err }],
    "the draw failed, and there is no result (valid): only request 3 of 3 with this label",
    "notApplicable",
  ],
] as const)("describeVerdict says of %s what it is", (_what, requests, words, outcome) => {
  expect(describeVerdict({ verdict: "valid", requests })).toEqual({ words, outcome });
});

test("describeFailedVerdict says whether an error is proven, and nothing of results", () => {
  const found = (requests: readonly (typeof request)[]) => ({ verdict: "valid", requests }) as const;
  expect(describeFailedVerdict(found([failed]))).toEqual({
    headline: "Error signed by the oracle's nodes, and repeated here",
    short: "failure proven",
    meaning: expect.stringMatching(/^This failure is proven:/),
  });
  expect(describeFailedVerdict({ ...found([failed]), verdict: "unconfirmed" })).toBeUndefined();
  expect(describeFailedVerdict(found([request]))).toBeUndefined();
  expect(describeFailedVerdict(found([failed, request]))).toBeUndefined();
});

test.each([
  [
    "a draw on a local chain",
    request,
    true,
    "This proves that the result follows from the inputs and the random number on chain, and that nothing was changed afterwards. It doesn't prove that there was no other draw: it has no label to find others by, and the same people run this service, the oracle and the chain.",
  ],
  [
    "random numbers with a label on a public chain",
    { ...third, kind: "random" },
    false,
    "This proves that these numbers belong to this request and to no other, and that nothing was changed afterwards. It doesn't prove that there was no other draw: one under another label isn't seen, and whoever runs the oracle can leave one unanswered.",
  ],
  [
    "an error",
    { ...failed, kind: "function" },
    false,
    "This proves that the program ends with this error, and that nothing was changed afterwards. It doesn't prove that there was no other request: it has no label to find others by, and whoever runs the oracle can leave one unanswered.",
  ],
])("describeProven says of %s what is proven, and what isn't", (_what, one, isLocal, sentence) => {
  expect(describeProven({ verdict: "valid", requests: [one] }, isLocal)).toBe(sentence);
});

test("describeProven says nothing of what is not valid", () => {
  expect(describeProven({ verdict: "unconfirmed", requests: [request] }, true)).toBeUndefined();
});

test("describeUnconfirmed says signed only if nothing but the run is open", () => {
  const open = (names: readonly string[], of = request) => ({
    verdict: "unconfirmed" as const,
    requests: [
      {
        ...of,
        verdict: "unconfirmed",
        steps: names.map((name) => ({ name, outcome: "notApplicable", detail: "" })),
      },
    ],
  });
  const signed = { headline: "Signed by the oracle's nodes", short: "signed" };
  expect(describeUnconfirmed(open(["execution"]))).toEqual(signed);
  expect(describeUnconfirmed(open(["execution"], failed))).toEqual({
    ...signed,
    headline: "Error signed by the oracle's nodes",
  });
  for (const one of [request, failed])
    expect(describeUnconfirmed(open(["signatures", "execution"], one))).toEqual({
      headline: "Nothing found wrong; not all checked here",
      short: "not confirmed",
    });
});

test("describeVerdict has nothing to add where there is no valid answer", () => {
  expect(describeVerdict({ verdict: "invalid", requests: [failed] })).toEqual({
    words: "not valid",
    outcome: "failed",
  });
});

test.each([
  [["ok", "ok"], "2 steps: all hold"],
  [["ok", "ok", "notApplicable"], "3 steps: 2 hold, 1 can't be checked"],
  [["ok", "failed"], "2 steps: 1 holds, 1 failed"],
  [["notApplicable"], "1 step: 1 can't be checked"],
] as const)("sums up the steps %j as %s", (outcomes, text) => {
  expect(describeSteps(outcomes.map((outcome) => ({ outcome })))).toBe(text);
});
