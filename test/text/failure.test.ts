import { expect, test } from "vitest";
import { DISAGREEMENT } from "../../src/oracle/protocol/agree.ts";
import { CRASH_TEXT, TIMEOUT_TEXT } from "../../sandbox/run.ts";
import {
  describeDryRun,
  explainFailure,
  findDryRun,
  findFailedPlace,
  findThrowingLine,
  isDisagreement,
} from "../../src/text/failure.ts";

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

test("finds the line that throws a text with which an error begins", () => {
  const source = "// price\nconst price = args[0];\nif (!price) throw new Error(`no price for ${price}`);";
  expect(findThrowingLine(source, "no price for EUR")).toEqual({
    number: 3,
    text: "if (!price) throw new Error(`no price for ${price}`);",
  });
  expect(findThrowingLine('throw Error("no price"); throw "none"', "none")?.number).toBe(1);
});

test("takes the line whose text has most of an error, and none of a comment", () => {
  const source =
    '// never throw "no price for today"\nthrow Error("no price" + a)\nthrow Error("no price for today")';
  expect(findThrowingLine(source, "no price for today")?.number).toBe(3);
  expect(findThrowingLine(source, "no price for EUR")?.number).toBe(2);
});

test.each([
  ["throws another text", 'throw Error("no price")', "no market"],
  ["throws what it computes", "throw Error(args[0])", "no price"],
  ["has the text without throwing it", 'const why = "no price";', "no price"],
  ["throws too short a text", 'throw Error("n")', "no price"],
])("finds no line of a source that %s", (_, source, error) => {
  expect(findThrowingLine(source, error)).toBeUndefined();
});

test.each([
  ["no price (line 4, column 9)", { line: 4, column: 9 }],
  ["(line 7, column 1) is what it threw (line 4, column 9); a hint", { line: 4, column: 9 }],
  ["syntax error in line 12, column 3: unexpected `;`", { line: 12, column: 3 }],
  ["script runtime exceeded", {}],
])("reads why a dry run failed, and the place that it names: %s", (reason, place) => {
  expect(findDryRun(describeDryRun(reason))).toEqual({ reason, ...place });
});

test("reads nothing from what is no failed dry run", () => {
  expect(findDryRun("the callback reverted (line 4, column 9)")).toBeUndefined();
});

test("finds where the source of a request failed: in its dry run by the place, on chain by what it throws", () => {
  const source = "const [pair] = args;\nthrow new Error(`no price of ${pair}`);";
  const error = { message: describeDryRun("no price of BTC (line 2, column 7)") };
  expect(findFailedPlace(source, { error, outcome: null })).toMatchObject({ line: 2, column: 7 });
  const failed = { success: false, err: "no price of BTC" };
  expect(findFailedPlace(source, { error: null, outcome: failed })).toEqual({ line: 2 });
  expect(findFailedPlace(source, { error: null, outcome: { success: true, err: "0x" } })).toEqual({});
  expect(findFailedPlace(source, { error: { message: "timed out" }, outcome: null })).toEqual({});
  expect(findFailedPlace(source, { error: null, outcome: null })).toEqual({});
});
