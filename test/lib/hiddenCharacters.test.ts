import { expect, test } from "vitest";
import { splitAtHidden } from "../../src/lib/hiddenCharacters.ts";

test.each([
  ["plain\ttext\n", ["plain\ttext\n"]],
  ["a\u202eb", ["a", "U+202E", "b"]],
  ["a\u200db", ["a", "U+200D", "b"]],
  ["👨\u200d👩\u200d👧 and 👩🏽\u200d💻", ["👨\u200d👩\u200d👧 and 👩🏽\u200d💻"]],
  ["❤️\u200d🔥", ["❤️\u200d🔥"]],
  ["👨\u200d", ["👨", "U+200D", ""]],
])("default: %j", (text, parts) => {
  expect(splitAtHidden(text)).toEqual(parts);
});
