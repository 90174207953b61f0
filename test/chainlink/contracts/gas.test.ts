/**
 * Gas per preset, exact to the unit. Block hashes are pinned, hence seeds and proofs: how often hashing to the curve
 * has to start over moves a fulfilment by some 10,000 gas.
 */
import { bytesToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import {
  linkConsumers,
  provisionDapp,
  storeSource,
  submit,
  type TestDapp,
  type TestPresets,
} from "../../support/consumer.ts";
import { deliverResults, deliverWords, eventsOf } from "../../support/delivery.ts";
import { startTestStack, type TestStack } from "../../support/stack.ts";

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
        "1 × 1: 89918 + 266367 + 147281 = 503566",
        "10 × 1: 59035 + 179062 + 55732 = 293829",
        "1 × 10: 11328 + 128460 + 55731 = 195518",
        "1 × 14: 8125 + 123716 + 55479 = 187319",
      ],
      "lotto": [
        "1 × 1: 253512 + 283523 + 147293 = 684328",
        "10 × 1: 222581 + 192343 + 55731 = 470655",
        "1 × 10: 142744 + 142071 + 55726 = 340541",
        "1 × 14: 139229 + 137580 + 55476 = 332286",
      ],
      "nDice": [
        "1 × 1: 90002 + 267180 + 147293 = 504475",
        "10 × 1: 59119 + 187603 + 55727 = 302449",
        "1 × 10: 13642 + 132056 + 55728 = 201426",
        "1 × 14: 10841 + 123909 + 55479 = 190229",
      ],
      "range": [
        "1 × 1: 90002 + 272656 + 147293 = 509951",
        "10 × 1: 59119 + 174879 + 55718 = 289715",
        "1 × 10: 13642 + 128747 + 55726 = 198114",
        "1 × 14: 10841 + 123911 + 55478 = 190230",
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

test("behaviour: gas of a coinflip and of a function, by contracts linked to the dapp beside ours", async () => {
  const table: Record<number, string> = {};
  const data = bytesToHex(encodeFunctionsRequest({ source: "return Functions.encodeUint256(1)" }));
  const coin = await storeSource(stack, "x".repeat(129));
  for (const linked of [0, 1, 10, 50, 99]) {
    const one = await provisionDapp(stack, `linked ${linked}`);
    await linkConsumers(stack, one, linked);
    const submitted = await submit(stack, { presets: [{ dapp: one, items: [{ sourceId: coin }] }] });
    const delivered = await deliverWords(stack, submitted);
    const reported = await deliverResults(stack, delivered);
    const { functionsSubId } = one;
    const asked = await submit(stack, { functions: [{ functionsSubId, data }] });
    const answered = await deliverResults(stack, asked);
    const preset = [submitted, delivered, reported].map(({ gasUsed }) => gasUsed).join(" + ");
    table[linked] = `coinflip ${preset}, function ${asked.gasUsed} + ${answered.gasUsed}`;
  }
  expect(table).toMatchInlineSnapshot(`
    {
      "0": "coinflip 89918 + 247344 + 147281, function 179472 + 147293",
      "1": "coinflip 89918 + 249550 + 149467, function 181646 + 149491",
      "10": "coinflip 89918 + 269102 + 169072, function 201215 + 169048",
      "50": "coinflip 89918 + 372682 + 256037, function 288195 + 256049",
      "99": "coinflip 89918 + 473724 + 362568, function 394754 + 362580",
    }
  `);
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
