import { expect, test } from "vitest";
import { describeDifference, namePlaces, parseEntries } from "../../src/text/entryLists.ts";

test.each([
  ["lines", "ann\nbob\n"],
  ["lines of Windows", "ann\r\nbob\r\n"],
  ["a JSON array", '["ann", "bob"]'],
])("entries are read from %s", (_, text) => {
  expect(parseEntries(text)).toEqual(["ann", "bob"]);
});

test("a JSON array that has other things than texts is read as lines", () => {
  expect(parseEntries('["ann", 2]')).toEqual(['["ann", 2]']);
});

test.each([
  [["ann", "bob"], undefined],
  [
    ["bob", "ann"],
    'the list has the entries of the file in another order; entry 1 of the list is "ann", and of the file "bob"',
  ],
  [["ann", "bob", "cy"], 'the list has 2 entries, and the file 3; only in the file: "cy"'],
  [["ann"], 'the list has 2 entries, and the file 1; only in the list: "bob"'],
  [
    ["ann", "bob", "bob", "cy", "dee", "eve"],
    'the list has 2 entries, and the file 6; only in the file: "bob", "cy", "dee" and 1 more',
  ],
] as const)("a list of ann and bob is compared with %j", (expected, says) => {
  expect(describeDifference(["ann", "bob"], { expected, from: "the file" })).toBe(says);
});

test("an entry has the places that it has in a list", () => {
  expect([...namePlaces(["ann", "bob", "ann", "cy", "cy", "cy", "cy", "cy"])]).toEqual([
    ["ann", "entries 1, 3"],
    ["bob", "entry 2"],
    ["cy", "entries 4, 5, 6 and 2 more"],
  ]);
});
