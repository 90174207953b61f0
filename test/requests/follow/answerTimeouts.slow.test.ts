import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createAnswerTimeouts } from "../../../src/requests/follow/answerTimeouts.ts";
import type { OpenRequest } from "../../../src/requests/openRequest.ts";
import type { RequestBook } from "../../../src/requests/requestBook.ts";
import { countEnds } from "../../support/countEnds.ts";
import { deliverWords } from "../../support/delivery.ts";
import { TEST_PROVING_KEY } from "../../support/stack.ts";
import { startPipelineWorld, type PipelineWorld, type OpenPipeline } from "../../support/pipelineWorld.ts";
import { mineBlocks } from "../../support/mineBlocks.ts";

let world: PipelineWorld;
let pipeline: OpenPipeline;

beforeEach(async () => {
  world = await startPipelineWorld();
  world.stopOracle();
  pipeline = await world.open();
  await world.storeSource(pipeline.pipeline);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await pipeline.close();
  await world.close();
});

const accepted = async ({ id }: OpenRequest) =>
  await vi.waitFor(async () => {
    const found = (await pipeline.book.find(id))!;
    expect(found.progress.acceptedBlock).toBeDefined();
    return found;
  });
/** Waits until a request has ended, with 301 seconds of watching at a time. */
const endedInTime = async (id: string) => {
  const watched = vi.spyOn(pipeline.watcher, "watched");
  let totalMs = 0;
  return await vi.waitFor(
    async () => {
      totalMs += 301_000;
      watched.mockReturnValue({ totalMs, sinceGapMs: Infinity });
      const found = (await pipeline.book.find(id))!;
      expect(found.state).toBe("failed");
      return found;
    },
    { interval: 200 },
  );
};

describe.each(["random", "preset"] as const)("a %s without words", (kind) => {
  test("whose block hash is out of reach is sent again, and answered once", async () => {
    const before = await accepted(await pipeline.accept(kind));
    await mineBlocks(world.stack.client, 300);
    const after = await vi.waitFor(
      async () => {
        const found = await accepted(before);
        expect(found.progress.vrfRequestId).not.toBe(before.progress.vrfRequestId);
        return found;
      },
      { interval: 100 },
    );
    expect(after.timeline.at(-1)).toMatchObject({
      state: "submitted",
      detail: "sent again: no proof for its block can be checked any more",
    });
    world.startOracle();
    const ended = await pipeline.ended(before.id);
    expect([ended.state, countEnds(ended)]).toEqual(["fulfilled", 1]);
    // Nobody answers the abandoned request.
    const fulfilled = (await world.events("RandomWordsFulfilled")).map(({ requestId }) => requestId);
    expect(fulfilled).toContain(after.progress.vrfRequestId);
    expect(fulfilled).not.toContain(before.progress.vrfRequestId);
  });

  test("fails after 300 seconds with what it waited for, and stays so", async () => {
    const { id } = await accepted(await pipeline.accept(kind));
    expect((await pipeline.book.find(id))!.state).toBe("submitted");
    const ended = await endedInTime(id);
    expect(ended).toMatchObject({
      state: "failed",
      error: {
        code: "oracle_timeout",
        message: expect.stringContaining("brought no random words: none within 300 seconds; "),
      },
    });
    world.startOracle();
    await vi.waitFor(async () => expect(await world.events("RandomWordsFulfilled")).toHaveLength(1));
    expect(await pipeline.book.find(id)).toEqual(ended);
  });
});

test("one with a label or a round of drand is not sent again, so that nobody who withholds a word gets another draw", async () => {
  const time = new Date(Date.now() + 600_000).toISOString();
  const beacon = { round: "1000", time, chainHash: TEST_PROVING_KEY.keyHash };
  const { params } = await pipeline.accept("random");
  const ids = await Promise.all(
    [
      pipeline.accept("random", { params: { ...params, label: "raffle", once: true } }),
      pipeline.accept("preset", { params: { preset: "test", beacon } }),
    ].map(async (request) => (await accepted(await request)).id),
  );
  await mineBlocks(world.stack.client, 300);
  for (const id of ids) {
    const ended = await pipeline.ended(id);
    expect(ended).toMatchObject({
      state: "failed",
      error: { code: "oracle_timeout", message: expect.stringContaining("is out of reach") },
    });
    // A label that was on chain stays taken.
    expect(ended.progress.transactionHashes).toHaveLength(1);
  }
});

test("a preset with a word and no result fails after 300 seconds, names the word's transaction, and stays so", async () => {
  const { id, progress } = await accepted(await pipeline.accept("preset"));
  const requested = (await world.stack.client.getReceipt(progress.transactionHashes![0]!))!;
  const { transactionHash } = await deliverWords(world.stack, requested);
  await vi.waitFor(async () => expect((await pipeline.book.find(id))!.state).toBe("randomness"));
  const ended = await endedInTime(id);
  expect(ended).toMatchObject({
    state: "failed",
    outcome: null,
    error: {
      code: "oracle_timeout",
      message: expect.stringContaining(
        `the random word was on chain in the transaction ${transactionHash}, but the oracle network gave no result within 300 seconds; `,
      ),
    },
  });
  world.startOracle();
  await vi.waitFor(async () => expect(await world.events("BatchReported")).toHaveLength(1));
  expect(await pipeline.book.find(id)).toEqual(ended);
});

test("a request that waits for confirmations is not timed out", async () => {
  const params = { numWords: 2, confirmations: 50, keyHash: TEST_PROVING_KEY.keyHash };
  const late = await accepted(await pipeline.accept("random", { params }));
  const { id } = await accepted(await pipeline.accept("random"));
  // Each check covers both.
  await endedInTime(id);
  expect((await pipeline.book.find(late.id))!.state).toBe("submitted");
});

test("a request fails only when everything up to the head has been read, however late", async () => {
  const waiting = await accepted(await pipeline.accept("random"));
  const head = (await world.stack.client.getHead("latest"))!;
  const change = vi.fn<RequestBook["change"]>();
  let [totalMs, number, readTo] = [0, head.number, head.number];
  const look = createAnswerTimeouts({
    client: world.stack.client,
    watcher: {
      head: () => ({ ...head, number, seenAtMs: 0, firstSeenAtMs: 0 }),
      watched: () => ({ totalMs, sinceGapMs: Infinity }),
    },
    contracts: world.stack.addresses,
    presetConfirmations: 1,
    book: { ...pipeline.book, get: () => waiting, change },
    tracker: { track: () => {}, readTo: () => readTo },
    requests: () => [waiting],
    take: () => {},
    beaconWait: () => undefined,
    explain: async () => null,
  });
  await look();
  // A day passes by the wall clock, in which the head was not seen.
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 86_400_000);
  await look();
  expect(change).not.toHaveBeenCalled();
  [totalMs, number] = [301_000, head.number + 20n];
  await look();
  readTo += 19n;
  await look();
  expect(change).not.toHaveBeenCalled();
  // New blocks keep coming while the follower reads.
  [readTo, number] = [readTo + 1n, number + 5n];
  await look();
  expect(change).toHaveBeenCalledOnce();
});

test("words that are on chain, and that nobody has read yet, are no reason to send again", async () => {
  const before = await accepted(await pipeline.accept("random"));
  const unread = { ...structuredClone(before), state: "submitted" as const };
  world.startOracle();
  expect((await pipeline.ended(before.id)).state).toBe("fulfilled");
  await mineBlocks(world.stack.client, 300);
  const head = await world.stack.client.getHead("latest");
  const take = vi.fn<(request: OpenRequest) => void>();
  const change = vi.fn<RequestBook["change"]>();
  let totalMs = 0;
  const look = createAnswerTimeouts({
    client: world.stack.client,
    watcher: {
      head: () => ({ ...head!, seenAtMs: 0, firstSeenAtMs: 0 }),
      watched: () => ({ totalMs, sinceGapMs: Infinity }),
    },
    contracts: world.stack.addresses,
    presetConfirmations: 1,
    book: { ...pipeline.book, get: () => unread, change },
    tracker: { track: () => {}, readTo: () => head!.number },
    requests: () => [unread],
    take,
    beaconWait: () => undefined,
    explain: async () => null,
  });
  for (totalMs = 0; totalMs < 700_000; totalMs += 301_000) await look();
  expect(take).not.toHaveBeenCalled();
  expect(change).not.toHaveBeenCalled();
});

test.each([
  { nodes: "one node", isOneNode: true, first: 256 },
  { nodes: "nodes that may be behind", isOneNode: false, first: 272 },
])(
  "with $nodes a proof is given up as soon as no block to come can check it",
  async ({ isOneNode, first }) => {
    const waiting = await accepted(await pipeline.accept("random"));
    const head = await world.stack.client.getHead("latest");
    const asked: number[] = [];
    const { client } = world.stack;
    let age = 0;
    const look = createAnswerTimeouts({
      client: {
        isOneNode,
        getHead: (block) => client.getHead(block),
        call: (request) => {
          asked.push(age);
          return client.call(request);
        },
      },
      watcher: {
        head: () => ({
          ...head!,
          number: BigInt(waiting.progress.acceptedBlock! + age),
          seenAtMs: 0,
          firstSeenAtMs: 0,
        }),
        watched: () => ({ totalMs: 0, sinceGapMs: Infinity }),
      },
      contracts: world.stack.addresses,
      presetConfirmations: 1,
      book: { ...pipeline.book, get: () => waiting, change: async () => {} },
      tracker: { track: () => {}, readTo: () => undefined },
      requests: () => [waiting],
      take: () => {},
      beaconWait: () => undefined,
      explain: async () => null,
    });
    for (age = 254; age <= 274; age += 1) await look();
    expect(asked[0]).toBe(first);
  },
);
