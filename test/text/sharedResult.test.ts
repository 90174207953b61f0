import { expect, test } from "vitest";
import { describeRequest, describeShared, nameFunction } from "../../src/text/sharedResult.ts";

const DRAW = {
  preset: "lotto",
  title: "Draw winners from a list",
  params: { numberOfWinners: "2", list: ["ann", "bob", "cy"] },
  shown: { as: "list", entries: ["cy", "ann"] },
  outcome: { success: true, parsedResult: "Winners: cy, ann", err: "0x" },
} as const;

test("names a draw by its label, and says how many were drawn of how many", () => {
  expect(describeShared({ ...DRAW, outcome: { ...DRAW.outcome, label: "raffle" } })).toEqual({
    heading: "raffle",
    subject: ["Draw winners from a list", "2 of 3 entries"],
    result: "cy, ann",
  });
});

test("names a draw without a label by its preset's title, and by no folder where there is none", () => {
  expect(describeShared(DRAW)).toMatchObject({
    heading: "Draw winners from a list",
    subject: ["2 of 3 entries"],
  });
  const { preset, outcome } = DRAW;
  expect(describeShared({ preset, outcome })).toMatchObject({ heading: "Preset" });
});

test("says nothing of how many where the parameters are deleted or have several lists", () => {
  const { params, ...rest } = DRAW;
  expect(describeShared(rest).subject).toEqual([]);
  expect(describeShared({ ...rest, params: { ...params, others: [] } }).subject).toEqual([]);
});

test("shows random numbers, functions, sides and errors in one line", () => {
  expect(describeShared({ outcome: { success: true, randomNumber: ["7"] } })).toEqual({
    heading: "1 random number",
    subject: [],
    result: "7",
  });
  const labelled = { success: true, randomNumber: ["7", "8"], label: "bingo" };
  expect(describeShared({ outcome: labelled })).toMatchObject({
    heading: "bingo",
    subject: ["2 random numbers"],
  });
  expect(describeShared({ outcome: { success: false, parsedResult: "", err: "no" } })).toEqual({
    heading: "Function",
    subject: [],
    result: "no",
  });
  const outcome = { success: true, parsedResult: "0", err: "0x" };
  expect(describeShared({ preset: "coin", shown: { as: "coin", side: "Tails" }, outcome }).result).toBe(
    "Tails",
  );
});

test("a function that only its arguments name is a function's result; below the heading, they say what it is", () => {
  const outcome = { success: true, parsedResult: "7", err: "0x" };
  const title = "Function of eth, usd";
  expect(describeShared({ outcome })).toMatchObject({ heading: "Function result", subject: [] });
  expect(describeShared({ title, outcome })).toMatchObject({ heading: "Function result", subject: [title] });
  expect(describeShared({ title, outcome: { ...outcome, label: "price" } })).toMatchObject({
    heading: "price",
    subject: [title],
  });
  const code = "Function “return 1”";
  expect(describeShared({ title: code, outcome })).toMatchObject({
    heading: "Function result",
    subject: [],
  });
  expect(describeShared({ title: "Function: Reads a price", outcome })).toMatchObject({
    heading: "Function: Reads a price",
  });
});

test.each([
  ["// Reads a price\nreturn 1", [], "Function: Reads a price"],
  ["/**\n * Reads a price.\n */\nreturn 1", ["eth"], "Function: Reads a price."],
  ["/* a price */ return 1", [], "Function: a price"],
  ["/* Reads a price */\r\nreturn 1", [], "Function: Reads a price"],
  ["\n\n//\n// ------\n\n// Reads a price\nreturn 1", [], "Function: Reads a price"],
  ["/* */ /**\n * ***\n * Reads a price\n */\nreturn 1", [], "Function: Reads a price"],
  ["// ------\nreturn 1 // one\n// two", ["eth"], "Function of eth"],
  ["return 1 // one", ["eth", "usd"], "Function of eth, usd"],
  ["return 1", ["x".repeat(100)], `Function of ${"x".repeat(67)}…`],
  ["return (await fetch('https://api.example.org/x')).data", ["eth"], "Function that names api.example.org"],
  ["// Reads a price\nreturn (await fetch('https://api.example.org/x')).data", [], "Function: Reads a price"],
  ["return await fetch(args[0])", ["eth"], "Function of eth"],
  ["// ---\n  const a = 1;\nreturn a", [], "Function “const a = 1;”"],
  [`return ${"1".repeat(100)}`, [], `Function “return ${"1".repeat(40)}…”`],
  ["// ---", [], undefined],
])("a function with the source %j and arguments %j is named %j", (source, args, name) => {
  expect(nameFunction({ source, args })).toBe(name);
});

test("names a request that isn't on chain by its state alone", () => {
  const headings = (["failed", "waiting"] as const).map((state) => describeRequest({ state }).heading);
  expect(headings).toEqual([
    "A request that failed before it was on chain",
    "A request that is not on chain yet",
  ]);
});
