/**
 * Gas per preset, exact to the unit. Block hashes are pinned, hence seeds and proofs: how often hashing to the curve
 * has to start over moves a fulfilment by some 10,000 gas.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { provisionDapp, storeSource, submit, type TestDapp, type TestPresets } from "../support/consumer.ts";
import { deliverResults, deliverWords, eventsOf } from "../support/delivery.ts";
import { startTestStack, type TestStack } from "../support/stack.ts";

const SOURCE_BYTES = 1_000;
const PLAYERS = JSON.stringify(Array.from({ length: 50 }, (_, i) => `player ${i}`));
const KINDS = { coinflip: [], range: ["1", "10"], lotto: ["3", PLAYERS], nDice: ["6", "10"] } as const;

let stack: TestStack;
let dapp: TestDapp;
let sourceId: number;
beforeAll(async () => {
  stack = await startTestStack({ pinned: true });
  dapp = await provisionDapp(stack, "dapp");
  sourceId = await storeSource(stack, "x".repeat(SOURCE_BYTES));
  // The first of a dapp's requests writes what the later ones only change.
  await measure("coinflip", 1, 1);
});
afterAll(() => stack.close());

test("behaviour: gas per preset by kind, number of proofs, and presets on each", async () => {
  const table: Record<string, readonly string[]> = {};
  for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
    table[kind] = [
      await measure(kind, 1, 1),
      await measure(kind, 10, 1),
      await measure(kind, 1, 10),
      await measure(kind, 1, 14),
    ];
  }
  expect(table).toMatchInlineSnapshot(`
    {
      "coinflip": [
        "1 × 1: 89904 + 293963 + 147293 = 531160",
        "10 × 1: 59021 + 176815 + 55728 = 291565",
        "1 × 10: 11326 + 127335 + 55721 = 194383",
        "1 × 14: 8124 + 124491 + 55477 = 188092",
      ],
      "lotto": [
        "1 × 1: 253498 + 283491 + 147317 = 684306",
        "10 × 1: 222567 + 193439 + 55731 = 471737",
        "1 × 10: 142743 + 142054 + 55726 = 340522",
        "1 × 14: 139228 + 138358 + 55476 = 333062",
      ],
      "nDice": [
        "1 × 1: 89988 + 278209 + 147269 = 515466",
        "10 × 1: 59105 + 178734 + 55728 = 293567",
        "1 × 10: 13641 + 131495 + 55732 = 200867",
        "1 × 14: 10840 + 123891 + 55479 = 190209",
      ],
      "range": [
        "1 × 1: 89988 + 267148 + 147293 = 504429",
        "10 × 1: 59105 + 174867 + 55725 = 289697",
        "1 × 10: 13641 + 129282 + 55724 = 198646",
        "1 × 14: 10840 + 124291 + 55479 = 190609",
      ],
    }
  `);
});

test.each([
  ["ten presets with a proof each stay within 300,000", 10, 1, 300_000],
  ["ten presets on one proof stay within 200,000", 1, 10, 200_000],
] as const)("behaviour: %s, on average", async (_, proofs, presets, limit) => {
  const kinds = ["coinflip", "range", "nDice"] as const;
  let sum = 0;
  for (const kind of kinds) sum += Number((await measure(kind, proofs, presets)).split("= ")[1]);
  expect(sum / kinds.length).toBeLessThanOrEqual(limit);
});

/** Runs `proofs` times `presets` presets in three transactions; tells the gas per preset of each, and of all. */
async function measure(kind: keyof typeof KINDS, proofs: number, presets: number): Promise<string> {
  const batch: TestPresets = {
    dapp,
    items: Array.from({ length: presets }, () => ({ sourceId, args: KINDS[kind] })),
    callbackGasLimit: presets === 1 ? 400_000 : 2_500_000,
  };
  const submitted = await submit(stack, { presets: Array.from({ length: proofs }, () => batch) });
  const delivered = await deliverWords(stack, submitted);
  const reported = await deliverResults(stack, delivered);
  const count = proofs * presets;
  expect(eventsOf(reported, "RequestProcessed").map(({ resultCode }) => resultCode)).toEqual(
    Array.from({ length: count }, () => 0),
  );
  const gas = [submitted, delivered, reported].map(({ gasUsed }) => Math.round(Number(gasUsed) / count));
  const all = Math.round(Number(submitted.gasUsed + delivered.gasUsed + reported.gasUsed) / count);
  return `${proofs} × ${presets}: ${gas.join(" + ")} = ${all}`;
}
