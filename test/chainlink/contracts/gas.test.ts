/**
 * Gas per preset, exact to the unit. Block hashes are pinned, hence seeds and proofs: how often hashing to the curve
 * has to start over moves a fulfilment by some 10,000 gas.
 */
import { bytesToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { VrfVersion } from "../../../src/chainlink/vrfVersion.ts";
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

let world: World;
let stack: TestStack;
beforeAll(async () => {
  world = await startWorld("v2");
  stack = world.stack;
});
afterAll(() => world.stack.close());

test("behaviour: gas per preset by kind, number of proofs, and presets on each", async () => {
  expect(await tabulate(world)).toMatchInlineSnapshot(`
    {
      "coinflip": [
        "1 × 1: 89892 + 266357 + 147305 = 503554",
        "10 × 1: 58942 + 176833 + 55726 = 291501",
        "1 × 10: 11325 + 127351 + 55732 = 194408",
        "1 × 14: 8123 + 123324 + 55478 = 186925",
      ],
      "lotto": [
        "1 × 1: 253486 + 283493 + 147281 = 684260",
        "10 × 1: 222489 + 192913 + 55731 = 471132",
        "1 × 10: 142741 + 142622 + 55725 = 341088",
        "1 × 14: 139227 + 137974 + 55480 = 332681",
      ],
      "nDice": [
        "1 × 1: 89976 + 272696 + 147317 = 509989",
        "10 × 1: 59026 + 178767 + 55727 = 293520",
        "1 × 10: 13639 + 128186 + 55726 = 197552",
        "1 × 14: 10839 + 124302 + 55477 = 190618",
      ],
      "range": [
        "1 × 1: 89976 + 267170 + 147317 = 504463",
        "10 × 1: 59026 + 178771 + 55727 = 293524",
        "1 × 10: 13639 + 128738 + 55728 = 198106",
        "1 × 14: 10839 + 123908 + 55476 = 190222",
      ],
    }
  `);
});

test("behaviour: gas per preset on VRF v2.5", async () => {
  const other = await startWorld("v2.5");
  try {
    expect(await tabulate(other)).toMatchInlineSnapshot(`
      {
        "coinflip": [
          "1 × 1: 94689 + 274769 + 147317 = 516775",
          "10 × 1: 63701 + 179002 + 55730 = 298433",
          "1 × 10: 11805 + 128164 + 55727 = 195696",
          "1 × 14: 8465 + 123901 + 55480 = 187846",
        ],
        "lotto": [
          "1 × 1: 258284 + 291978 + 147305 = 697567",
          "10 × 1: 227248 + 195636 + 55728 = 478612",
          "1 × 10: 143222 + 142886 + 55728 = 341837",
          "1 × 14: 139570 + 138159 + 55479 = 333208",
        ],
        "nDice": [
          "1 × 1: 94773 + 275577 + 147329 = 517679",
          "10 × 1: 63785 + 183692 + 55722 = 303199",
          "1 × 10: 14119 + 129004 + 55726 = 198849",
          "1 × 14: 11181 + 124485 + 55476 = 191143",
        ],
        "range": [
          "1 × 1: 94773 + 275572 + 147281 = 517626",
          "10 × 1: 63785 + 179821 + 55728 = 299334",
          "1 × 10: 14119 + 129560 + 55730 = 199409",
          "1 × 14: 11181 + 125277 + 55477 = 191935",
        ],
      }
    `);
  } finally {
    await other.stack.close();
  }
});

test.each([
  ["ten presets with a proof each stay within 300,000", 10, 1, 300_000],
  ["ten presets on one proof stay within 200,000", 1, 10, 200_000],
] as const)("behaviour: %s, on average", async (_, proofs, presets, limit) => {
  const kinds = ["coinflip", "range", "nDice"] as const;
  let sum = 0;
  for (const kind of kinds) sum += Number((await measure(world, kind, proofs, presets)).split("= ")[1]);
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
      "0": "coinflip 89892 + 275004 + 147293, function 179546 + 147293",
      "1": "coinflip 89892 + 255108 + 149455, function 181720 + 149491",
      "10": "coinflip 89892 + 291259 + 169048, function 201289 + 169048",
      "50": "coinflip 89892 + 356093 + 256013, function 288269 + 256049",
      "99": "coinflip 89892 + 468177 + 362580, function 394828 + 362580",
    }
  `);
});

interface World {
  readonly stack: TestStack;
  readonly dapp: TestDapp;
  readonly sourceId: number;
}

async function startWorld(vrfVersion: VrfVersion): Promise<World> {
  const started = await startTestStack({ pinned: true, vrfVersion });
  const dapp = await provisionDapp(started, "dapp");
  const sourceId = await storeSource(started, "x".repeat(SOURCE_BYTES));
  const ready = { stack: started, dapp, sourceId };
  // The first of a dapp's requests writes what the later ones only change.
  await measure(ready, "coinflip", 1, 1);
  return ready;
}

async function tabulate(measured: World): Promise<Record<string, readonly string[]>> {
  const table: Record<string, readonly string[]> = {};
  for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
    table[kind] = [
      await measure(measured, kind, 1, 1),
      await measure(measured, kind, 10, 1),
      await measure(measured, kind, 1, 10),
      await measure(measured, kind, 1, 14),
    ];
  }
  return table;
}

/** Runs `proofs` times `presets` presets in three transactions; tells the gas per preset of each, and of all. */
async function measure(
  { stack, dapp, sourceId }: World,
  kind: keyof typeof KINDS,
  proofs: number,
  presets: number,
): Promise<string> {
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
