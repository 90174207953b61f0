import { parseEther } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startPipelineWorld, type OpenPipeline, type PipelineWorld } from "../support/pipelineWorld.ts";
import { TEST_ROLES } from "../support/stack.ts";

/** The allowance of a dapp's subscription for random words. */
const ALLOWANCE = parseEther("0.01");
const OPERATOR = TEST_ROLES.operator.address;

let world: PipelineWorld;
let pipeline: OpenPipeline;

beforeAll(async () => {
  world = await startPipelineWorld({ vrfVersion: "v2.5", nativePayment: true });
});
afterAll(() => world.close());
beforeEach(async () => {
  pipeline = await world.open({ coinAllowanceWei: ALLOWANCE });
  await world.storeSource(pipeline.pipeline);
});
afterEach(() => pipeline.close());

const balances = async () => {
  const { subscriptions } = pipeline.pipeline;
  return await subscriptions.readBalances(await subscriptions.ensure("dapp_test"));
};
const setCoin = (wei: bigint) =>
  world.stack.client.request("anvil_setBalance", [OPERATOR, `0x${wei.toString(16)}`]);

test.each(["preset", "random"] as const)("a %s is paid for in coin, and none of its LINK", async (kind) => {
  const before = await balances();
  expect(before.vrfWei).toBeGreaterThanOrEqual(ALLOWANCE / 2n);
  const { id } = await pipeline.accept(kind);
  expect(await pipeline.ended(id)).toMatchObject({ state: "fulfilled" });
  const after = await balances();
  expect(after.vrfJuels).toBe(before.vrfJuels);
  expect(after.vrfWei).not.toBe(before.vrfWei);
});

test("what has fallen below half of what it is given is filled up", async () => {
  await pipeline.close();
  const more = 5n * ALLOWANCE;
  pipeline = await world.open({ coinAllowanceWei: more });
  await pipeline.ended((await pipeline.accept("random")).id);
  await vi.waitFor(async () => expect((await balances()).vrfWei).toBeGreaterThan(more / 2n), {
    timeout: 60_000,
  });
});

test("a subscription that is looked up again, as after a reorg, gets no coin beyond the budget", async () => {
  await pipeline.close();
  pipeline = await world.open({ coinAllowanceWei: 20n * ALLOWANCE, budget: { wei: 0n }, file: "budget.db" });
  const before = await balances();
  pipeline.pipeline.subscriptions.doubt();
  expect((await balances()).vrfWei).toBe(before.vrfWei);
  expect(before.vrfWei).toBeLessThan(10n * ALLOWANCE);
});

test("a request waits for the operator's coin, says how much is missing, and goes on when it comes", async () => {
  await pipeline.close();
  const held = BigInt((await world.stack.client.request("eth_getBalance", [OPERATOR, "latest"])) as string);
  // Another database has no subscriptions yet; these hold a hundredth of the new allowance.
  pipeline = await world.open({ coin: "FTM", coinAllowanceWei: parseEther("1"), file: "poor.db" });
  await setCoin(parseEther("0.5"));
  const { id } = await pipeline.accept("random");
  const request = () => pipeline.book.get(id)!;
  await vi.waitFor(() => expect(request().why).toMatch(/is short by [\d.]+ FTM: it holds 0\.\d+, and /), {
    timeout: 60_000,
  });
  await expect.poll(() => pipeline.pipeline.explain(request())).toContain("waiting for FTM to be sent there");
  await setCoin(held);
  expect(await pipeline.ended(id)).toMatchObject({ state: "fulfilled", why: null });
  expect((await balances()).vrfWei).toBeGreaterThan(parseEther("0.9"));
});
