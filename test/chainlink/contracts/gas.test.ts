/**
 * Gas per preset, exact to the unit. Block hashes are pinned, hence seeds and proofs: how often hashing to the curve
 * has to start over moves a fulfilment by some 10,000 gas.
 */
import { bytesToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Receipt } from "../../../src/evm/client.ts";
import type { VrfVersion } from "../../../src/chainlink/vrfVersion.ts";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import {
  linkConsumers,
  provisionDapp,
  storeSource,
  submit,
  submitJoined,
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
        "1 × 1: 89892 + 271885 + 147305 = 509082",
        "10 × 1: 58942 + 172416 + 55732 = 287090",
        "1 × 10: 11325 + 127902 + 55728 = 194955",
        "1 × 14: 8123 + 125297 + 55476 = 188896",
      ],
      "lotto": [
        "1 × 1: 253486 + 283483 + 147305 = 684274",
        "10 × 1: 222489 + 196234 + 55725 = 474447",
        "1 × 10: 142741 + 142070 + 55726 = 340537",
        "1 × 14: 139227 + 137583 + 55478 = 332288",
      ],
      "nDice": [
        "1 × 1: 89976 + 267162 + 147293 = 504431",
        "10 × 1: 59026 + 174885 + 55725 = 289636",
        "1 × 10: 13639 + 128188 + 55722 = 197549",
        "1 × 14: 10839 + 123906 + 55479 = 190224",
      ],
      "range": [
        "1 × 1: 89976 + 267180 + 147293 = 504449",
        "10 × 1: 59026 + 183736 + 55716 = 298479",
        "1 × 10: 13639 + 129849 + 55726 = 199214",
        "1 × 14: 10839 + 123910 + 55480 = 190229",
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
          "1 × 1: 94701 + 274776 + 147317 = 516794",
          "10 × 1: 63713 + 186213 + 55730 = 305655",
          "1 × 10: 11806 + 128170 + 55725 = 195700",
          "1 × 14: 8466 + 123507 + 55478 = 187451",
        ],
        "lotto": [
          "1 × 1: 258296 + 291949 + 147317 = 697562",
          "10 × 1: 227260 + 194540 + 55728 = 477528",
          "1 × 10: 143223 + 142888 + 55725 = 341836",
          "1 × 14: 139571 + 138161 + 55470 = 333203",
        ],
        "nDice": [
          "1 × 1: 94785 + 275582 + 147293 = 517660",
          "10 × 1: 63797 + 182601 + 55727 = 302125",
          "1 × 10: 14120 + 129005 + 55726 = 198851",
          "1 × 14: 11182 + 124885 + 55479 = 191546",
        ],
        "range": [
          "1 × 1: 94785 + 281125 + 147269 = 523179",
          "10 × 1: 63797 + 184812 + 55728 = 304337",
          "1 × 10: 14120 + 129010 + 55730 = 198860",
          "1 × 14: 11182 + 125671 + 55476 = 192329",
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
      "0": "coinflip 89892 + 247358 + 147293, function 179546 + 147293",
      "1": "coinflip 89892 + 255018 + 149479, function 181720 + 149491",
      "10": "coinflip 89892 + 269102 + 169048, function 201289 + 169048",
      "50": "coinflip 89892 + 378180 + 255989, function 288269 + 256049",
      "99": "coinflip 89892 + 462673 + 362592, function 394828 + 362580",
    }
  `);
});

test("behaviour: gas of joined words, by number of key hashes", async () => {
  expect(await tabulateJoins("v2")).toMatchInlineSnapshot(`
    {
      "coinflip, 2 keys": "195615 + 121850 + 262696 + 186317",
      "coinflip, 4 keys": "303955 + 155087 + 124066 + 131855 + 258010 + 152093",
      "random numbers, 2 keys": "172711 + 121796 + 94347",
      "random numbers, 4 keys": "281051 + 116288 + 124044 + 120734 + 101412",
    }
  `);
  expect(await tabulateJoins("v2.5")).toMatchInlineSnapshot(`
    {
      "coinflip, 2 keys": "204793 + 146929 + 265573 + 186305",
      "coinflip, 4 keys": "321920 + 135862 + 143566 + 129188 + 271963 + 152081",
      "random numbers, 2 keys": "181889 + 130318 + 102727",
      "random numbers, 4 keys": "299016 + 130289 + 126906 + 129176 + 125847",
    }
  `);
});

async function tabulateJoins(vrfVersion: VrfVersion): Promise<Record<string, string>> {
  const other = await startTestStack({ pinned: true, vrfVersion, vrfKeys: 4 });
  try {
    const one = await provisionDapp(other, "dapp");
    const coin = await storeSource(other, "x".repeat(SOURCE_BYTES));
    const table: Record<string, string> = {};
    // The first of a dapp's requests writes what the later ones only change.
    await deliverInTurn(
      other,
      await submitJoined(other, [{ dapp: one, items: [{ sourceId: coin }], keys: 4 }]),
    );
    for (const keys of [2, 4]) {
      const numbers = await submitJoined(other, [{ dapp: one, keys }]);
      const words = await deliverInTurn(other, numbers);
      table[`random numbers, ${keys} keys`] = [numbers, ...words].map(({ gasUsed }) => gasUsed).join(" + ");
      const coinflip = await submitJoined(other, [{ dapp: one, items: [{ sourceId: coin }], keys }]);
      const delivered = await deliverInTurn(other, coinflip);
      const reported = await deliverResults(other, delivered.at(-1)!);
      table[`coinflip, ${keys} keys`] = [coinflip, ...delivered, reported]
        .map(({ gasUsed }) => gasUsed)
        .join(" + ");
    }
    return table;
  } finally {
    await other.close();
  }
}

/** Brings the words of a join one after the other. */
async function deliverInTurn(other: TestStack, submitted: Receipt): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  for (const { requestId } of eventsOf(submitted, "RandomWordsRequested"))
    receipts.push(await deliverWords(other, submitted, { of: (request) => request.requestId === requestId }));
  return receipts;
}

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
