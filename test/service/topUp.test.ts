import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startDeskWorld, type DeskWorld, type OpenDesk } from "../support/deskWorld.ts";
import { first } from "../support/faultyNode.ts";

let world: DeskWorld;
let desk: OpenDesk;
const ALLOWANCE = 6n * 10n ** 17n;

beforeEach(async () => {
  world = await startDeskWorld();
  desk = await world.open({ allowanceJuels: ALLOWANCE });
});
afterEach(async () => {
  await desk.close();
  await world.close();
});

const balance = async () => {
  const subscription = await desk.desk.subscriptions.ensure("dapp_test");
  return (await desk.desk.subscriptions.readBalances(subscription)).vrfJuels;
};
/** Each costs a fee of 0.25 LINK and its gas. */
const spend = async () => {
  await desk.ended((await desk.accept("random")).id);
  await desk.ended((await desk.accept("random")).id);
};

test("default: a subscription that falls below half is filled up", async () => {
  await spend();
  await vi.waitFor(async () => expect(await balance()).toBe(ALLOWANCE), { timeout: 5_000 });
});

test("behaviour: a look that fails is made again", async () => {
  await desk.ended((await desk.accept("random")).id);
  world.node.inject(first(6, "eth_call", { status: 503 }));
  await desk.ended((await desk.accept("random")).id);
  await vi.waitFor(async () => expect(await balance()).toBe(ALLOWANCE), { timeout: 10_000 });
});

test("behaviour: a top-up that a restart interrupts is not made twice", async () => {
  await spend();
  world.node.inject(first(1, "eth_sendRawTransactionSync", { reach: false, dropAnswer: true }));
  await vi.waitFor(
    () =>
      expect(
        world.node.calls.filter(({ method }) => method.endsWith("TransactionSync")).length,
      ).toBeGreaterThan(3),
    { timeout: 5_000 },
  );
  await desk.close();
  desk = await world.open({ allowanceJuels: ALLOWANCE });
  await vi.waitFor(async () => expect(await balance()).toBe(ALLOWANCE), { timeout: 5_000 });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await balance()).toBe(ALLOWANCE);
});
