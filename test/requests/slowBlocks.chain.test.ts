import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startPipelineWorld, type OpenPipeline, type PipelineWorld } from "../support/pipelineWorld.ts";
import { TEST_ROLES } from "../support/stack.ts";

const SLOW = { maxInFlight: 4, paceMs: 1, maxTransactionGas: 6_000_000n };

let world: PipelineWorld;
let pipeline: OpenPipeline;

beforeAll(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open({
    pipelining: SLOW,
    fees: { synchronous: false },
  });
  await world.storeSource(pipeline.pipeline);
  // What a dapp's first request creates on chain needs blocks.
  const { id } = await pipeline.accept("preset");
  await pipeline.ended(id);
});
afterAll(async () => {
  await pipeline.close();
  await world.close();
});

const rpc = (method: string, ...parameters: unknown[]) => world.stack.client.request(method, parameters);
const countWaiting = async (): Promise<number> => {
  const { address } = TEST_ROLES.operator;
  const [mined, all] = await Promise.all([
    world.stack.client.getNonce(address, "latest"),
    world.stack.client.getNonce(address, "pending"),
  ]);
  return all - mined;
};

test("while a block is awaited, requests travel in transactions of consecutive nonces, and none twice", async () => {
  const before = (await world.events("RandomWordsRequested")).length;
  await rpc("evm_setAutomine", false);
  const ids: string[] = [];
  for (let waiting = 1; waiting <= 4; waiting += 1) {
    ids.push((await pipeline.accept("random")).id);
    await vi.waitFor(async () => expect(await countWaiting()).toBe(waiting));
  }
  // All places are taken: these are gathered for the next transaction.
  for (let i = 0; i < 3; i += 1) ids.push((await pipeline.accept("random")).id);
  expect(pipeline.pipeline.queued()).toBe(3);
  await rpc("evm_mine");
  await vi.waitFor(async () => expect(await countWaiting()).toBe(1));
  await rpc("evm_setAutomine", true);
  await rpc("evm_mine");
  for (const id of ids) expect(await pipeline.ended(id)).toMatchObject({ state: "fulfilled" });
  expect((await world.events("RandomWordsRequested")).length - before).toBe(ids.length);
});

test("of a pipeline that ends with transactions under way, the next one sends none again", async () => {
  const before = (await world.events("RandomWordsRequested")).length;
  const other = await world.open({ file: "other.db", fees: { synchronous: false }, pipelining: SLOW });
  // This database's own subscriptions are created first.
  await other.ended((await other.accept("random")).id);
  await rpc("evm_setAutomine", false);
  const ids: string[] = [];
  for (let waiting = 1; waiting <= 3; waiting += 1) {
    ids.push((await other.accept("random")).id);
    await vi.waitFor(async () => expect(await countWaiting()).toBe(waiting));
  }
  await other.close();
  const next = await world.open({ file: "other.db", fees: { synchronous: false }, pipelining: SLOW });
  await rpc("evm_setAutomine", true);
  await rpc("evm_mine");
  for (const id of ids) expect(await next.ended(id)).toMatchObject({ state: "fulfilled" });
  await next.close();
  expect((await world.events("RandomWordsRequested")).length - before).toBe(1 + ids.length);
});
