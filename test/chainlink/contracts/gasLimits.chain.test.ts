import { bytesToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Receipt } from "../../../src/lib/nodeAnswers.ts";
import { encodeArgs, encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import { gasOfAdoptNodes } from "../../../src/chainlink/nodeConfig.ts";
import { encodeNodeUrls, MAX_NODE_URL_LENGTH } from "../../../src/chainlink/offchainConfig.ts";
import { deliveryGas, submissionGas } from "../../../src/chainlink/gas.ts";
import { MAX_ARGUMENT_BYTES, encodePresetBatch } from "../../../src/chainlink/presetBatch.ts";
import type { SignedReport } from "../../../src/chainlink/presetReport.ts";
import { MAX_NODES, faultyNodesOf, signaturesOf } from "../../../src/chainlink/quorum.ts";
import { VRF_VERSIONS, type VrfVersion, MAX_JOINED_KEYS } from "../../../src/domain/vocabulary.ts";
import { testAccount } from "../../support/anvil.ts";
import {
  encodeSubmission,
  linkConsumers,
  provisionDapp,
  storeSource,
  submit,
  submitJoined,
  type TestDapp,
  type TestSubmission,
} from "../../support/consumer.ts";
import { deliver, deliverWords, eventsOf, reportOf } from "../../support/delivery.ts";
import { adoptNodes, configureNodes, nodeConfig } from "../../support/nodes.ts";
import { TEST_ROLES, startTestStack, type TestStack } from "../../support/stack.ts";

describe.each(VRF_VERSIONS)("%s", (vrfVersion: VrfVersion) => {
  let stack: TestStack;
  let dapp: TestDapp;
  let sourceId: number;
  let dapps = 0;
  beforeAll(async () => {
    stack = await startTestStack({ vrfVersion, vrfKeys: MAX_JOINED_KEYS });
    dapp = await provisionDapp(stack, "dapp");
    sourceId = await storeSource(stack, "return bytesArgs[0]");
  });
  afterAll(() => stack.close());

  describe("in a submission", () => {
    const SUBMISSIONS: readonly [string, () => Promise<TestSubmission & { readonly gas: bigint }>][] = [
      ["one short batch", async () => sized({ batches: 1, argsBytes: 0 })],
      ["one long batch", async () => sized({ batches: 1, argsBytes: 20_000 })],
      ["the longest batch", async () => sized({ batches: 1, argsBytes: MAX_ARGUMENT_BYTES - 4 })],
      ["fifty batches", async () => sized({ batches: 50, argsBytes: 5 })],
      ["a function", async () => sized({ functions: 1, sourceBytes: 10 })],
      ["a long function", async () => sized({ functions: 1, sourceBytes: 30_000 })],
      ["thirty functions", async () => sized({ functions: 30, sourceBytes: 1_000 })],
      ["words", async () => sized({ randoms: 1 })],
      ["a hundred times words", async () => sized({ randoms: 100 })],
      ["a batch with a short label", async () => sized({ batches: 1, argsBytes: 0, labels: [1] })],
      [
        "a hundred labels",
        async () => sized({ randoms: 100, labels: Array.from({ length: 100 }, () => 130) }),
      ],
      ["the longest label", async () => sized({ randoms: 1, labels: [500] })],
      [
        "some of each",
        async () => sized({ batches: 3, argsBytes: 300, functions: 3, sourceBytes: 2_000, randoms: 3 }),
      ],
    ];

    test.each(SUBMISSIONS)("submissionGas is enough for %s, and not twice as much", async (_, make) => {
      const { gas, ...submission } = await make();
      const receipt = await submit(stack, submission, { gas });
      expect(eventsOf(receipt, "Accepted").length).toBe(entriesOf(submission));
      expect(Number(gas)).toBeLessThan(2 * Number(receipt.gasUsed));
    });

    test.each(SUBMISSIONS)("an estimate of gas is right for %s", async (_, make) => {
      const submission = await make();
      const gas = await stack.viem.estimateGas({
        account: TEST_ROLES.operator.address,
        to: stack.addresses.presetConsumer,
        data: encodeSubmission(submission),
      });
      expect(eventsOf(await submit(stack, submission, { gas }), "Accepted").length).toBe(
        entriesOf(submission),
      );
    });

    test.each([
      { keys: 2, argsBytes: undefined },
      { keys: MAX_JOINED_KEYS, argsBytes: undefined },
      { keys: MAX_JOINED_KEYS, argsBytes: 0 },
      { keys: MAX_JOINED_KEYS, argsBytes: MAX_ARGUMENT_BYTES - 4 },
    ])("submissionGas is enough for a join: $keys keys, arguments of $argsBytes", async (size) => {
      const { keys, argsBytes } = size;
      const joined = await provisionDapp(stack, `dapp ${++dapps}`);
      const args = argsBytes ? ["y".repeat(argsBytes)] : [];
      const items = argsBytes === undefined ? [] : [{ sourceId, args }];
      const batchBytes =
        argsBytes === undefined
          ? []
          : [encodePresetBatch([{ sourceId, args: encodeArgs(args) }]).length / 2 - 1];
      const gas = submissionGas({
        batchBytes,
        functionBytes: [],
        subscriptions: [],
        randoms: 0,
        joins: [keys],
      });
      const receipt = await submitJoined(stack, [{ dapp: joined, keys, items }], { gas });
      expect(eventsOf(receipt, "Joining")).toHaveLength(1);
      expect(Number(gas)).toBeLessThan(2 * Number(receipt.gasUsed));
    });

    test("too little gas undoes everything", async () => {
      const submission = await sized({
        batches: 2,
        argsBytes: 0,
        functions: 2,
        sourceBytes: 100,
        randoms: 2,
      });
      const { gasUsed } = await submit(stack, submission);
      for (const part of [20n, 40n, 60n, 70n, 80n, 90n, 95n]) {
        const receipt = await submit(stack, submission, { gas: (gasUsed * part) / 100n });
        expect([receipt.succeeded, receipt.logs.length]).toEqual([false, 0]);
      }
    });
  });

  describe("in a delivery", () => {
    test.each([
      { reports: 1, batches: 1, items: 1, bytes: 0 },
      { reports: 1, batches: 1, items: 1, bytes: 32 },
      { reports: 1, batches: 1, items: 100, bytes: 32 },
      { reports: 1, batches: 1, items: 1, bytes: 32_767 },
      { reports: 1, batches: 20, items: 1, bytes: 32 },
      { reports: 5, batches: 1, items: 1, bytes: 0 },
    ])(
      "deliveryGas is enough for $reports reports of $batches batches of $items results of $bytes bytes, and not twice as much",
      async ({ reports: count, batches, items, bytes }) => {
        const reports: SignedReport[] = [];
        for (let i = 0; i < count; i += 1)
          reports.push(await reportOf(stack, await ready(batches, items), { result: resultOf(bytes) }));
        const gas = deliveryGas(reports);
        const delivered = await deliver(stack, { reports, gas });
        expect(eventsOf(delivered, "BatchReported")).toHaveLength(count * batches);
        expect(Number(gas)).toBeLessThan(2 * Number(delivered.gasUsed));
      },
    );

    test("deliveryGas is enough for proofs and their report together", async () => {
      const batch = { dapp, items: [{ sourceId }] };
      const submitted = await submit(stack, { presets: Array.from({ length: 10 }, () => batch) });
      const report = await reportOf(stack, submitted);
      // The gas with which the oracle calls the batch coordinator for ten proofs.
      const fulfilment = 60_000n + 10n * 450_000n;
      const gas = deliveryGas([report], fulfilment);
      const delivered = await deliverWords(stack, submitted, { reports: [report], gas });
      expect(eventsOf(delivered, "BatchReported")).toHaveLength(10);
    });

    test("the gas limits of adoption and delivery are enough for 31 nodes, and not twice as much", async () => {
      const nodes = Array.from({ length: MAX_NODES }, (_, i) => testAccount(100 + i));
      const urls = nodes.map(() => "u".repeat(MAX_NODE_URL_LENGTH));
      const digest: Hex = `0x${"ab".repeat(32)}`;
      const formerKey = { configDigest: digest, blockNumber: Number.MAX_SAFE_INTEGER, keyHash: digest };
      const config = nodeConfig(nodes, encodeNodeUrls(urls, formerKey));
      await configureNodes(stack, config);
      const adoptionGas = gasOfAdoptNodes(MAX_NODES);
      const adopted = await adoptNodes(stack, config, { gas: adoptionGas });
      expect(eventsOf(adopted, "NodesAdopted")).toHaveLength(1);
      expect(Number(adoptionGas)).toBeLessThan(2 * Number(adopted.gasUsed));

      const signers = Array.from({ length: signaturesOf(MAX_NODES, faultyNodesOf(MAX_NODES)) }, (_, i) => i);
      const report = await reportOf(stack, await ready(1, 1), { nodes, signers });
      const gas = deliveryGas([report]);
      const delivered = await deliver(stack, { reports: [report], gas });
      expect(eventsOf(delivered, "BatchReported")).toHaveLength(1);
      expect(Number(gas)).toBeLessThan(2 * Number(delivered.gasUsed));
    });
  });

  /** Submits equal batches and delivers their words. */
  async function ready(batches: number, items: number): Promise<Receipt> {
    const batch = { dapp, items: Array.from({ length: items }, () => ({ sourceId })) };
    const submitted = await submit(stack, { presets: Array.from({ length: batches }, () => batch) });
    await deliverWords(stack, submitted);
    return submitted;
  }

  const resultOf = (bytes: number): Hex => `0x${"ab".repeat(bytes)}`;

  /** Returns a submission of the given number of entries, all on unused subscriptions, and its submissionGas. */
  async function sized({
    batches = 0,
    argsBytes = 0,
    functions = 0,
    sourceBytes = 0,
    randoms = 0,
    linked = 0,
    labels = [] as readonly number[],
  }): Promise<TestSubmission & { readonly gas: bigint }> {
    const dapp = await provisionDapp(stack, `dapp ${++dapps}`, { functionsJuels: 10_000n * 10n ** 18n });
    await linkConsumers(stack, dapp, linked);
    const items = [{ sourceId: 1, args: argsBytes === 0 ? [] : ["y".repeat(argsBytes)] }];
    const batch = encodePresetBatch(
      items.map(({ sourceId, args }) => ({ sourceId, args: encodeArgs(args) })),
    );
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
        labelBytes: labels,
      }),
      labels: labels.map((bytes, i) => ({
        index: BigInt(i),
        item: 0n,
        dapp: "",
        text: "é".repeat(bytes / 2) + "x".repeat(bytes % 2),
      })),
    };
  }
});

function entriesOf({ presets = [], functions = [], randoms = [] }: TestSubmission): number {
  return presets.length + functions.length + randoms.length;
}
