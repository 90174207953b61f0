import { expect, test } from "vitest";
import { splitAtHidden } from "../../src/lib/hiddenCharacters.ts";

test.each([
  ["plain\ttext\n", ["plain\ttext\n"]],
  ["a\u202eb", ["a", "U+202E", "b"]],
  ["a\u200db", ["a", "U+200D", "b"]],
  ["👨\u200d👩\u200d👧 and 👩🏽\u200d💻", ["👨\u200d👩\u200d👧 and 👩🏽\u200d💻"]],
  ["❤️\u200d🔥", ["❤️\u200d🔥"]],
  ["👨\u200d", ["👨", "U+200D", ""]],
  ["1\ufe0f\u20e3 and ☎\ufe0e", ["1\ufe0f\u20e3 and ☎\ufe0e"]],
  ["1\ufe0f", ["1", "U+FE0F", ""]],
  ["❤\ufe0f\ufe0f", ["❤\ufe0f", "U+FE0F", ""]],
  ["a\u034f", ["a", "U+034F", ""]],
  ["a\u3164b", ["a", "U+3164", "b"]],
  ["a\u{e0100}", ["a", "U+E0100", ""]],
  ["a\u2800", ["a", "U+2800", ""]],
])("%j", (text, parts) => {
  expect(splitAtHidden(text)).toEqual(parts);
});
