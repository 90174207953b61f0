import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { functionsRouterAbi } from "../../../src/chainlink/contracts/abi.ts";
import type { Sender } from "../../../src/evm/sender.ts";
import type { OpenRequest } from "../../../src/requests/openRequest.ts";
import type { BeaconDelay } from "../../../src/requests/follow/beaconWait.ts";
import { createFunctionTimeouts } from "../../../src/requests/follow/functionTimeouts.ts";
import type { Payload } from "../../../src/store/transactionContents.ts";
import { countEnds } from "../../support/countEnds.ts";
import { deliverResults } from "../../support/delivery.ts";
import {
  DESK_DAPP,
  startPipelineWorld,
  type PipelineWorld,
  type OpenPipeline,
} from "../../support/pipelineWorld.ts";
import { every } from "../../support/faultyNode.ts";

const LATE: BeaconDelay = { kind: "late", why: "no relay has it" };

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

function request(method: string, ...params: readonly unknown[]) {
  return world.stack.client.request(method, params);
}
const accepted = async ({ id }: OpenRequest) =>
  await vi.waitFor(async () => {
    const found = (await pipeline.book.find(id))!;
    expect(found.progress.acceptedBlock).toBeDefined();
    return found;
  });
const transactionOf = async ({ progress }: OpenRequest) =>
  (await world.stack.client.getReceipt(progress.transactionHashes![0]!))!;
const passTime = async (seconds: number) => {
  await request("evm_increaseTime", seconds);
  await request("anvil_mine", "0x1");
};
/** Reads the balance of the dapp's Functions subscription, and how much of it is reserved. */
const readSubscription = async () => {
  const { balance, blockedBalance } = await world.stack.viem.readContract({
    address: world.stack.addresses.functionsRouter,
    abi: functionsRouterAbi,
    functionName: "getSubscription",
    args: [pipeline.pipeline.subscriptions.find(DESK_DAPP)!.functionsSubscriptionId],
  });
  return { balance, blockedBalance };
};
const ERROR = { code: "oracle_timeout", message: expect.stringContaining("gave no result in time") };

test("a function without a result is taken off the chain after 300 seconds, ends once, and its money comes back", async () => {
  const { id } = await accepted(await pipeline.accept("function"));
  expect((await pipeline.book.find(id))!.state).toBe("executing");
  const before = await readSubscription();
  expect(before.blockedBalance).toBeGreaterThan(0n);
  await passTime(301);
  const ended = await pipeline.ended(id);
  expect(ended).toMatchObject({ state: "failed", error: ERROR, outcome: null });
  expect(await readSubscription()).toEqual({ balance: before.balance, blockedBalance: 0n });
  expect(await world.events("RequestTimedOut")).toHaveLength(1);
  // An oracle that answers too late changes nothing.
  world.startOracle();
  await pipeline.ended((await pipeline.accept("random")).id);
  expect(await pipeline.book.find(id)).toEqual(ended);
});

test("a timeout that a reorganisation takes comes again", async () => {
  const { id } = await accepted(await pipeline.accept("function"));
  await passTime(301);
  await pipeline.ended(id);
  await request("anvil_reorg", 1, []);
  await vi.waitFor(async () => expect((await pipeline.book.find(id))!.timeline).toHaveLength(6));
  const ended = await pipeline.ended(id);
  expect(ended.timeline.map(({ state }) => state).slice(-3)).toEqual(["failed", "executing", "failed"]);
  expect([ended.error, countEnds(ended)]).toEqual([ERROR, 1]);
  expect(await world.events("RequestTimedOut")).toHaveLength(1);
});

test("an earlier process' request is timed out, and one that times out meanwhile ends, too", async () => {
  const one = await accepted(await pipeline.accept("function"));
  const two = await accepted(await pipeline.accept("function"));
  await passTime(301);
  await pipeline.close();
  pipeline = await world.open();
  for (const { id } of [one, two]) expect((await pipeline.ended(id)).error).toEqual(ERROR);
  expect(await world.events("RequestTimedOut")).toHaveLength(2);
});

test("one that was answered at the last moment keeps its result, and holds nobody up", async () => {
  const answered = await accepted(await pipeline.accept("function"));
  const silent = await accepted(await pipeline.accept("function"));
  const sees = world.node.inject(every("eth_getLogs", { status: 503 }));
  await deliverResults(world.stack, await transactionOf(answered), { response: "0x6869" });
  await passTime(301);
  await vi.waitFor(async () => expect(await world.events("RequestTimedOut")).toHaveLength(1));
  sees();
  expect((await pipeline.ended(silent.id)).error).toEqual(ERROR);
  expect((await pipeline.ended(answered.id)).outcome).toMatchObject({ parsedResult: "hi" });
});

test("within its time a request waits", async () => {
  const early = await accepted(await pipeline.accept("function"));
  await passTime(150);
  const { id } = await accepted(await pipeline.accept("function"));
  await passTime(155);
  // The check that ends the earlier request covers this one too.
  expect((await pipeline.ended(early.id)).error).toEqual(ERROR);
  expect((await pipeline.book.find(id))!.state).toBe("executing");
  expect(await world.events("RequestTimedOut")).toHaveLength(1);
});

test("a request times out by the chain's clock, and after the chain was out of sight not at once", async () => {
  const { id } = await accepted(await pipeline.accept("function"));
  const waiting = (await pipeline.book.find(id))!;
  const head = (await world.stack.client.getHead("latest"))!;
  const send = vi.fn<Sender<Payload>["send"]>(async () => await transactionOf(waiting));
  let [seenAtMs, sinceGapMs] = [0, Infinity];
  let unknownBeacon: BeaconDelay | undefined = LATE;
  const look = createFunctionTimeouts({
    client: world.stack.client,
    watcher: {
      head: () => ({ ...head, firstSeenAtMs: 0, seenAtMs }),
      watched: () => ({ totalMs: 0, sinceGapMs }),
    },
    sender: { send },
    functionsRouter: world.stack.addresses.functionsRouter,
    requests: () => [waiting],
    beaconWait: () => unknownBeacon,
  });
  const [wall, monotonic] = [Date.now(), performance.now()];
  vi.spyOn(performance, "now").mockReturnValue(monotonic);
  await look();
  vi.spyOn(performance, "now").mockReturnValue(monotonic + 10_000);
  vi.spyOn(Date, "now").mockReturnValue(wall + 86_400_000);
  await look();
  // The chain is idle: its clock passes the timeout while no block comes.
  seenAtMs = 320_000;
  sinceGapMs = 1_000;
  await look();
  expect(send).not.toHaveBeenCalled();
  sinceGapMs = 30_000;
  await look();
  // It waits for its round, and the oracle's time begins once that is known.
  expect(send).not.toHaveBeenCalled();
  unknownBeacon = undefined;
  seenAtMs += 299_000;
  await look();
  expect(send).not.toHaveBeenCalled();
  seenAtMs += 1_000;
  await look();
  expect(send).toHaveBeenCalledOnce();
  unknownBeacon = LATE;
  seenAtMs += 86_400_000;
  await look();
  expect(send).toHaveBeenCalledTimes(2);
});
