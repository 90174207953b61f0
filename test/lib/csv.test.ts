import { expect, test } from "vitest";
import { writeCsv } from "../../src/lib/csv.ts";

test("rows end with CR LF, and what is absent is empty", () => {
  expect(
    writeCsv([
      ["day", "words"],
      ["2026-11-22", 3],
      [null, 0],
    ]),
  ).toBe("day,words\r\n2026-11-22,3\r\n,0\r\n");
});

test.each([
  ['=HYPERLINK("http://a.example")', '"\'=HYPERLINK(""http://a.example"")"'],
  ["@a", "'@a"],
  ["+1", "'+1"],
  ["-a", "'-a"],
  ["-1.5", "-1.5"],
])("%j is no formula in a spreadsheet", (text, field) => {
  expect(writeCsv([[text]])).toBe(`${field}\r\n`);
});

test.each([
  ["a,b", '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\nlines", '"two\nlines"'],
  ["two\rlines", '"two\rlines"'],
])("%j is quoted (RFC 4180)", (text, field) => {
  expect(writeCsv([[text]])).toBe(`${field}\r\n`);
});
