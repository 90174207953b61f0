import { expect, test } from "vitest";
import { forTerminal, isReadable } from "../../src/cli/terminal.ts";

test.each([
  ["\u001b[31mred\u001b[39m\tand\nplain", "\u001b[31mred\u001b[39m\tand\nplain"],
  ["\u001b]0;title\u0007", "\ufffd]0;title\ufffd"],
  ["\u001b[2J", "\ufffd[2J"],
  ["a\u202eb\u2028c", "a\ufffdb\ufffdc"],
])("%j reaches a terminal as %j", (line, expected) => {
  expect(forTerminal(line)).toBe(expected);
});

test.each<[string, boolean]>([
  ["two\nlines", true],
  ["👩\u200d💻", true],
  ["a\u202eb", false],
  ["\u0000", false],
  ["\ufffd", false],
])("whether %j is readable: %s", (text, expected) => {
  expect(isReadable(text)).toBe(expected);
});
