/**
 * Gas per preset, exact to the unit. Block hashes are pinned, and thus seeds and proofs: the number of times that hashing to the curve has
 * to start over changes a fulfillment by some 10,000 gas.
 */
import { bytesToHex, stringToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Receipt } from "../../../src/evm/client.ts";
import type { VrfVersion } from "../../../src/chainlink/vrfVersion.ts";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import { toWord } from "../../../src/lib/uint256.ts";
import {
  fundWithCoin,
  linkConsumers,
  provisionDapp,
  storeSource,
  submit,
  submitJoined,
  type TestDapp,
  type TestPresets,
} from "../../support/consumer.ts";
import { deliverReports, deliverResults, deliverWords, eventsOf, reportOf } from "../../support/delivery.ts";
import { startTestStack, type TestStack } from "../../support/stack.ts";

const SOURCE_BYTES = 1_000;
const PLAYERS = JSON.stringify(Array.from({ length: 50 }, (_, i) => `player ${i}`));
/** Arguments and result of each kind. */
const KINDS = {
  coinflip: { args: [], result: toWord(1n) },
  range: { args: ["1", "10"], result: toWord(7n) },
  lotto: { args: ["3", PLAYERS], result: stringToHex("Winners: player 7, player 42, player 31") },
  nDice: { args: ["6", "10"], result: stringToHex("[1,6,3,2,5,5,4,1,6,2]") },
} as const;

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
        "1 × 1: 92510 + 153857 = 246367",
        "10 × 1: 61609 + 66191 = 127800",
        "1 × 10: 9262 + 12999 = 22261",
        "1 × 14: 6647 + 9405 = 16052",
      ],
      "lotto": [
        "1 × 1: 106903 + 126645 = 233548",
        "10 × 1: 75959 + 70517 = 146475",
        "1 × 10: 26707 + 14637 = 41344",
        "1 × 14: 25944 + 10752 = 36696",
      ],
      "nDice": [
        "1 × 1: 92594 + 131507 = 224101",
        "10 × 1: 61693 + 62241 = 123934",
        "1 × 10: 9425 + 13117 = 22542",
        "1 × 14: 6789 + 9928 = 16716",
      ],
      "range": [
        "1 × 1: 92594 + 126191 = 218785",
        "10 × 1: 61693 + 63965 = 125658",
        "1 × 10: 9425 + 14667 = 24092",
        "1 × 14: 6789 + 9402 = 16191",
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
          "1 × 1: 97489 + 145312 = 242801",
          "10 × 1: 66564 + 68950 = 135514",
          "1 × 10: 9760 + 15462 = 25221",
          "1 × 14: 7003 + 9978 = 16981",
        ],
        "lotto": [
          "1 × 1: 111873 + 145715 = 257588",
          "10 × 1: 80913 + 68311 = 149224",
          "1 × 10: 26800 + 15444 = 42244",
          "1 × 14: 26011 + 11710 = 37721",
        ],
        "nDice": [
          "1 × 1: 97573 + 172796 = 270369",
          "10 × 1: 66648 + 67776 = 134424",
          "1 × 10: 9923 + 15027 = 24949",
          "1 × 14: 7144 + 10897 = 18041",
        ],
        "range": [
          "1 × 1: 97573 + 134193 = 231766",
          "10 × 1: 66648 + 69500 = 136148",
          "1 × 10: 9923 + 14909 = 24832",
          "1 × 14: 7144 + 10766 = 17909",
        ],
      }
    `);
  } finally {
    await other.stack.close();
  }
});

test("behaviour: gas per preset whose words are paid in coin", async () => {
  const other = await startWorld("v2.5", { nativePayment: true });
  try {
    expect(await tabulate(other, ["coinflip"])).toMatchInlineSnapshot(`
      {
        "coinflip": [
          "1 × 1: 98497 + 138936 = 237433",
          "10 × 1: 67570 + 66654 = 134224",
          "1 × 10: 9861 + 13169 = 23030",
          "1 × 14: 7075 + 10713 = 17788",
        ],
      }
    `);
  } finally {
    await other.stack.close();
  }
});

test.each([
  ["coinflip", 1, 1, 255_000],
  ["coinflip", 10, 1, 175_000],
  ["coinflip", 1, 10, 30_000],
  ["coinflip", 1, 14, 22_000],
  ["lotto", 1, 1, 711_976 / 2],
] as const)("behaviour: %s, %i proofs with %i presets each, takes at most %i a preset", async (...size) => {
  const [kind, proofs, presets, limit] = size;
  const gas = Number((await measure(world, kind, proofs, presets)).split("= ")[1]);
  expect(gas).toBeLessThanOrEqual(limit);
});

test("behaviour: proof and report in transactions of their own cost one transaction's gas more", async () => {
  const submitted = await submit(stack, {
    presets: [{ dapp: world.dapp, items: [{ sourceId: world.sourceId }] }],
  });
  const delivered = await deliverWords(stack, submitted);
  const reported = await deliverReports(stack, await reportOf(stack, submitted));
  expect([submitted, delivered, reported].map(({ gasUsed }) => gasUsed).join(" + ")).toMatchInlineSnapshot(
    `"92510 + 92165 + 53239"`,
  );
});

test("behaviour: contracts linked to the dapp beside ours cost functions gas, and presets none", async () => {
  const table: Record<number, string> = {};
  const data = bytesToHex(encodeFunctionsRequest({ source: "return Functions.encodeUint256(1)" }));
  const ask = (one: TestDapp) => submit(stack, { functions: [{ functionsSubId: one.functionsSubId, data }] });
  // The chain's first report writes storage that later ones only update.
  await deliverResults(stack, await ask(world.dapp));
  for (const linked of [0, 1, 10, 50, 99]) {
    const one = await provisionDapp(stack, `linked ${linked}`);
    await linkConsumers(stack, one, linked);
    const asked = await ask(one);
    const answered = await deliverResults(stack, asked);
    const coinflip = await submit(stack, { presets: [{ dapp: one, items: [{ sourceId: world.sourceId }] }] });
    table[linked] = `coinflip ${coinflip.gasUsed}, function ${asked.gasUsed} + ${answered.gasUsed}`;
  }
  expect(table).toMatchInlineSnapshot(`
    {
      "0": "coinflip 92510, function 179535 + 147364",
      "1": "coinflip 92510, function 181709 + 149514",
      "10": "coinflip 92510, function 201278 + 169095",
      "50": "coinflip 92510, function 288258 + 256084",
      "99": "coinflip 92510, function 394817 + 362639",
    }
  `);
});

test("behaviour: gas of joined words, by number of key hashes", async () => {
  expect(await tabulateJoins("v2")).toMatchInlineSnapshot(`
    {
      "coinflip, 2 keys": "194916 + 112296 + 119985 + 53239",
      "coinflip, 4 keys": "304228 + 112328 + 114752 + 117152 + 122524 + 53251",
      "random numbers, 2 keys": "169948 + 112302 + 99527",
      "random numbers, 4 keys": "279260 + 128961 + 147925 + 128231 + 102376",
    }
  `);
  expect(await tabulateJoins("v2.5")).toMatchInlineSnapshot(`
    {
      "coinflip, 2 keys": "204440 + 120716 + 128363 + 53273",
      "coinflip, 4 keys": "322910 + 120771 + 145357 + 125554 + 129270 + 53261",
      "random numbers, 2 keys": "179472 + 120728 + 107959",
      "random numbers, 4 keys": "297942 + 131801 + 128697 + 125530 + 127008",
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
      const [{ requestId, seed } = {}] = eventsOf(delivered.at(-1)!, "WordsJoined");
      const seeds = new Map([[requestId!, seed!]]);
      const reported = await deliverReports(other, await reportOf(other, coinflip, { seeds }));
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

async function startWorld(vrfVersion: VrfVersion, { nativePayment = false } = {}): Promise<World> {
  const started = await startTestStack({ pinned: true, vrfVersion, nativePayment });
  const dapp = await provisionDapp(started, "dapp");
  if (nativePayment) await fundWithCoin(started, dapp);
  const sourceId = await storeSource(started, "x".repeat(SOURCE_BYTES));
  const ready = { stack: started, dapp, sourceId };
  // A dapp's first request writes storage that later ones only update.
  await measure(ready, "coinflip", 1, 1);
  return ready;
}

async function tabulate(
  measured: World,
  kinds = Object.keys(KINDS) as readonly (keyof typeof KINDS)[],
): Promise<Record<string, readonly string[]>> {
  const table: Record<string, readonly string[]> = {};
  for (const kind of kinds) {
    table[kind] = [
      await measure(measured, kind, 1, 1),
      await measure(measured, kind, 10, 1),
      await measure(measured, kind, 1, 10),
      await measure(measured, kind, 1, 14),
    ];
  }
  return table;
}

/** Runs `proofs` times `presets` presets in two transactions and returns the gas per preset of each, and in total. */
async function measure(
  { stack, dapp, sourceId }: World,
  kind: keyof typeof KINDS,
  proofs: number,
  presets: number,
): Promise<string> {
  const batch: TestPresets = {
    dapp,
    items: Array.from({ length: presets }, () => ({ sourceId, args: KINDS[kind].args })),
  };
  const submitted = await submit(stack, { presets: Array.from({ length: proofs }, () => batch) });
  const report = await reportOf(stack, submitted, { result: KINDS[kind].result });
  const delivered = await deliverWords(stack, submitted, { reports: [report] });
  const count = proofs * presets;
  expect(eventsOf(delivered, "BatchReported")).toHaveLength(proofs);
  const gas = [submitted, delivered].map(({ gasUsed }) => Math.round(Number(gasUsed) / count));
  const all = Math.round(Number(submitted.gasUsed + delivered.gasUsed) / count);
  return `${proofs} × ${presets}: ${gas.join(" + ")} = ${all}`;
}
