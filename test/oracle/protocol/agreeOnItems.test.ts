import { expect, test } from "vitest";
import { decodeResults, encodeResults } from "../../../src/chainlink/presetReport.ts";
import type { Observation } from "../../../src/oracle/aggregateObservations.ts";
import { DISAGREEMENT } from "../../../src/oracle/protocol/agree.ts";
import { agreeOnItems } from "../../../src/oracle/protocol/agree.ts";

const text = (value: string): Observation => ({ ok: true, bytes: Uint8Array.from(Buffer.from(value)) });
const error = (value: string): Observation => ({ ...text(value), ok: false });
const batch = (...items: readonly Observation[]): Observation => ({ ok: true, bytes: encodeResults(items) });
const agreeOn = (...observations: readonly Observation[]) =>
  decodeResults(agreeOnItems(observations, { faulty: 1, items: 2 }).bytes);

test("each item is agreed upon alone", () => {
  const agreed = agreeOn(
    batch(text("a"), error("x")),
    batch(text("forged"), error("x")),
    batch(text("a"), text("forged")),
  );
  expect(agreed).toEqual([text("a"), error("x")]);
});

test("what nodes see differently of one item changes no other", () => {
  const agreed = agreeOn(
    batch(text("a"), text("x")),
    batch(text("b"), text("x")),
    batch(text("c"), text("x")),
  );
  expect(agreed).toEqual([{ ...DISAGREEMENT, bytes: Uint8Array.from(DISAGREEMENT.bytes) }, text("x")]);
});

test.each<[string, Observation]>([
  ["of fewer items", batch(text("a"))],
  ["of more items", batch(text("a"), text("b"), text("c"))],
  ["that ends within one", { ok: true, bytes: Uint8Array.of(0, 9, 1) }],
  ["that is an error", error("a")],
])("an observation %s counts for none", (_, wrong) => {
  expect(agreeOn(wrong, batch(text("a"), text("b")), batch(text("a"), text("b")))).toEqual([
    text("a"),
    text("b"),
  ]);
});
