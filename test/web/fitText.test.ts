import { expect, test } from "vitest";
import { fitList, fitText } from "../../src/web/fitText.ts";
import { measure } from "../../src/web/typeface.ts";

const ROOM = { weight: "bold", sizes: [100, 60, 40], width: 1000, height: 200 } as const;
const NUMBER = String(2n ** 256n - 1n);

test("sets a short text large, and a longer one smaller and in more lines", () => {
  expect(fitText("Heads", ROOM)).toMatchObject({ size: 100, lines: ["Heads"] });
  const { size, lines } = fitText("The quick brown fox jumps over the lazy dog", ROOM);
  expect({ size, lines }).toEqual({ size: 60, lines: ["The quick brown fox", "jumps over the lazy dog"] });
});

test("breaks a word only if it has no room in any size", () => {
  expect(fitText("W".repeat(20), ROOM)).toMatchObject({ size: 40, lines: ["W".repeat(20)] });
  const { text, lines } = fitText(NUMBER, ROOM);
  expect(text).toBe(NUMBER);
  expect(lines.join("")).toBe(NUMBER);
  expect(lines.length).toBeGreaterThan(1);
});

test("cuts what has no room", () => {
  const { size, text, lines } = fitText("word ".repeat(1000).trim(), ROOM);
  expect(size).toBe(40);
  expect(lines.join(" ")).toBe(text);
  expect(text).toMatch(/^(?:word )+\w*…$/);
});

test.each(["W", "i", "W ", "word ", "\u00A0", "…", "Щ"])("has no line without room: %j", (part) => {
  for (const length of [1, 10, 100, 30_000]) {
    const { size, weight, lines } = fitText(part.repeat(length), ROOM);
    expect(lines.length * size * 1.25).toBeLessThanOrEqual(ROOM.height);
    for (const line of lines) expect(measure(line.trim(), { size, weight })).toBeLessThanOrEqual(ROOM.width);
  }
});

test("sets a list in lines that end between its entries", () => {
  const entries = ["Ada Lovelace", "Barbara Liskov", "Edsger Dijkstra"];
  const { lines } = fitList(entries, 3, ROOM);
  expect(lines).toEqual(["Ada\u00A0Lovelace\u00A0· Barbara\u00A0Liskov", "Edsger\u00A0Dijkstra"]);
});

test("leaves an entry whole that has room in a line, however long", () => {
  const entries = ["Maximiliana von Hohenstein-Rabenau zu Zürich", "7"];
  expect(fitList(entries, 2, ROOM).lines).toEqual([entries[0]!.replaceAll(" ", "\u00A0"), "7"]);
});

test("sets the entries of a list below each other if one is long, shortened", () => {
  const { lines } = fitList([NUMBER, "7"], 2, ROOM);
  expect(lines).toEqual([`${NUMBER.slice(0, 35)}…`, "7"]);
});

test("counts the entries that have no room, and those that were left out before", () => {
  const entries = Array.from({ length: 30 }, (_, i) => `Winner ${i + 1}`);
  const { text } = fitList(entries, 500, ROOM);
  const shown = text.split("\u00A0· ");
  expect(shown.length).toBeGreaterThan(5);
  expect(shown.at(-1)).toBe(`and\u00A0${500 - (shown.length - 1)}\u00A0more`);
});
