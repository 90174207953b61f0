import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { insertDapp } from "../../src/store/dapps.ts";
import type { RequestKind } from "../../src/domain/vocabulary.ts";
import { every } from "../support/faultyNode.ts";
import {
  makeRequest,
  startPipelineWorld,
  type PipelineWorld,
  type OpenPipeline,
} from "../support/pipelineWorld.ts";
import type { StoredRequest } from "../../src/store/requests.ts";

const OTHER = "dapp_other";

let world: PipelineWorld;
let pipeline: OpenPipeline;
beforeAll(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open();
  await world.storeSource(pipeline.pipeline);
  await insertDapp(pipeline.store.db, { id: OTHER, name: "other", facilities: [], createdAt: 1 });
  // Its subscriptions exist from here on: only the other requests of a transaction could hold it up.
  await pipeline.pipeline.subscriptions.ensure(OTHER);
});
afterAll(async () => {
  await pipeline.close();
  await world.close();
});

const preset = (args: readonly unknown[], more: object = {}): Partial<StoredRequest> => ({
  progress: { ...makeRequest("preset", "0x").progress, args, ...more },
});
const POISON: readonly [string, RequestKind, Partial<StoredRequest>][] = [
  ["a preset whose arguments fit no batch", "preset", preset(["y".repeat(30_000)])],
  ["a preset with 6,000 arguments", "preset", preset(Array.from({ length: 6_000 }, (_, i) => `n ${i}`))],
  ["a preset with arguments that CBOR has no form for", "preset", preset([Symbol("no")])],
  ["a preset without its source's hash", "preset", preset([], { sourceHash: "no hash" })],
  ["a function whose source is no text", "function", { params: { source: Symbol("no"), args: [] } }],
  [
    "a function with arguments of the wrong type",
    "function",
    { params: { source: "return 1", args: [() => 1] } },
  ],
  [
    "words by a number that Solidity has no form for",
    "random",
    { params: { numWords: 1.5, confirmations: 1, keyHash: `0x${"77".repeat(32)}` } },
  ],
  [
    "words of more than 32 bits",
    "random",
    { params: { numWords: 2 ** 40, confirmations: 1, keyHash: `0x${"77".repeat(32)}` } },
  ],
  [
    "words with a key hash of 31 bytes",
    "random",
    { params: { numWords: 1, confirmations: 1, keyHash: `0x${"77".repeat(31)}` } },
  ],
  [
    "words that the contract refuses",
    "random",
    { params: { numWords: 501, confirmations: 1, keyHash: `0x${"77".repeat(32)}` } },
  ],
  ["a linking of no address", "consumer", { params: { dappId: "dapp_test", consumer: "0x12" } }],
];

test("one poisoned request of every kind in a transaction ends alone and at once, and nobody else hears of it", async () => {
  const clean: RequestKind[] = ["preset", "function", "random"];
  const others = clean.flatMap((kind) => Array.from({ length: 3 }, () => kind));
  const [poisoned, neighbours] = await Promise.all([
    Promise.all(POISON.map(([, kind, change]) => pipeline.accept(kind, change))),
    Promise.all(others.map((kind) => pipeline.accept(kind, { dappId: OTHER }))),
  ]);
  for (const { id } of neighbours) {
    const { state, timeline, error } = await pipeline.ended(id);
    expect([state, error]).toEqual(["fulfilled", null]);
    expect(timeline.filter((entry) => entry.state === "submitted")).toHaveLength(1);
  }
  const ends = await Promise.all(poisoned.map(({ id }) => pipeline.ended(id)));
  for (const [index, { state, error }] of ends.entries())
    expect([POISON[index]![0], state, error?.code]).toEqual([POISON[index]![0], "failed", "request_failed"]);
  // None of them was tried a second time: no attempt is pending, and nothing of them is left behind.
  expect(pipeline.pipeline.queued()).toBe(0);
  expect(ends.every(({ why }) => why === null)).toBe(true);
});

test("a request that can't be prepared waits behind the others, which go on meanwhile", async () => {
  // The chain doesn't have this source, which may change, so it is retried.
  const missing = preset([], { sourceHash: `0x${"99".repeat(32)}` });
  const stuck = await Promise.all(Array.from({ length: 5 }, () => pipeline.accept("preset", missing)));
  await vi.waitFor(() => expect(stuck.every(({ why }) => why?.startsWith("not sent yet: "))).toBe(true));
  for (const kind of ["random", "preset", "function"] as const) {
    const neighbour = await pipeline.accept(kind, { dappId: OTHER });
    expect((await pipeline.ended(neighbour.id)).state).toBe("fulfilled");
    expect(neighbour.why).toBeNull();
  }
  expect(stuck.every(({ state }) => state === "received")).toBe(true);
  expect(pipeline.pipeline.queued()).toBe(5);
  await pipeline.book.change(() => stuck.map((request) => ({ request, state: "failed" })));
});

test("a dapp whose subscriptions can't be made holds up no other dapp", async () => {
  await insertDapp(pipeline.store.db, { id: "dapp_new", name: "new", facilities: [], createdAt: 1 });
  // Only the chain calls for the new dapp are held up.
  const stop = world.node.inject((call) =>
    call.method === "eth_call" &&
    JSON.stringify(call)
      .toLowerCase()
      .includes(world.stack.addresses.subscriptionOwner.slice(2).toLowerCase())
      ? { delayMs: 5_000 }
      : undefined,
  );
  const held = await pipeline.accept("random", { dappId: "dapp_new" });
  const neighbour = await pipeline.accept("random", { dappId: OTHER });
  expect((await pipeline.ended(neighbour.id)).state).toBe("fulfilled");
  expect(held.state).toBe("received");
  stop();
  expect((await pipeline.ended(held.id)).state).toBe("fulfilled");
});

test("while the node refuses everything, each request says why, and all go on when it can", async () => {
  const stop = world.node.inject(
    every("eth_sendRawTransactionSync", { error: { code: -32_000, message: "Insufficient funds for gas" } }),
  );
  const requests = await Promise.all(
    Array.from({ length: 6 }, () => pipeline.accept("random", { dappId: OTHER })),
  );
  await vi.waitFor(() =>
    expect(requests.every(({ why }) => /insufficient funds/i.test(why ?? ""))).toBe(true),
  );
  stop();
  for (const { id } of requests) expect((await pipeline.ended(id)).state).toBe("fulfilled");
});
