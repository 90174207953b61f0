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
        "1 × 1: 89892 + 266367 + 147317 = 503576",
        "10 × 1: 58942 + 177383 + 55724 = 292049",
        "1 × 10: 11325 + 127903 + 55730 = 194958",
        "1 × 14: 8123 + 122929 + 55473 = 186525",
      ],
      "lotto": [
        "1 × 1: 253486 + 294576 + 147281 = 695343",
        "10 × 1: 222489 + 194564 + 55726 = 472779",
        "1 × 10: 142741 + 142070 + 55724 = 340535",
        "1 × 14: 139227 + 137973 + 55477 = 332677",
      ],
      "nDice": [
        "1 × 1: 89976 + 267170 + 147305 = 504451",
        "10 × 1: 59026 + 178764 + 55727 = 293518",
        "1 × 10: 13639 + 128187 + 55730 = 197556",
        "1 × 14: 10839 + 124701 + 55476 = 191016",
      ],
      "range": [
        "1 × 1: 89976 + 272684 + 147293 = 509953",
        "10 × 1: 59026 + 173230 + 55725 = 287981",
        "1 × 10: 13639 + 128191 + 55728 = 197558",
        "1 × 14: 10839 + 124307 + 55480 = 190625",
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
          "1 × 1: 94701 + 280300 + 147305 = 522306",
          "10 × 1: 63713 + 181233 + 55728 = 300675",
          "1 × 10: 11806 + 129277 + 55725 = 196808",
          "1 × 14: 8466 + 124300 + 55477 = 188244",
        ],
        "lotto": [
          "1 × 1: 258296 + 291944 + 147305 = 697545",
          "10 × 1: 227260 + 194531 + 55727 = 477518",
          "1 × 10: 143223 + 142888 + 55731 = 341842",
          "1 × 14: 139571 + 138160 + 55481 = 333212",
        ],
        "nDice": [
          "1 × 1: 94785 + 275611 + 147329 = 517725",
          "10 × 1: 63797 + 181476 + 55726 = 300999",
          "1 × 10: 14120 + 130675 + 55730 = 200525",
          "1 × 14: 11182 + 124881 + 55476 = 191540",
        ],
        "range": [
          "1 × 1: 94785 + 275594 + 147305 = 517684",
          "10 × 1: 63797 + 177611 + 55725 = 297133",
          "1 × 10: 14120 + 129007 + 55730 = 198857",
          "1 × 14: 11182 + 124484 + 55482 = 191148",
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
      "0": "coinflip 89892 + 263919 + 147317, function 179546 + 147293",
      "1": "coinflip 89892 + 266089 + 149455, function 181720 + 149491",
      "10": "coinflip 89892 + 269088 + 169024, function 201289 + 169048",
      "50": "coinflip 89892 + 361627 + 256025, function 288269 + 256049",
      "99": "coinflip 89892 + 462625 + 362556, function 394828 + 362580",
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
