import { bytesToHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  encodeArgs,
  encodeFunctionsRequest,
  encodeSourcePrefix,
} from "../../../src/chainlink/functionsRequest.ts";
import { MAX_VRF_CALLBACK_GAS } from "../../../src/chainlink/limits.ts";
import {
  encodePresetBatch,
  maxPresetsPerBatch,
  presetCallbackGas,
  submissionGas,
} from "../../../src/chainlink/presetBatch.ts";
import { decodeRevertReason } from "../../../src/chainlink/revertReason.ts";
import {
  encodeSubmission,
  linkConsumers,
  provisionDapp,
  storeSource,
  submit,
  type TestSubmission,
} from "../../support/consumer.ts";
import { deliverWords, eventsOf } from "../../support/delivery.ts";
import { TEST_ROLES, startTestStack, type TestStack } from "../../support/stack.ts";

/** Bytes that the key, the word and so on add to source and arguments. */
const REQUEST_OVERHEAD_BYTES = encodeSourcePrefix("").length + 45;

let stack: TestStack;
const sources = new Map<number, number>();
let dapps = 0;
beforeAll(async () => {
  stack = await startTestStack();
  for (const bytes of [100, 1_000, 5_000, 24_000]) {
    sources.set(bytes, await storeSource(stack, "x".repeat(bytes)));
  }
});
afterAll(() => stack.close());

describe("in the callback", () => {
  test.each([
    [100, 1, 0],
    [1_000, 1, 0],
    [5_000, 1, 0],
    [24_000, 1, 0],
    [24_000, 2, 0],
    [100, 1, 5_000],
    [100, 1, 20_000],
    [1_000, 10, 20],
  ])(
    "behaviour: presetCallbackGas is enough: source of %i bytes, %i items, arguments of %i",
    async (...size) => {
      const { sent, refused } = await run(...size);
      expect([sent, refused.length]).toEqual([size[1], 0]);
    },
  );

  test.each([0, 1, 10, 50, 99])(
    "behaviour: presetCallbackGas is enough with %i contracts linked beside ours, for one item and for ten",
    async (linked) => {
      for (const items of [1, 10]) {
        const { sent, refused } = await run(100, items, 0, { linked });
        expect([sent, refused.length]).toEqual([items, 0]);
      }
    },
  );

  test.each([100, 1_000, 5_000])("behaviour: maxPresetsPerBatch fits: source of %i bytes", async (bytes) => {
    const items = maxPresetsPerBatch(bytes + REQUEST_OVERHEAD_BYTES, 0);
    expect(items).toBeGreaterThanOrEqual({ 100: 20, 1_000: 17, 5_000: 10 }[bytes]!);
    const { sent, refused, gas } = await run(bytes, items, 0);
    expect([sent, refused.length]).toEqual([items, 0]);
    expect(gas).toBeLessThanOrEqual(MAX_VRF_CALLBACK_GAS);
  });

  test.each([260_000, 320_000, 400_000, 500_000, 700_000, 900_000])(
    "behaviour: with %i gas for ten items, the last are refused and say so, the first are sent",
    async (gas) => {
      const { sent, refused, success } = await run(1_000, 10, 0, { limit: gas });
      expect(success).toBe(true);
      expect(sent).toBeGreaterThan(0);
      expect(refused).toEqual(Array.from({ length: 10 - sent }, (_, i) => [sent + i, "InsufficientGas()"]));
    },
  );

  test.each([80_000, 120_000, 200_000])(
    "behaviour: with %i gas, too little for any, all say so",
    async (gas) => {
      const { sent, refused, success } = await run(1_000, 10, 0, { limit: gas });
      expect([sent, refused.length, success]).toEqual([0, 10, true]);
    },
  );

  test("behaviour: a batch too long for any gas is refused item by item", async () => {
    const { sent, refused, success } = await run(100, 400, 0, { limit: MAX_VRF_CALLBACK_GAS });
    expect([sent, refused.length, success]).toEqual([0, 400, true]);
  });

  test("behaviour: the longest source does not starve its neighbours of their events", async () => {
    const dapp = await provisionDapp(stack, "mixed");
    const items = [100, 24_000, 100, 24_000, 24_000, 24_000, 100].map((bytes) => ({
      sourceId: sources.get(bytes)!,
    }));
    const delivered = await deliverWords(stack, await submit(stack, { presets: [{ dapp, items }] }));
    expect(eventsOf(delivered, "RandomWordsFulfilled")).toMatchObject([{ success: true }]);
    const sent = eventsOf(delivered, "PresetSent").map(({ item }) => item);
    const refused = eventsOf(delivered, "PresetRefused").map(({ item }) => item);
    expect([...sent, ...refused].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(sent.slice(0, 4)).toEqual([0, 1, 2, 3]);
  });

  test("error: a limit that does not even do for the first look ends in the coordinator's event", async () => {
    const { sent, refused, success } = await run(100, 1, 0, { limit: 3_000 });
    expect([sent, refused.length, success]).toEqual([0, 0, false]);
  });
});

describe("in a submission", () => {
  const SUBMISSIONS: readonly [string, () => Promise<TestSubmission & { readonly gas: bigint }>][] = [
    ["one short batch", async () => sized({ batches: 1, argsBytes: 0 })],
    ["one batch in three words", async () => sized({ batches: 1, argsBytes: 80 })],
    ["one batch in code", async () => sized({ batches: 1, argsBytes: 20_000 })],
    ["fifty batches", async () => sized({ batches: 50, argsBytes: 5 })],
    ["a function", async () => sized({ functions: 1, sourceBytes: 10 })],
    ["a long function", async () => sized({ functions: 1, sourceBytes: 30_000 })],
    ["thirty functions", async () => sized({ functions: 30, sourceBytes: 1_000 })],
    ["words", async () => sized({ randoms: 1 })],
    ["a hundred times words", async () => sized({ randoms: 100 })],
    [
      "some of each",
      async () => sized({ batches: 3, argsBytes: 300, functions: 3, sourceBytes: 2_000, randoms: 3 }),
    ],
  ];

  test.each(SUBMISSIONS)(
    "behaviour: submissionGas is enough for %s, and not three times as much",
    async (_, make) => {
      const { gas, ...submission } = await make();
      const receipt = await submit(stack, submission, { gas });
      expect(eventsOf(receipt, "Accepted").length).toBe(entriesOf(submission));
      expect(Number(gas)).toBeLessThan(3 * Number(receipt.gasUsed));
    },
  );

  test.each(SUBMISSIONS)("behaviour: an estimate of gas is right for %s", async (_, make) => {
    const submission = await make();
    const gas = await stack.viem.estimateGas({
      account: TEST_ROLES.operator.address,
      to: stack.addresses.presetConsumer,
      data: encodeSubmission(submission),
    });
    expect(eventsOf(await submit(stack, submission, { gas }), "Accepted").length).toBe(entriesOf(submission));
  });

  test("error: too little gas undoes everything", async () => {
    const submission = await sized({ batches: 2, argsBytes: 0, functions: 2, sourceBytes: 100, randoms: 2 });
    const { gasUsed } = await submit(stack, submission);
    for (const part of [20n, 40n, 60n, 70n, 80n, 90n, 95n]) {
      const receipt = await submit(stack, submission, { gas: (gasUsed * part) / 100n });
      expect([receipt.succeeded, receipt.logs.length]).toEqual([false, 0]);
    }
  });
});

/** Runs a batch of equal presets on an unused subscription, by default with the gas of presetCallbackGas. */
async function run(
  sourceBytes: number,
  items: number,
  argsBytes: number,
  { limit, linked = 0 }: { readonly limit?: number; readonly linked?: number } = {},
) {
  const dapp = await provisionDapp(stack, `dapp ${++dapps}`, { functionsJuels: 10_000n * 10n ** 18n });
  await linkConsumers(stack, dapp, linked);
  const args = argsBytes === 0 ? [] : ["y".repeat(argsBytes)];
  const requestBytes =
    sourceBytes + REQUEST_OVERHEAD_BYTES + (argsBytes === 0 ? 0 : 5 + encodeArgs(args).length);
  const gas =
    limit ??
    presetCallbackGas(
      Array.from({ length: items }, () => requestBytes),
      linked,
    );
  const submitted = await submit(stack, {
    presets: [
      {
        dapp,
        items: Array.from({ length: items }, () => ({ sourceId: sources.get(sourceBytes)!, args })),
        callbackGasLimit: gas,
      },
    ],
  });
  const delivered = await deliverWords(stack, submitted);
  return {
    gas,
    success: eventsOf(delivered, "RandomWordsFulfilled")[0]!.success,
    sent: eventsOf(delivered, "PresetSent").length,
    refused: eventsOf(delivered, "PresetRefused").map(({ item, reason }) => [
      item,
      decodeRevertReason(reason).text,
    ]),
  };
}

/** Returns a submission of the given number of entries, all on unused subscriptions, and its submissionGas. */
async function sized({
  batches = 0,
  argsBytes = 0,
  functions = 0,
  sourceBytes = 0,
  randoms = 0,
  linked = 0,
}): Promise<TestSubmission & { readonly gas: bigint }> {
  const dapp = await provisionDapp(stack, `dapp ${++dapps}`, { functionsJuels: 10_000n * 10n ** 18n });
  await linkConsumers(stack, dapp, linked);
  const items = [{ sourceId: 1, args: argsBytes === 0 ? [] : ["y".repeat(argsBytes)] }];
  const batch = encodePresetBatch({
    functionsSubId: dapp.functionsSubId,
    items: items.map(({ sourceId, args }) => ({ sourceId, args: encodeArgs(args) })),
  });
  const data = bytesToHex(encodeFunctionsRequest({ source: "x".repeat(sourceBytes) }));
  return {
    presets: Array.from({ length: batches }, () => ({ dapp, items })),
    functions: Array.from({ length: functions }, () => ({ functionsSubId: dapp.functionsSubId, data })),
    randoms: Array.from({ length: randoms }, () => ({ vrfSubId: dapp.vrfSubId, numWords: 1 })),
    gas: submissionGas({
      batchBytes: Array.from({ length: batches }, () => batch.length / 2 - 1),
      functionBytes: Array.from({ length: functions }, () => data.length / 2 - 1),
      subscriptions: functions > 0 ? [{ linked, requests: functions }] : [],
      randoms,
    }),
  };
}

function entriesOf({ presets = [], functions = [], randoms = [] }: TestSubmission): number {
  return presets.length + functions.length + randoms.length;
}
