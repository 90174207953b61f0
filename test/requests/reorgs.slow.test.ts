import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { deliverWords } from "../support/delivery.ts";
import { countEnds } from "../support/countEnds.ts";
import { startPipelineWorld, type PipelineWorld, type OpenPipeline } from "../support/pipelineWorld.ts";
import { first } from "../support/faultyNode.ts";
import { reorgUnderLoad } from "../support/reorg.ts";

let world: PipelineWorld;
let pipeline: OpenPipeline;

beforeEach(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open();
  await world.storeSource(pipeline.pipeline);
  // Creates the subscriptions before the part that is undone.
  await pipeline.ended((await pipeline.accept("random")).id);
  world.stopOracle();
});
afterEach(async () => {
  await pipeline.close();
  await world.close();
});

const reorg = (depth: number) => world.stack.client.request("anvil_reorg", [depth, []]);
const rollback = (depth: number) => world.stack.client.request("anvil_rollback", [depth]);
const accepted = async (id: string) =>
  await vi.waitFor(async () => {
    const request = (await pipeline.book.find(id))!;
    expect(request.progress.acceptedBlock).toBeDefined();
    return request;
  });
const reopen = async () => {
  await pipeline.close();
  pipeline = await world.open();
};

describe.each(["preset", "function", "random"] as const)("a %s", (kind) => {
  test("taken back by a reorganisation is sent again, and ends once", async () => {
    const { id } = await pipeline.accept(kind);
    const before = await accepted(id);
    await reorg(2);
    await vi.waitFor(async () => {
      const hash = before.progress.transactionHashes![0]!;
      expect(await world.stack.client.getReceipt(hash)).toMatchObject({ succeeded: true });
    });
    world.startOracle();
    const { state, timeline, progress } = await pipeline.ended(id);
    expect(state).toBe("fulfilled");
    expect(progress.transactionHashes).toEqual(before.progress.transactionHashes);
    expect(timeline.filter((entry) => entry.state === "fulfilled")).toHaveLength(1);
  });

  test("whose chain was set back while nobody looked goes on after a restart", async () => {
    const { id } = await pipeline.accept(kind);
    await accepted(id);
    await pipeline.close();
    await rollback(2);
    pipeline = await world.open();
    world.startOracle();
    const { state, timeline } = await pipeline.ended(id);
    expect(state).toBe("fulfilled");
    expect(timeline.filter((entry) => entry.state === "submitted")).toHaveLength(1);
  });

  test("whose ids changed while nobody looked learns the new ones", async () => {
    const { id } = await pipeline.accept(kind);
    await accepted(id);
    await pipeline.close();
    await reorg(1);
    // Another request comes first on the new chain, so that the contracts' counters differ.
    pipeline = await world.open({ file: "other.db" });
    await world.storeSource(pipeline.pipeline);
    await pipeline.close();
    pipeline = await world.open();
    world.startOracle();
    expect((await pipeline.ended(id)).state).toBe("fulfilled");
  });
});

test("a preset whose word was taken back waits for it again, and runs once", async () => {
  const { id } = await pipeline.accept("preset");
  const { progress } = await accepted(id);
  const requested = await world.stack.client.getReceipt(progress.transactionHashes![0]!);
  await deliverWords(world.stack, requested!);
  await vi.waitFor(async () => expect((await pipeline.book.find(id))!.state).toBe("randomness"));
  await reorg(1);
  await vi.waitFor(async () => {
    const request = (await pipeline.book.find(id))!;
    expect(request.state).toBe("submitted");
    expect(request.progress).toMatchObject({ vrfRequestId: progress.vrfRequestId });
    expect(request.progress.wordBlock).toBeUndefined();
  });
  world.startOracle();
  const { state, timeline, outcome } = await pipeline.ended(id);
  expect(state).toBe("fulfilled");
  expect(timeline.map((entry) => entry.state)).toEqual([
    "received",
    "submitted",
    "randomness",
    "submitted",
    "randomness",
    "fulfilled",
  ]);
  expect(outcome).toMatchObject({ vrfTransactionHash: timeline[4]!.transactionHash });
  expect(await world.events("BatchReported")).toHaveLength(1);
});

test("a preset whose report was taken back keeps its word, and gets the same result again", async () => {
  const { id } = await pipeline.accept("preset");
  const { progress } = await accepted(id);
  const requested = (await world.stack.client.getReceipt(progress.transactionHashes![0]!))!;
  await deliverWords(world.stack, requested);
  world.startOracle();
  const before = await pipeline.ended(id);
  world.stopOracle();
  await reorg(1);
  await vi.waitFor(async () => expect((await pipeline.book.find(id))!.state).toBe("randomness"));
  world.startOracle();
  const after = await pipeline.ended(id);
  expect(after.timeline.slice(2).map(({ state, detail }) => [state, detail])).toEqual([
    ["randomness", undefined],
    ["fulfilled", undefined],
    ["randomness", "a reorg removed the result"],
    ["fulfilled", undefined],
  ]);
  expect(after.outcome).toMatchObject({
    result: before.outcome!["result"],
    vrfTransactionHash: before.outcome!["vrfTransactionHash"],
  });
});

test("subscriptions and sources that a rollback took away are made again", async () => {
  await pipeline.close();
  // One block each for the source, the subscriptions, the request and its words.
  await rollback(4);
  pipeline = await world.open();
  const requests = [await pipeline.accept("preset"), await pipeline.accept("random")];
  world.startOracle();
  for (const { id } of requests) expect((await pipeline.ended(id)).state).toBe("fulfilled");
});

test("what a reorganisation took is sent until the chain has it again", async () => {
  const { id } = await pipeline.accept("random");
  await accepted(id);
  const lose = world.node.inject(first(2, "eth_sendRawTransaction", { reach: false, dropAnswer: true }));
  await reorg(1);
  world.startOracle();
  const request = await pipeline.ended(id);
  lose();
  expect([request.state, countEnds(request)]).toEqual(["fulfilled", 1]);
});

test("a reorganisation under load loses and doubles nothing", async () => {
  world.startOracle();
  const requests = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      pipeline.accept((["preset", "function", "random"] as const)[i % 3]!),
    ),
  );
  await vi.waitFor(() => expect(pipeline.pipeline.queued()).toBe(0));
  await reorgUnderLoad(world.stack.client, 1);
  await reorgUnderLoad(world.stack.client, 2);
  for (const { id } of requests) {
    const request = await pipeline.ended(id);
    expect(request.state).toBe("fulfilled");
    expect(countEnds(request)).toBe(1);
  }
  const sent = requests.map(({ progress }) => progress.transactionHashes!.at(-1)!);
  for (const hash of new Set(sent)) expect(await world.stack.client.getReceipt(hash)).toBeDefined();
});

test("a restart in the middle of everything ends everything once", async () => {
  world.startOracle();
  const requests = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      pipeline.accept((["preset", "function", "random"] as const)[i % 3]!),
    ),
  );
  await reopen();
  for (const { id } of requests) {
    const { state, timeline } = await pipeline.ended(id);
    expect(state).toBe("fulfilled");
    expect(timeline.filter((entry) => entry.state === "fulfilled")).toHaveLength(1);
  }
});
