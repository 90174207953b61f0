import * as fc from "fast-check";
import { expect, test } from "vitest";
import { aggregate, type Observation } from "../../src/oracle/aggregateObservations.ts";

const result = (text: string): Observation => ({ ok: true, bytes: Buffer.from(text) });
const error = (text: string): Observation => ({ ok: false, bytes: Buffer.from(text) });

test("equal results are the answer", () => {
  expect(aggregate([result("7"), result("7"), result("7"), result("7")])).toEqual(result("7"));
});

test.each([
  ["of four results the second", ["9", "1", "5", "7"], "5"],
  ["of three results the second", ["9", "1", "5"], "5"],
  ["shorter comes first", ["100", "99", "98", "97"], "98"],
  ["bytes decide among equal lengths", ["b", "a", "d", "c"], "b"],
])("the median: %s", (_, texts, median) => {
  expect(aggregate(texts.map(result))).toEqual(result(median));
});

test.each([
  ["three results of four", [error("x"), result("1"), result("2"), result("3")], result("2")],
  ["two and two", [error("x"), error("y"), result("1"), result("2")], error("x")],
  ["one result of four", [error("x"), error("x"), error("y"), result("1")], error("x")],
  ["the most common error", [error("b"), error("c"), error("c"), error("a")], error("c")],
  [
    "of equally common errors the first in order",
    [error("d"), error("cc"), error("b"), error("a")],
    error("a"),
  ],
])("results against errors: %s", (_, observations, expected) => {
  expect(aggregate(observations)).toEqual(expected);
});

test("the order of the nodes doesn't matter", () => {
  const observation = fc.record({ ok: fc.boolean(), bytes: fc.uint8Array({ maxLength: 2 }) });
  fc.assert(
    fc.property(fc.array(observation, { minLength: 4, maxLength: 4 }), (observations) => {
      expect(aggregate(observations.toReversed())).toEqual(aggregate(observations));
    }),
    { seed: 5 },
  );
});

test("one wrong node of four never moves the answer of three that agree", () => {
  const observation = fc.record({ ok: fc.boolean(), bytes: fc.uint8Array({ maxLength: 4 }) });
  fc.assert(
    fc.property(observation, observation, (honest, wrong) => {
      expect(aggregate([honest, wrong, honest, honest])).toEqual(honest);
    }),
    { seed: 6 },
  );
});

test("no observations", () => {
  expect(() => aggregate([])).toThrow(RangeError);
});
