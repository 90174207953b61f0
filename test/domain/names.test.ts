import { expect, test } from "vitest";
import { parseName } from "../../src/domain/names.ts";

test.each([
  ["shop", "shop"],
  [" Würfel – 2 ", "Würfel – 2"],
  ["x".repeat(60), "x".repeat(60)],
  ["🎲".repeat(60), "🎲".repeat(60)],
  ["❤️ team 👩‍🚀", "❤️ team 👩‍🚀"],
  ["my dapp_1", "my dapp_1"],
])("%j", (text, name) => {
  expect(parseName(text)).toBe(name);
});

test.each([
  "",
  "   ",
  "x".repeat(61),
  "a\nb",
  "a\u001b[31m",
  "a\u0000",
  "a\u009bb",
  "a\u202eb",
  "a\u2028b",
  "\ud800",
  "\u3164",
  "\u2800\u200b\u00ad",
  "sh\u200bop",
  "sh\u00adop",
  "sh\u200dop",
  "sh\ufe0fop",
  "sh\u3164op",
  "dapp_01m89ssb6031cxs9",
  "DAPP_x",
  "\uff44app_x",
])("%j is no name", (text) => {
  expect(() => parseName(text)).toThrow(expect.objectContaining({ code: "invalid_parameter" }));
});
