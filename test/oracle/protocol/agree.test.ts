import { expect, test } from "vitest";
import { agree, DISAGREEMENT } from "../../../src/oracle/protocol/agree.ts";
import type { Observation } from "../../../src/oracle/aggregateObservations.ts";
import { numberOf } from "./world.ts";

const text = (value: string): Observation => ({ ok: true, bytes: Buffer.from(value) });
const error = (value: string): Observation => ({ ok: false, bytes: Buffer.from(value) });
const number = (value: number): Observation => ({ ok: true, bytes: numberOf(value) });

test("what f + 1 say alike is the result", () => {
  expect(agree([text("a"), text("forged"), text("a")], 1)).toEqual(text("a"));
  expect(agree([text("a"), error("forged"), text("a")], 1)).toEqual(text("a"));
});

test("an error takes f + 1 that say alike, and is no result with the same bytes", () => {
  expect(agree([error("x"), text("x"), error("x")], 1)).toEqual(error("x"));
  expect(agree([error("x"), text("x"), error("y")], 1)).toEqual(DISAGREEMENT);
});

test("of different numbers it is the median, however the others lie", () => {
  expect(agree([number(7), number(9_999), number(8)], 1)).toEqual(number(8));
  expect(agree([number(7), error("forged"), number(8)], 1)).toEqual(number(7));
  expect(agree([3, 1, 5, 2, 4].map(number), 2)).toEqual(number(3));
});

test("different texts are a disagreement", () => {
  expect(agree([text("a"), text("b"), text("c")], 1)).toEqual(DISAGREEMENT);
  expect(agree([text("a"), text("b"), number(1)], 1)).toEqual(DISAGREEMENT);
});
