import { encodeFunctionData } from "viem";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { vrfCoordinatorAbi } from "../../src/chainlink/contracts/abi.ts";
import { saveSubscription } from "../../src/store/chainRecords.ts";
import { deleteDapp, insertDapp } from "../../src/store/dapps.ts";
import { dayOf, listToppedUp } from "../../src/store/usage.ts";
import {
  DESK_DAPP,
  DESK_NETWORK,
  startPipelineWorld,
  type PipelineWorld,
  type OpenPipeline,
} from "../support/pipelineWorld.ts";
import { testAccount } from "../support/anvil.ts";
import { deliverWords } from "../support/delivery.ts";
import { first } from "../support/faultyNode.ts";
import { TEST_PROVING_KEY } from "../support/stack.ts";

let world: PipelineWorld;
let pipeline: OpenPipeline;
const ALLOWANCE = 6n * 10n ** 17n;

beforeEach(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open({ allowanceJuels: ALLOWANCE });
});
afterEach(async () => {
  await pipeline.close();
  await world.close();
});

const balance = async () => {
  const subscription = await pipeline.pipeline.subscriptions.ensure("dapp_test");
  return (await pipeline.pipeline.subscriptions.readBalances(subscription)).vrfJuels;
};
/** Each request costs a fee of 0.25 LINK plus its gas. */
const spend = async () => {
  await pipeline.ended((await pipeline.accept("random")).id);
  await pipeline.ended((await pipeline.accept("random")).id);
};

test("a subscription that falls below half is filled up", async () => {
  await spend();
  await vi.waitFor(async () => expect(await balance()).toBe(ALLOWANCE));
});

test("a charge that comes after the last look at the balance is followed by another look", async () => {
  await pipeline.ended((await pipeline.accept("random")).id);
  world.stopOracle();
  const request = await pipeline.accept("random");
  await vi.waitFor(() => expect(request.progress.acceptedBlock).toBeDefined());
  await pipeline.pipeline.subscriptions.topUp();
  world.startOracle();
  await pipeline.ended(request.id);
  await vi.waitFor(async () => expect(await balance()).toBe(ALLOWANCE));
});

test("what a dapp's own contract is charged is topped up, too", async () => {
  const { stack } = world;
  const { vrfSubscriptionId } = await pipeline.pipeline.subscriptions.ensure(DESK_DAPP);
  const consumer = testAccount(6);
  const link = { params: { dappId: DESK_DAPP, consumer: consumer.address } };
  await pipeline.ended((await pipeline.accept("consumer", link)).id);
  world.stopOracle();
  for (let i = 0; i < 2; i += 1) {
    const asked = await stack.send(consumer, {
      to: stack.addresses.vrfCoordinator,
      data: encodeFunctionData({
        abi: vrfCoordinatorAbi,
        functionName: "requestRandomWords",
        args: [TEST_PROVING_KEY.keyHash, vrfSubscriptionId, 1, 100_000, 1],
      }),
    });
    // An account without code takes no words.
    await stack.viem.setCode({ address: consumer.address, bytecode: "0x00" });
    await deliverWords(stack, asked);
    await stack.viem.setCode({ address: consumer.address, bytecode: "0x" });
  }
  await vi.waitFor(async () => expect(await balance()).toBe(ALLOWANCE));
});

test("top-ups end with the day's budget, and requests wait and say so", async () => {
  // The budget is a day's: none ends in this test.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 22, 12) });
  onTestFinished(() => void vi.useRealTimers());
  await pipeline.close();
  const budget = { juels: 3n * 10n ** 17n };
  pipeline = await world.open({ allowanceJuels: ALLOWANCE, budget });
  await spend();
  const toppedUp = async () =>
    (await listToppedUp(pipeline.store.db, { network: DESK_NETWORK, day: dayOf(Date.now()) })).map(
      ({ juels }) => juels,
    );
  await vi.waitFor(async () => expect(await toppedUp()).toEqual([budget.juels]));
  await pipeline.ended((await pipeline.accept("random")).id);
  await vi.waitFor(async () =>
    expect(() => pipeline.pipeline.subscriptions.assertFunded(DESK_DAPP, "vrf")).toThrow(/daily budget/),
  );
  // Functions are paid for by a subscription of their own.
  expect(() => pipeline.pipeline.subscriptions.assertFunded(DESK_DAPP, "functions")).not.toThrow();
  const { id } = await pipeline.accept("random");
  await vi.waitFor(() =>
    expect(pipeline.book.get(id)!.why).toContain("the dapp's daily budget on sepolia, 0.3 LINK, is used up"),
  );
  expect(await toppedUp()).toEqual([budget.juels]);
  await pipeline.close();
  pipeline = await world.open({ allowanceJuels: ALLOWANCE, budget: { juels: 10n * ALLOWANCE } });
  expect(await pipeline.ended(id)).toMatchObject({ state: "fulfilled" });
});

test("a look that fails is made again", async () => {
  await pipeline.ended((await pipeline.accept("random")).id);
  world.node.inject(first(6, "eth_call", { status: 503 }));
  await pipeline.ended((await pipeline.accept("random")).id);
  await vi.waitFor(async () => expect(await balance()).toBe(ALLOWANCE));
});

test("a top-up that a restart interrupts is not made twice", async () => {
  await spend();
  world.node.inject(first(1, "eth_sendRawTransactionSync", { reach: false, dropAnswer: true }));
  await vi.waitFor(() =>
    expect(
      world.node.calls.filter(({ method }) => method.endsWith("TransactionSync")).length,
    ).toBeGreaterThan(3),
  );
  await pipeline.close();
  pipeline = await world.open({ allowanceJuels: ALLOWANCE });
  await vi.waitFor(async () => expect(await balance()).toBe(ALLOWANCE));
  // A second top-up would leave more than the allowance after the next round.
  await spend();
  await vi.waitFor(async () => expect(await balance()).toBe(ALLOWANCE));
});

test("a row in the database never sends a top-up to another subscription than the dapp's", async () => {
  const { subscriptions } = pipeline.pipeline;
  await insertDapp(pipeline.store.db, { id: "dapp_other", name: "other", facilities: [], createdAt: 0 });
  const other = await subscriptions.ensure("dapp_other");
  await saveSubscription(pipeline.store.db, { ...other, dappId: DESK_DAPP });
  // By its own row, its dapp would be topped up for what it is charged.
  await pipeline.store.db.deleteFrom("subscriptions").where("dapp_id", "=", "dapp_other").execute();
  await pipeline.close();
  pipeline = await world.open({ allowanceJuels: ALLOWANCE });
  await spend();
  const reopened = pipeline.pipeline.subscriptions;
  reopened.used(DESK_DAPP);
  await reopened.topUp();
  expect((await reopened.readBalances(other)).vrfJuels).toBeLessThan(ALLOWANCE / 2n);
});

test("refills nothing for a deleted dapp", async () => {
  const { subscriptions } = pipeline.pipeline;
  await deleteDapp(pipeline.store, DESK_DAPP, Date.now());
  await spend();
  subscriptions.used(DESK_DAPP);
  await subscriptions.topUp();
  expect(await balance()).toBeLessThan(ALLOWANCE / 2n);
});
