import { expect, test } from "vitest";
import { formatCodeFrame } from "../../src/cli/codeFrame.ts";

const source = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten";

test("two lines before and behind, and a caret below the column", () => {
  expect(formatCodeFrame(source, { line: 9, column: 3 })).toBe(
    ["   7 | seven", "   8 | eight", ">  9 | nine", "     |   ^", "  10 | ten"].join("\n"),
  );
});

test("at the first line there is none before", () => {
  expect(formatCodeFrame("x", { line: 1, column: 1 })).toBe("> 1 | x\n    | ^");
});

test("without a column there is no caret", () => {
  expect(formatCodeFrame("x\ny", { line: 1 })).toBe("> 1 | x\n  2 | y");
});

test("tabs before the column stay, so that the caret stands where it should", () => {
  expect(formatCodeFrame("\ta = b", { line: 1, column: 4 }).split("\n")[1]).toBe("    | \t  ^");
});

test("a long line is cut around the column", () => {
  const long = `${"a".repeat(1_000)}X${"b".repeat(1_000)}`;
  const [shown, caret] = formatCodeFrame(long, { line: 1, column: 1_001 }).split("\n") as [string, string];
  expect(shown.length).toBeLessThan(140);
  expect(shown[caret.indexOf("^")]).toBe("X");
});

test("no frame for a line that there is not", () => {
  expect(formatCodeFrame(source, { line: 11 })).toBe("");
  expect(formatCodeFrame(source, { line: 0 })).toBe("");
});
