import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { countEnds } from "../support/countEnds.ts";
import { deliverWords } from "../support/delivery.ts";
import { startPipelineWorld, type OpenPipeline, type PipelineWorld } from "../support/pipelineWorld.ts";

let world: PipelineWorld;
let pipeline: OpenPipeline;

beforeAll(async () => {
  world = await startPipelineWorld({ vrfVersion: "v2.5" });
});
afterAll(() => world.close());
beforeEach(async () => {
  pipeline = await world.open();
  await world.storeSource(pipeline.pipeline);
});
afterEach(() => pipeline.close());

const accepted = async (id: string) =>
  await vi.waitFor(async () => {
    const request = (await pipeline.book.find(id))!;
    expect(request.progress.acceptedBlock).toBeDefined();
    return request;
  });

test.each(["preset", "random", "function"] as const)("a %s ends, with its result", async (kind) => {
  const { id } = await pipeline.accept(kind);
  expect(await pipeline.ended(id)).toMatchObject({ state: "fulfilled" });
  const [subscription] = pipeline.pipeline.subscriptions.list();
  expect(subscription!.vrfSubscriptionId).toBeGreaterThan(2n ** 128n);
});

test("a subscription's id is kept whole by a restart", async () => {
  const { id } = await pipeline.accept("random");
  await pipeline.ended(id);
  const before = pipeline.pipeline.subscriptions.list();
  await pipeline.close();
  pipeline = await world.open();
  expect(pipeline.pipeline.subscriptions.list()).toEqual(before);
});

test.each(["preset", "random"] as const)(
  "a %s taken back by a reorganisation is sent again, and ends once",
  async (kind) => {
    await pipeline.ended((await pipeline.accept("random")).id);
    world.stopOracle();
    const { id } = await pipeline.accept(kind);
    const before = await accepted(id);
    await world.stack.client.request("anvil_reorg", [1, []]);
    await vi.waitFor(async () => {
      const now = (await pipeline.book.find(id))!;
      expect(now.progress.acceptedBlock).toBeGreaterThanOrEqual(before.progress.acceptedBlock!);
    });
    world.startOracle();
    const record = await pipeline.ended(id);
    expect(record.state).toBe("fulfilled");
    expect(countEnds(record)).toBe(1);
  },
);

test("`why` names gas above the lane's limit", async () => {
  world.stopOracle();
  const { id } = await pipeline.accept("random");
  const { progress } = await accepted(id);
  const receipt = (await world.stack.client.getReceipt(progress.transactionHashes!.at(-1)!))!;
  await pipeline.close();
  pipeline = await world.open({ fees: { gasPriceWei: async () => 2_000n * 10n ** 9n } });
  const waiting = await accepted(id);
  await expect
    .poll(() => pipeline.pipeline.explain(waiting))
    .toBe(
      "gas lane too low: with this key hash the coordinator takes proofs at 1000 gwei at most, and gas costs 2000 gwei; waiting for the price to fall",
    );
  await deliverWords(world.stack, receipt);
  await pipeline.ended(id);
});
