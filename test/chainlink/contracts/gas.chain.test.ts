/**
 * Gas per preset, exact to the unit. Block hashes are pinned, and thus seeds and proofs: the number of times that hashing to the curve has
 * to start over changes a fulfillment by some 10,000 gas.
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
        "1 × 1: 89892 + 271837 + 147281 = 509010",
        "10 × 1: 58942 + 176828 + 55724 = 291494",
        "1 × 10: 11325 + 127905 + 55732 = 194962",
        "1 × 14: 8123 + 122926 + 55481 = 186530",
      ],
      "lotto": [
        "1 × 1: 253486 + 311185 + 147305 = 711976",
        "10 × 1: 222489 + 194008 + 55726 = 472222",
        "1 × 10: 142741 + 142067 + 55731 = 340539",
        "1 × 14: 139227 + 137974 + 55482 = 332682",
      ],
      "nDice": [
        "1 × 1: 89976 + 267162 + 147317 = 504455",
        "10 × 1: 59026 + 173788 + 55716 = 288530",
        "1 × 10: 13639 + 128190 + 55721 = 197551",
        "1 × 14: 10839 + 125093 + 55478 = 191410",
      ],
      "range": [
        "1 × 1: 89976 + 267146 + 147293 = 504415",
        "10 × 1: 59026 + 179319 + 55722 = 294067",
        "1 × 10: 13639 + 128744 + 55719 = 198102",
        "1 × 14: 10839 + 123908 + 55481 = 190227",
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
          "1 × 1: 94701 + 274798 + 147293 = 516792",
          "10 × 1: 63713 + 177902 + 55727 = 297342",
          "1 × 10: 11806 + 128171 + 55727 = 195704",
          "1 × 14: 8466 + 125481 + 55480 = 189427",
        ],
        "lotto": [
          "1 × 1: 258296 + 291937 + 147317 = 697550",
          "10 × 1: 227260 + 194544 + 55728 = 477532",
          "1 × 10: 143223 + 143446 + 55731 = 342399",
          "1 × 14: 139571 + 138159 + 55478 = 333209",
        ],
        "nDice": [
          "1 × 1: 94785 + 275572 + 147305 = 517662",
          "10 × 1: 63797 + 180386 + 55732 = 299914",
          "1 × 10: 14120 + 130116 + 55731 = 199967",
          "1 × 14: 11182 + 124489 + 55478 = 191149",
        ],
        "range": [
          "1 × 1: 94785 + 281096 + 147317 = 523198",
          "10 × 1: 63797 + 185361 + 55732 = 304890",
          "1 × 10: 14120 + 130114 + 55728 = 199962",
          "1 × 14: 11182 + 124487 + 55477 = 191147",
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
      "0": "coinflip 89892 + 252892 + 147293, function 179546 + 147293",
      "1": "coinflip 89892 + 249560 + 149455, function 181720 + 149491",
      "10": "coinflip 89892 + 269142 + 169024, function 201289 + 169048",
      "50": "coinflip 89892 + 356081 + 256001, function 288269 + 256049",
      "99": "coinflip 89892 + 468175 + 362592, function 394828 + 362580",
    }
  `);
});

test("behaviour: gas of joined words, by number of key hashes", async () => {
  expect(await tabulateJoins("v2")).toMatchInlineSnapshot(`
    {
      "coinflip, 2 keys": "195615 + 121850 + 306911 + 186317",
      "coinflip, 4 keys": "303955 + 121858 + 118550 + 148460 + 258008 + 152105",
      "random numbers, 2 keys": "172711 + 121816 + 121973",
      "random numbers, 4 keys": "281051 + 116304 + 129507 + 137355 + 119144",
    }
  `);
  expect(await tabulateJoins("v2.5")).toMatchInlineSnapshot(`
    {
      "coinflip, 2 keys": "204793 + 135756 + 265582 + 186293",
      "coinflip, 4 keys": "321920 + 124743 + 126918 + 129193 + 277476 + 152105",
      "random numbers, 2 keys": "181889 + 130200 + 108319",
      "random numbers, 4 keys": "299016 + 146883 + 132493 + 129188 + 112595",
    }
  `);
});

async function tabulateJoins(vrfVersion: VrfVersion): Promise<Record<string, string>> {
  const other = await startTestStack({ pinned: true, vrfVersion, vrfKeys: 4 });
  try {
    const one = await provisionDapp(other, "dapp");
    const coin = await storeSource(other, "x".repeat(SOURCE_BYTES));
    const table: Record<string, string> = {};
    // A dapp's first request writes storage that later ones only update.
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

/** Delivers the words of a join one after the other. */
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
  // A dapp's first request writes storage that later ones only update.
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

/** Runs `proofs` times `presets` presets in three transactions and returns the gas per preset of each, and in total. */
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
