import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Hex } from "viem";
import type { OpenRequest } from "../../src/requests/openRequest.ts";
import { listConsumers } from "../../src/store/chainRecords.ts";
import { eventsOf } from "../support/delivery.ts";
import { countEnds } from "../support/countEnds.ts";
import {
  DESK_DAPP,
  startPipelineWorld,
  type PipelineWorld,
  type EndedRequest,
  type OpenPipeline,
} from "../support/pipelineWorld.ts";
import { reorgUnderLoad } from "../support/reorg.ts";

let world: PipelineWorld;
let pipeline: OpenPipeline;

beforeEach(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open();
  await world.storeSource(pipeline.pipeline);
  // Creates the subscriptions before the part that is undone.
  await pipeline.ended((await pipeline.accept("random")).id);
});
afterEach(async () => {
  await pipeline.close();
  await world.close();
});

const reorg = (depth: number) => world.stack.client.request("anvil_reorg", [depth, []]);
const rollback = (depth: number) => world.stack.client.request("anvil_rollback", [depth]);
const receiptOf = (hash: Hex) => world.stack.client.getReceipt(hash);
const statesOf = ({ timeline }: OpenRequest) => timeline.map(({ state }) => state);
const endsOf = (request: OpenRequest) =>
  statesOf(request).filter((state) => state === "fulfilled" || state === "failed").length;
/** Waits until the request has ended for the n-th time. */
const endedAgain = async (id: string, ends = 2): Promise<EndedRequest> =>
  await vi.waitFor(
    async () => {
      const request = (await pipeline.book.find(id)) as EndedRequest;
      expect(endsOf(request)).toBe(ends);
      return request;
    },
    { interval: 25 },
  );
/** Compares what a request ended with to the chain's current state. */
const onChain = async ({ outcome, endedIn, timeline }: OpenRequest) => {
  const hash = outcome!.transactionHash;
  const receipt = await receiptOf(hash);
  return {
    isLastEntry: timeline.at(-1)!.transactionHash === hash,
    isInEndingBlock: receipt?.succeeded === true && receipt.blockHash === endedIn!.hash,
  };
};
const IS_ON_CHAIN = { isLastEntry: true, isInEndingBlock: true };

/** Returns the states that a request comes to again when the block of its end is replaced, which may have brought its word, too. */
const statesAgainOf = ({ timeline }: OpenRequest) => {
  const last = timeline.at(-1)!.transactionHash;
  const first = timeline.findIndex(({ transactionHash }) => transactionHash === last);
  return timeline.slice(first - 1).map(({ state }) => state);
};

describe.each(["preset", "function", "random"] as const)("a %s that has ended", (kind) => {
  test("ends again, and once, when a reorganisation takes the block of its end", async () => {
    const { id } = await pipeline.accept(kind);
    const before = await pipeline.ended(id);
    const statesAgain = statesAgainOf(before);
    await reorg(1);
    const after = await endedAgain(id);
    expect(statesOf(after)).toEqual([...statesOf(before), ...statesAgain]);
    expect(countEnds(after)).toBe(1);
    const what = statesAgain[0] === "submitted" ? "random word" : "result";
    expect(after.timeline.at(-statesAgain.length)!.detail).toBe(`a reorg removed the ${what}`);
    expect(after.progress.transactionHashes).toEqual(before.progress.transactionHashes);
    expect(await onChain(after)).toEqual(IS_ON_CHAIN);
  });

  test("is sent again when the reorganisation takes the request, too", async () => {
    const { id } = await pipeline.accept(kind);
    const before = await pipeline.ended(id);
    await reorg(3);
    const after = await endedAgain(id);
    expect(statesOf(after).slice(0, before.timeline.length + 1)).toEqual([...statesOf(before), "submitted"]);
    expect(after.timeline[before.timeline.length]!.detail).toContain("removed the request");
    expect(await onChain(after)).toEqual(IS_ON_CHAIN);
    const [transaction] = after.progress.transactionHashes!;
    expect(eventsOf((await receiptOf(transaction!))!, "Accepted")).toHaveLength(1);
  });

  test.each([
    ["reorganised", reorg],
    ["set back", rollback],
  ])("goes on after a restart when the chain was %s meanwhile", async (_, undo) => {
    const { id } = await pipeline.accept(kind);
    const [stateAgain] = statesAgainOf(await pipeline.ended(id));
    await pipeline.close();
    world.stopOracle();
    await undo(1);
    pipeline = await world.open();
    await vi.waitFor(async () => expect((await pipeline.book.find(id))!.state).toBe(stateAgain));
    world.startOracle();
    expect(await onChain(await endedAgain(id))).toEqual(IS_ON_CHAIN);
  });

  test("ends again when the chain is reorganised soon after a restart", async () => {
    const { id } = await pipeline.accept(kind);
    await pipeline.ended(id);
    await pipeline.close();
    await world.stack.client.request("anvil_mine", ["0x3"]);
    pipeline = await world.open();
    await pipeline.ended((await pipeline.accept("random")).id);
    await reorg(6);
    expect(await onChain(await endedAgain(id))).toEqual(IS_ON_CHAIN);
  });
});

test("the words after a reorganisation are those on the chain", async () => {
  const { id } = await pipeline.accept("random");
  const before = await pipeline.ended(id);
  await reorg(2);
  const { outcome } = await endedAgain(id);
  // The request is in another block, so its seed differs.
  expect(outcome!["words"]).not.toEqual(before.outcome!["words"]);
  expect(await world.events("RandomWordsFulfilled")).toHaveLength(2);
});

test("a failure on chain is taken back and comes again", async () => {
  const params = { source: "throw new Error('no luck')", args: [], returnType: "string" };
  const { id } = await pipeline.accept("function", { params });
  await pipeline.ended(id);
  await reorg(1);
  const { state, outcome } = await endedAgain(id);
  expect([state, outcome!["err"]]).toEqual(["failed", "no luck"]);
});

test("a linking is taken back with its transaction, and made again", async () => {
  const { id } = await pipeline.accept("consumer");
  await pipeline.ended(id);
  await reorg(1);
  const after = await endedAgain(id);
  expect(statesOf(after).slice(-2)).toEqual(["submitted", "fulfilled"]);
  expect(await onChain(after)).toEqual(IS_ON_CHAIN);
  const consumers = await listConsumers(pipeline.store.db, DESK_DAPP);
  expect(consumers.map(({ transactionHash }) => transactionHash)).toEqual([
    after.outcome!["transactionHash"],
  ]);
});

test("what is deeper than the finality depth stays as it ended, and is not held", async () => {
  await pipeline.close();
  pipeline = await world.open({ finalityDepth: 2 });
  const { id } = await pipeline.accept("random");
  const before = await pipeline.ended(id);
  expect(pipeline.book.notFinal("sepolia").map((request) => request.id)).toContain(id);
  await world.stack.client.request("anvil_mine", ["0x2"]);
  await vi.waitFor(() => expect(pipeline.book.notFinal("sepolia")).toEqual([]));
  await reorg(4);
  await pipeline.ended((await pipeline.accept("random")).id);
  expect(await pipeline.book.find(id)).toEqual({ ...before, endedIn: null });
  await pipeline.close();
  pipeline = await world.open({ finalityDepth: 2 });
  await pipeline.ended((await pipeline.accept("random")).id);
  expect(statesOf((await pipeline.book.find(id))!)).toEqual(statesOf(before));
});

test("under load, every end that was taken back comes again", async () => {
  const kinds = ["preset", "function", "random"] as const;
  const requests = await Promise.all(Array.from({ length: 12 }, (_, i) => pipeline.accept(kinds[i % 3]!)));
  const before = await Promise.all(requests.map(({ id }) => pipeline.ended(id)));
  const head = Number((await world.stack.client.getHead("latest"))!.number);
  await reorgUnderLoad(world.stack.client, 2);
  const taken = before.filter(({ endedIn }) => endedIn!.number > head - 2);
  expect(taken).not.toEqual([]);
  for (const { id } of taken) await endedAgain(id);
  for (const { id } of requests) {
    const request = (await pipeline.book.find(id))!;
    expect(request.state).toBe("fulfilled");
    expect(await onChain(request)).toEqual(IS_ON_CHAIN);
  }
});
