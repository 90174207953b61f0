import { afterAll, beforeAll, expect, test } from "vitest";
import { createRequestBook } from "../../../src/requests/requestBook.ts";
import { createTracker } from "../../../src/requests/follow/tracker.ts";
import { startPipelineWorld, type PipelineWorld, type OpenPipeline } from "../../support/pipelineWorld.ts";
import type { WatchedBlock } from "../../../src/evm/blockReader.ts";

let world: PipelineWorld;
let pipeline: OpenPipeline;
beforeAll(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open();
  await world.storeSource(pipeline.pipeline);
});
afterAll(async () => {
  await pipeline.close();
  await world.close();
});

/** Returns the blocks of a request's life, each with its logs from the chain. */
async function blocksOf(hashes: readonly `0x${string}`[]): Promise<WatchedBlock[]> {
  const receipts = await Promise.all(hashes.map((hash) => pipeline.client.getReceipt(hash)));
  return receipts.map((receipt) => ({
    number: receipt!.blockNumber,
    hash: receipt!.blockHash,
    logs: receipt!.logs,
  }));
}

test("a block that can't be stored changes nothing in memory, and is taken whole when it comes again", async () => {
  const { id } = await pipeline.accept("preset");
  const ended = await pipeline.ended(id);
  // One may bring both word and result.
  const hashes = new Set(ended.timeline.slice(1).map((entry) => entry.transactionHash as `0x${string}`));
  const blocks = await blocksOf([...hashes]);

  let broken = true;
  const store = {
    ...pipeline.store,
    writeSoon: ((work) =>
      pipeline.store.writeSoon(async (db) => {
        const done = await work(db);
        if (broken) throw new Error("the disk is full");
        return done;
      })) as typeof pipeline.store.writeSoon,
  };
  const book = createRequestBook(store);
  if (ended.kind !== "preset") throw new Error("the request is no preset");
  const { sourceHash, args, returnType, transactionHashes, entry, item, items } = ended.progress;
  const progress = { sourceHash, args, returnType, transactionHashes, entry, item, items };
  const request = {
    ...ended,
    state: "submitted" as const,
    timeline: ended.timeline.slice(0, 2),
    progress: progress as typeof ended.progress,
    outcome: null,
    endedIn: null,
  };
  const before = structuredClone(request);
  book.restore([request]);
  const tracker = createTracker(book, request.network);
  tracker.track(request);
  // Everything in one block: each log builds on the change made by the previous one.
  const all = { ...blocks.at(-1)!, logs: blocks.flatMap(({ logs }) => logs) };
  await expect(tracker.onBlock(all)).rejects.toThrow("the disk is full");
  expect(request).toEqual(before);
  expect(book.get(id)).toBe(request);
  broken = false;
  await tracker.onBlock(all);
  expect(request.timeline.map(({ state }) => state)).toEqual([
    "received",
    "submitted",
    "randomness",
    "fulfilled",
  ]);
  expect(request.outcome).toEqual(ended.outcome);
  await expect(tracker.onReorg(1n)).resolves.toBeUndefined();
  expect(request.progress).toEqual({ ...before.progress });
});
