/**
 * Gas per preset, exact to the unit. Block hashes are pinned, and thus seeds and proofs: the number of times that hashing to the curve has
 * to start over changes a fulfillment by some 10,000 gas.
 */
import type { DrandRound } from "../../../src/beacon/drand.ts";
import { QUICKNET_HASH } from "../../support/drandRelay.ts";
import { bytesToHex, stringToHex, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Receipt } from "../../../src/lib/nodeAnswers.ts";
import { CALL_GAS } from "../../../src/chainlink/callGas.ts";
import type { VrfVersion } from "../../../src/domain/vocabulary.ts";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import { encodeResults } from "../../../src/chainlink/presetReport.ts";
import { fromHexText, toHexText } from "../../../src/lib/hex.ts";
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
  type TestSubmission,
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

test("gas per preset by kind, number of proofs, and presets on each", async () => {
  expect(await tabulate(world)).toMatchInlineSnapshot(`
    {
      "coinflip": [
        "1 × 1: 93145 + 126165 = 219310",
        "10 × 1: 61672 + 67294 = 128967",
        "1 × 10: 9325 + 14105 = 23431",
        "1 × 14: 6693 + 10986 = 17678",
      ],
      "lotto": [
        "1 × 1: 107526 + 137738 = 245264",
        "10 × 1: 76021 + 65562 = 141583",
        "1 × 10: 26777 + 13536 = 40313",
        "1 × 14: 25994 + 9958 = 35953",
      ],
      "nDice": [
        "1 × 1: 93229 + 131549 = 224778",
        "10 × 1: 61756 + 67217 = 128974",
        "1 × 10: 9488 + 13672 = 23159",
        "1 × 14: 6833 + 10716 = 17549",
      ],
      "range": [
        "1 × 1: 93229 + 126137 = 219366",
        "10 × 1: 61756 + 66197 = 127954",
        "1 × 10: 9488 + 14107 = 23595",
        "1 × 14: 6833 + 9407 = 16240",
      ],
    }
  `);
});

test("gas per preset on VRF v2.5", async () => {
  const other = await startWorld("v2.5");
  try {
    expect(await tabulate(other)).toMatchInlineSnapshot(`
      {
        "coinflip": [
          "1 × 1: 98102 + 134183 = 232285",
          "10 × 1: 66625 + 70055 = 136680",
          "1 × 10: 9821 + 14355 = 24176",
          "1 × 14: 7047 + 10770 = 17817",
        ],
        "lotto": [
          "1 × 1: 112474 + 134690 = 247164",
          "10 × 1: 80973 + 72738 = 153711",
          "1 × 10: 26870 + 14336 = 41206",
          "1 × 14: 26061 + 10531 = 36592",
        ],
        "nDice": [
          "1 × 1: 98186 + 134039 = 232225",
          "10 × 1: 66709 + 72215 = 138924",
          "1 × 10: 9983 + 16134 = 26117",
          "1 × 14: 7186 + 11297 = 18483",
        ],
        "range": [
          "1 × 1: 98186 + 139736 = 237922",
          "10 × 1: 66709 + 72811 = 139520",
          "1 × 10: 9983 + 14351 = 24334",
          "1 × 14: 7186 + 11164 = 18351",
        ],
      }
    `);
  } finally {
    await other.stack.close();
  }
});

test("gas per preset whose words are paid in coin", async () => {
  const other = await startWorld("v2.5", { nativePayment: true });
  try {
    expect(await tabulate(other, ["coinflip"])).toMatchInlineSnapshot(`
      {
        "coinflip": [
          "1 × 1: 99110 + 138965 = 238075",
          "10 × 1: 67631 + 68885 = 136517",
          "1 × 10: 9922 + 13166 = 23087",
          "1 × 14: 7119 + 9526 = 16645",
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
] as const)("%s, %i proofs with %i presets each, takes at most %i a preset", async (...size) => {
  const [kind, proofs, presets, limit] = size;
  const gas = Number((await measure(world, kind, proofs, presets)).split("= ")[1]);
  expect(gas).toBeLessThanOrEqual(limit);
});

test("gas of a label, by its characters", async () => {
  const presets = [{ dapp: world.dapp, items: [{ sourceId: world.sourceId }] }];
  const bare = await submit(stack, { presets });
  const table: Record<number, string> = {};
  for (const characters of [1, 17, 100]) {
    const text = "x".repeat(characters);
    const labels = [{ index: 0n, item: 0n, dapp: "dapp_01m8cwtr88ae2zgvypf56ae1r9", text }];
    table[characters] = `${(await submit(stack, { presets, labels })).gasUsed - bare.gasUsed}`;
  }
  expect(table).toMatchInlineSnapshot(`
    {
      "1": "6847",
      "100": "9242",
      "17": "7039",
    }
  `);
});

test("proof and report in transactions of their own cost one transaction's gas more", async () => {
  const submitted = await submit(stack, {
    presets: [{ dapp: world.dapp, items: [{ sourceId: world.sourceId }] }],
  });
  const delivered = await deliverWords(stack, submitted);
  const reported = await deliverReports(stack, await reportOf(stack, submitted));
  expect([submitted, delivered, reported].map(({ gasUsed }) => gasUsed).join(" + ")).toMatchInlineSnapshot(
    `"93145 + 92137 + 53239"`,
  );
});

test("contracts linked to the dapp beside ours cost functions gas, and presets none", async () => {
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
      "0": "coinflip 93145, function 180170 + 147388",
      "1": "coinflip 93145, function 182344 + 149514",
      "10": "coinflip 93145, function 201913 + 169107",
      "50": "coinflip 93145, function 288893 + 256084",
      "99": "coinflip 93145, function 395452 + 362651",
    }
  `);
});

test("gas of joined words, by number of key hashes", async () => {
  expect(await tabulateJoins("v2")).toMatchInlineSnapshot(`
    {
      "coinflip, 2 keys": "195543 + 162143 + 119945 + 53239",
      "coinflip, 4 keys": "304843 + 123403 + 114742 + 117134 + 122539 + 53251",
      "random numbers, 2 keys": "170575 + 112326 + 99557",
      "random numbers, 4 keys": "279887 + 112296 + 125811 + 166885 + 102385",
    }
  `);
  expect(await tabulateJoins("v2.5")).toMatchInlineSnapshot(`
    {
      "coinflip, 2 keys": "205067 + 126293 + 128394 + 53273",
      "coinflip, 4 keys": "323525 + 120781 + 123132 + 125581 + 138123 + 53273",
      "random numbers, 2 keys": "180099 + 120733 + 119025",
      "random numbers, 4 keys": "298569 + 126257 + 123144 + 131107 + 109097",
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

test("gas of each preset alone, and what a label and a round of drand add to its request and report", async () => {
  const beacon = { round: 10_000_000n, chainHash: QUICKNET_HASH };
  const table: Record<string, string> = {};
  for (const [kind, { args, result }] of Object.entries(KINDS)) {
    const preset = { dapp: world.dapp, items: [{ sourceId: world.sourceId, args }] };
    const labels = [
      { index: 0n, item: 0n, dapp: "dapp_01m8cwtr88ae2zgvypf56ae1r9", text: "raffle-2026-12-24" },
    ];
    const plain = await submit(stack, { presets: [preset] });
    const labelled = await submit(stack, { presets: [preset], labels });
    const waiting = await submit(stack, { presets: [{ ...preset, beacon }] });
    const reportGas = async (asked: Receipt, ...results: readonly Hex[]): Promise<bigint> => {
      await deliverWords(stack, asked);
      const packed = toHexText(encodeResults(results.map((one) => ({ ok: true, bytes: fromHexText(one) }))));
      return (await deliverReports(stack, await reportOf(stack, asked, { packed }))).gasUsed;
    };
    const report = await reportGas(plain, result);
    const [label, round] = [labelled, waiting].map(({ gasUsed }) => gasUsed - plain.gasUsed);
    const signature = (await reportGas(waiting, result, `0x${"b4".repeat(48)}`)) - report;
    table[kind] = `${plain.gasUsed} + ${report}, label ${label}, round ${round} + ${signature}`;
  }
  expect(table).toMatchInlineSnapshot(`
    {
      "coinflip": "93145 + 53239, label 7039, round 828 + 963",
      "lotto": "107526 + 53683, label 7005, round 1230 + 999",
      "nDice": "93229 + 53091, label 7039, round 828 + 1375",
      "range": "93229 + 53203, label 7039, round 828 + 1035",
    }
  `);
});

test("gas of a function alone, and what a label and a round of drand add to its request and report", async () => {
  const other = await startWorld("v2");
  const source = "return Functions.encodeUint256(1)";
  const dapp = "dapp_01m8cwtr88ae2zgvypf56ae1r9";
  /** Runs a function to the end: an unanswered request makes the next one cheaper. */
  const run = async (more: Pick<TestSubmission, "labels"> = {}, beacon?: DrandRound) => {
    const data = bytesToHex(encodeFunctionsRequest({ source, beacon }));
    const functions = [{ functionsSubId: other.dapp.functionsSubId, data }];
    const asked = await submit(other.stack, { functions, ...more });
    const beaconSignature = beacon === undefined ? "0x" : (`0x${"b4".repeat(48)}` as const);
    const answered = await deliverResults(other.stack, asked, { beaconSignature });
    return [asked.gasUsed, answered.gasUsed] as const;
  };
  try {
    // The first one writes storage that later ones only update.
    await run();
    const [request, report] = await run();
    const [labelled] = await run({ labels: [{ index: 0n, item: 0n, dapp, text: "raffle-2026-12-24" }] });
    const [waiting, answered] = await run({}, { round: 10_000_000n, chainHash: QUICKNET_HASH });
    const round = `round ${waiting - request} + ${answered - report}`;
    expect(`${request} + ${report}, label ${labelled - request}, ${round}`).toMatchInlineSnapshot(
      `"180170 + 147364, label 7026, round 1343 + 889"`,
    );
  } finally {
    await other.stack.close();
  }
});

test("gas of calls as `tyche network cost` has it: the mean of eight, whose proofs take more or fewer tries", async () => {
  const other = await startWorld("v2");
  const { vrfSubId, functionsSubId } = other.dapp;
  const data = bytesToHex(encodeFunctionsRequest({ source: "return Functions.encodeUint256(1)" }));
  const totalOf = async (...size: [keyof typeof KINDS, number, number]): Promise<number> =>
    Number((await measure(other, ...size)).split("= ")[1]);
  const answered = async (asked: Receipt, answer: (asked: Receipt) => Promise<Receipt>): Promise<number> =>
    Number(asked.gasUsed + (await answer(asked)).gasUsed);
  const calls: Readonly<Record<keyof typeof CALL_GAS, () => Promise<number>>> = {
    "a coinflip alone": () => totalOf("coinflip", 1, 1),
    "a coinflip, one of ten on a proof": () => totalOf("coinflip", 1, 10),
    "a lotto of 50 alone": () => totalOf("lotto", 1, 1),
    "a random number": async () =>
      answered(await submit(other.stack, { randoms: [{ vrfSubId, numWords: 1 }] }), (asked) =>
        deliverWords(other.stack, asked),
      ),
    "a function": async () =>
      answered(await submit(other.stack, { functions: [{ functionsSubId, data }] }), (asked) =>
        deliverResults(other.stack, asked),
      ),
  };
  try {
    // The chain's first report writes storage that later ones only update.
    await calls["a function"]();
    const means: Record<string, bigint> = {};
    for (const [what, call] of Object.entries(calls)) {
      let total = 0;
      for (let i = 0; i < 8; i++) total += await call();
      means[what] = BigInt(Math.round(total / 8));
    }
    expect(CALL_GAS).toEqual(means);
  } finally {
    await other.stack.close();
  }
});
