import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { EVENT_TOPICS } from "../../../src/chainlink/events.ts";
import { countEnds } from "../../support/countEnds.ts";
import { every } from "../../support/faultyNode.ts";
import { startPipelineWorld, type OpenPipeline, type PipelineWorld } from "../../support/pipelineWorld.ts";
import { mineBlocks } from "../../support/mineBlocks.ts";

let world: PipelineWorld;
let pipeline: OpenPipeline;
let undo: () => void;

beforeAll(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open({ rereadIntervalMs: 100 });
  await world.storeSource(pipeline.pipeline);
});
afterEach(() => {
  undo();
  vi.restoreAllMocks();
});
afterAll(async () => {
  await pipeline.close();
  await world.close();
});

test.each([
  ["random", "word", ["RandomWordsFulfilled"]],
  ["preset", "word", ["RandomWordsFulfilled"]],
  ["preset", "result", ["BatchReported"]],
  ["function", "result", ["RequestProcessed"]],
] as const)(
  "a %s whose %s no node ever shows learns it from the receipt, and 'why' blames the node",
  async (kind, _, names) => {
    const topics: readonly string[] = names.map((name) => EVENT_TOPICS[name]);
    undo = world.node.inject(
      every("eth_getLogs", {
        result: (logs) => (logs as { topics: string[] }[]).filter((log) => !topics.includes(log.topics[0]!)),
      }),
    );
    const countAnswers = async (): Promise<number> => (await world.events(names[0])).length;
    const before = await countAnswers();
    const { id } = await pipeline.accept(kind);
    await vi.waitFor(async () =>
      expect((await pipeline.book.find(id))!.progress.acceptedBlock).toBeDefined(),
    );
    // Without an answer on chain, the time below would be over.
    await vi.waitFor(async () => expect(await countAnswers()).toBeGreaterThan(before));
    // No node is asked for the logs of blocks this old any more.
    await mineBlocks(world.stack.client, 300);

    const watched = vi.spyOn(pipeline.watcher, "watched");
    let totalMs = pipeline.watcher.watched().totalMs;
    const watch = (): void => {
      totalMs += 31_000;
      watched.mockReturnValue({ totalMs, sinceGapMs: Infinity });
    };
    // As long as no block names the transaction, it can't be found.
    const showTransactions = world.node.inject(
      every("eth_getBlockByNumber", {
        result: (block) => block && { ...block, transactions: [] },
      }),
    );
    await vi.waitFor(
      async () => {
        watch();
        const why = await pipeline.pipeline.explain((await pipeline.book.find(id))!);
        expect(why).toContain("its answer is on chain, but the network's node doesn't show the event");
      },
      { interval: 200 },
    );
    showTransactions();
    const ended = await vi.waitFor(
      async () => {
        watch();
        expect((await pipeline.book.find(id))!.state).toBe("fulfilled");
        return await pipeline.ended(id);
      },
      { interval: 200 },
    );
    expect(countEnds(ended)).toBe(1);
    const told = world.errors.map(String);
    expect(told.some((text) => text.includes("a node omits logs of transaction"))).toBe(true);
  },
);
