import { encodeFunctionData } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { subscriptionOwnerAbi, vrfCoordinatorAbi } from "../../src/chainlink/contracts/abi.ts";
import { readUsage } from "../../src/requests/read/usageReport.ts";
import { findCallbackFailures } from "../../src/store/failedCallbacks.ts";
import { testAccount } from "../support/anvil.ts";
import { eventsOf } from "../support/delivery.ts";
import { DESK_DAPP, DESK_NETWORK, startPipelineWorld, type PipelineWorld } from "../support/pipelineWorld.ts";
import { TEST_PROVING_KEY, TEST_ROLES } from "../support/stack.ts";

const AT = Date.UTC(2026, 10, 22);

let world: PipelineWorld;
let pipeline: Awaited<ReturnType<PipelineWorld["open"]>>;
beforeAll(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open();
  await world.storeSource(pipeline.pipeline);
});
afterAll(async () => {
  await pipeline.close();
  await world.close();
});

test("what requests cost is what the chain's events and receipts say", async () => {
  const kinds = ["preset", "preset", "preset", "function", "random"] as const;
  const requests = await Promise.all(kinds.map((kind) => pipeline.accept(kind, { createdAt: AT })));
  const ended = await Promise.all(requests.map(({ id }) => pipeline.ended(id)));
  expect(ended.map(({ state }) => state)).toEqual(kinds.map(() => "fulfilled"));

  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, one) => total + one, 0n);
  const words = (await world.events("RandomWordsFulfilled")).map(({ paymentJuels }) => paymentJuels);
  const results = (await world.events("RequestProcessed")).map(({ totalCostJuels }) => totalCostJuels);
  const hashes = new Set(ended.flatMap(({ progress }) => progress.transactionHashes ?? []));
  const receipts = await Promise.all([...hashes].map((hash) => pipeline.client.getReceipt(hash)));
  const gasUsed = sum(receipts.map((receipt) => receipt?.gasUsed ?? 0n));
  // A receipt may be stored after the logs of later blocks.
  await vi.waitFor(
    async () => {
      const report = await readUsage(pipeline.store.db, DESK_DAPP, { from: "2026-11-22", to: "2026-11-22" });
      expect(sum(report.items.map((day) => BigInt(day.gasUsed)))).toBe(gasUsed);
      expect(sum(report.items.map((day) => BigInt(day.linkJuels)))).toBe(sum([...words, ...results]));
      expect(report.items).toHaveLength(1);
      expect(report.items[0]).toMatchObject({
        requests: { preset: 3, function: 1, random: 1 },
        fulfilled: 5,
        failed: 0,
        words: 3 + (ended[4]!.params as { numWords: number }).numWords,
      });
    },
    { timeout: 60_000 },
  );
});

test("records why the callback of a caller's own contract failed", async () => {
  const { stack } = world;
  const { vrfSubscriptionId, functionsSubscriptionId } =
    await pipeline.pipeline.subscriptions.ensure(DESK_DAPP);
  const consumer = testAccount(6);
  await stack.send(TEST_ROLES.operator, {
    to: stack.addresses.subscriptionOwner,
    data: encodeFunctionData({
      abi: subscriptionOwnerAbi,
      functionName: "addConsumer",
      args: [vrfSubscriptionId, functionsSubscriptionId, consumer.address],
    }),
  });
  world.stopOracle();
  const asked = await stack.send(consumer, {
    to: stack.addresses.vrfCoordinator,
    data: encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "requestRandomWords",
      args: [TEST_PROVING_KEY.keyHash, vrfSubscriptionId, 1, 20_000, 1],
    }),
  });
  // The account becomes a contract that loops: JUMPDEST, jump back.
  await stack.viem.setCode({ address: consumer.address, bytecode: "0x5b600056" });
  world.startOracle();
  const { requestId } = eventsOf(asked, "RandomWordsRequested")[0]!;
  await vi.waitFor(
    async () =>
      expect(await findCallbackFailures(pipeline.store.db, DESK_NETWORK, [requestId])).toMatchObject([
        { requestId, reason: "out of gas: all of its 20000 gas was used" },
      ]),
    { timeout: 60_000 },
  );
});
