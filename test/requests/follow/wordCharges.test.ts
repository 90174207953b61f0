import { expect, test } from "vitest";
import { readWordCharges } from "../../../src/requests/follow/wordCharges.ts";
import { makeRequest } from "../../support/pipelineWorld.ts";

test("presets that share a proof share what it cost to the last juel", () => {
  const charges = readWordCharges([
    { name: "RandomWordsFulfilled", requestId: "0x7", outputSeed: 1n, paymentJuels: 5n, success: true },
  ]);
  const preset = makeRequest("preset", "0x");
  const itemOf = (item: number) => ({ ...preset, progress: { ...preset.progress, item, items: 2 } });
  expect([0, 1].map((item) => charges("0x7", itemOf(item)))).toEqual([
    { wordJuels: "3" },
    { wordJuels: "2" },
  ]);
  expect(charges("0x7", preset)).toEqual({ wordJuels: "5" });
  expect(charges("0x8", preset)).toEqual({});
});
