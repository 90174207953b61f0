import { expect, test } from "vitest";
import { fillReferences } from "../../src/triggers/eventReferences.ts";

const reference = { event: "$data" };

test("puts a log's values in place of the references to them", () => {
  const action = { preset: "lotto", list: [reference, "b", { event: 1 }] };
  expect(fillReferences(action, { $data: "a" })).toEqual({ preset: "lotto", list: ["a", "b", { event: 1 }] });
});

test("limits the characters of the values in one request, however often an action refers to one", () => {
  const $data = "x".repeat(65_536);
  const action = { preset: "lotto", list: Array.from({ length: 4 }, () => reference) };
  expect(fillReferences(action, { $data })).toEqual({ preset: "lotto", list: Array(4).fill($data) });
  const longer = { ...action, list: [...action.list, reference] };
  expect(() => fillReferences(longer, { $data })).toThrow(
    'action.list.4: with "$data", the log\'s values in the action have more than 262144 characters',
  );
});

test("refuses a value that the log lacks", () => {
  expect(() => fillReferences({ max: reference }, {})).toThrow('action.max: the log has no value "$data"');
});
