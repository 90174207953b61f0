import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OpenRequest } from "../../../src/requests/openRequest.ts";
import {
  startPipelineWorld,
  type PipelineOptions,
  type PipelineWorld,
  type OpenPipeline,
} from "../../support/pipelineWorld.ts";
import { every } from "../../support/faultyNode.ts";
import { TEST_PROVING_KEY } from "../../support/stack.ts";

let world: PipelineWorld;
let pipeline: OpenPipeline;

beforeEach(async () => {
  world = await startPipelineWorld();
  world.stopOracle();
});
afterEach(async () => {
  await pipeline.close();
  await world.close();
});

const open = async (options: PipelineOptions = {}) => {
  pipeline = await world.open(options);
  await world.storeSource(pipeline.pipeline);
};
const find = async ({ id }: OpenRequest) => (await pipeline.book.find(id))!;
const accepted = async (request: OpenRequest) => {
  await vi.waitFor(async () => expect((await find(request)).progress.acceptedBlock).toBeDefined());
  return await find(request);
};
/** To be polled: the chain has 1.5 s to answer, which a busy machine may exceed. */
const why = async (request: OpenRequest) => await pipeline.pipeline.explain(await find(request));

test("waiting for confirmations, as they come; a paused chain comes first", async () => {
  let pause: string | undefined;
  await open({ pause: () => pause });
  const params = { numWords: 1, confirmations: 5, keyHash: TEST_PROVING_KEY.keyHash };
  const request = await accepted(await pipeline.accept("random", { params }));
  await expect.poll(() => why(request)).toBe("waiting for confirmation 1 of 5");
  await world.stack.client.request("anvil_mine", ["0x2"]);
  await expect.poll(() => why(request)).toBe("waiting for confirmation 3 of 5");
  pause = "its disk is full";
  await expect.poll(() => why(request)).toBe("the chain is paused: its disk is full");
});

test("a subscription that is short says by how much", async () => {
  await open({ allowanceJuels: 10n ** 17n });
  const request = await accepted(await pipeline.accept("random"));
  // (20,000 + 200,000) gas × 1 gwei at 0.005 per LINK is 0.044 LINK, and the fee is 0.25.
  await expect
    .poll(() => why(request))
    .toMatch(/^VRF subscription \d+ is short of LINK: it holds 0\.1, and these words may cost 0\.294$/);
});

test.each(["random", "preset", "function"] as const)("%s: an oracle that is not there", async (kind) => {
  await open();
  const request = await accepted(await pipeline.accept(kind));
  await expect.poll(() => why(request)).toMatch(/^oracle not seen for \d+ seconds$/);
});

test("says that the chain has no new blocks, for as long as its node answers", async () => {
  await open();
  const request = await accepted(await pipeline.accept("random"));
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 61_000);
  try {
    await expect
      .poll(() => why(request))
      .toMatch(/^oracle not seen for \d+ seconds; the chain has had no new block for \d+ seconds$/);
  } finally {
    clock.mockRestore();
  }
});

test("a source that runs is with the oracle, which says what it is at", async () => {
  await open();
  const { promise, resolve } = Promise.withResolvers<void>();
  world.startOracle(() => promise);
  const request = await accepted(await pipeline.accept("function"));
  await expect.poll(() => why(request)).toMatch(/^with the oracle for \d+ seconds: running on 4 nodes$/);
  resolve();
  await pipeline.ended(request.id);
});

test("a transaction that waits in the pool, and its price", async () => {
  await open({ fees: { synchronous: false, repriceAfterMs: 500 } });
  await pipeline.ended((await waitForOracle()).id);
  await world.stack.client.request("evm_setAutomine", [false]);
  const request = await pipeline.accept("random");
  await vi.waitFor(async () => expect((await find(request)).state).toBe("submitted"));
  await expect
    .poll(() => why(request))
    .toMatch(/^its transaction 0x[0-9a-f]{64} is not mined yet, \d+ seconds after it was sent/);
  await expect.poll(() => why(request)).toMatch(/its price raised [1-9]\d* times/);
  await world.stack.client.request("evm_setAutomine", [true]);
  await world.stack.client.request("anvil_mine", ["0x1"]);
});

const waitForOracle = async () => {
  world.startOracle();
  return await pipeline.accept("random");
};

test("what could not be sent, and why not", async () => {
  await open();
  world.node.inject(
    every("eth_sendRawTransactionSync", { error: { code: -32_000, message: "insufficient funds for gas" } }),
  );
  const request = await pipeline.accept("random");
  await expect.poll(() => why(request)).toMatch(/^not sent yet: .*insufficient funds for gas/);
});

test("a function request that the network answers no more says since when", async () => {
  await open();
  const request = await accepted(await pipeline.accept("function"));
  // It can't be timed out on chain.
  world.node.inject(every("eth_sendRawTransactionSync", { status: 503 }));
  const { client } = world.stack;
  const asked = (await client.getHead(BigInt(request.progress.acceptedBlock!)))!;
  const timeoutAt = new Date((Number(asked.timestamp) + 300) * 1000).toISOString();
  await client.request("evm_setNextBlockTimestamp", [Number(asked.timestamp) + 300]);
  await client.request("anvil_mine", ["0x1"]);
  await expect
    .poll(() => why(request))
    .toBe(`it has timed out: no report arrived before ${timeoutAt}; it is being timed out on chain`);
});

test("a node that can't be asked is named as the reason", async () => {
  await open();
  const request = await accepted(await pipeline.accept("random"));
  world.node.inject(every("eth_getTransactionReceipt", { status: 503 }));
  await expect.poll(() => why(request)).toMatch(/^the reason can't be read from the network: .*503/);
});

test("a chain that can't be reached is the reason, in plain words, whatever else is known", async () => {
  await open();
  const request = await accepted(await pipeline.accept("function"));
  world.node.inject(every("eth_getBlockByNumber", { status: 503 }));
  await expect
    .poll(() => why(request))
    .toBe("the chain can't be read now; the request is kept, and goes on once it can");
});

test("silent nodes are named, and words that others delivered don't count as results", async () => {
  const url = (n: number) => `https://node${n}.example`;
  await open({ oracleNodes: [1, 2, 3, 4].map((n) => ({ url: url(n), answers: n < 3 })) });
  const request = await accepted(await pipeline.accept("function"));
  world.startOracle(() => new Promise(() => {}));
  await pipeline.ended((await pipeline.accept("random")).id);
  world.stopOracle();
  await expect
    .poll(() => why(request))
    .toMatch(
      /^2 of 4 oracle nodes do not answer: https:\/\/node3\.example, https:\/\/node4\.example; oracle not seen for \d+ seconds$/,
    );
});

test("nothing to say of what has ended", async () => {
  await open();
  world.startOracle();
  const request = await pipeline.ended((await pipeline.accept("random")).id);
  expect(await pipeline.pipeline.explain(request)).toBeNull();
});

test("many who ask at once cost the chain little more than one", async () => {
  await open();
  const requests = await Promise.all(Array.from({ length: 20 }, () => pipeline.accept("random")));
  for (const request of requests) await accepted(request);
  world.node.calls.splice(0);
  await Promise.all(requests.map((request) => why(request)));
  const count = (method: string) => world.node.calls.filter((call) => call.method === method).length;
  // Readings are kept for two seconds, which a busy machine may exceed; each request alone would take two calls and a receipt or more.
  expect(count("eth_call")).toBeLessThan(requests.length);
  expect(count("eth_getTransactionReceipt")).toBeLessThan(requests.length);
});
