import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { encodeFunctionData, getAddress, parseAbi, toHex } from "viem";
import type { Hex } from "viem";
import { insertDapp } from "../../src/store/dapps.ts";
import { createSender } from "../../src/evm/sender.ts";
import { fixedFees } from "../../src/evm/fees.ts";
import { createLinker } from "../../src/requests/dispatch/linker.ts";
import { listConsumers } from "../../src/store/chainRecords.ts";
import type { Payload } from "../../src/store/transactionContents.ts";
import { TEST_ROLES } from "../support/stack.ts";
import { every } from "../support/faultyNode.ts";
import {
  DESK_DAPP,
  DESK_NETWORK,
  makeRequest,
  startPipelineWorld,
  type PipelineWorld,
  type OpenPipeline,
} from "../support/pipelineWorld.ts";

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

const consumerAt = (index: number): Hex =>
  getAddress(`0x${(0xabc000 + index).toString(16).padStart(40, "0")}`);
const link = (consumer: Hex, dappId = DESK_DAPP) =>
  pipeline.accept("consumer", { dappId, params: { dappId, consumer } });
const unlink = (consumer: Hex, dappId = DESK_DAPP) =>
  pipeline.accept("unlink", { dappId, params: { consumer } });
const linkedOnChain = async (dappId = DESK_DAPP): Promise<readonly Hex[]> => {
  const { subscriptions } = pipeline.pipeline;
  const { vrf, functions } = await subscriptions.readConsumers(await subscriptions.ensure(dappId));
  expect(vrf).toEqual(functions);
  return vrf;
};
const known = async (): Promise<string[]> =>
  (await listConsumers(pipeline.store.db, DESK_DAPP, DESK_NETWORK)).map(({ address }) => address);

/** Removes a contract from the subscriptions as their owner, bypassing the service. */
async function unlinkBehind(consumer: Hex): Promise<void> {
  const { client, addresses } = world.stack;
  const { vrfSubscriptionId, functionsSubscriptionId } =
    await pipeline.pipeline.subscriptions.ensure(DESK_DAPP);
  const from = addresses.subscriptionOwner;
  await client.request("anvil_setBalance", [from, toHex(10n ** 18n)]);
  await client.request("anvil_impersonateAccount", [from]);
  const abi = parseAbi(["function removeConsumer(uint64 subscriptionId, address consumer)"]);
  for (const [to, id] of [
    [addresses.vrfCoordinator, vrfSubscriptionId],
    [addresses.functionsRouter, functionsSubscriptionId],
  ] as const) {
    const data = encodeFunctionData({ abi, functionName: "removeConsumer", args: [id, consumer] });
    const hash = (await client.request("eth_sendTransaction", [
      { from, to, data, gas: toHex(2_000_000) },
    ])) as Hex;
    // The answer may come before the block.
    await vi.waitFor(async () => expect(await client.getReceipt(hash)).toMatchObject({ succeeded: true }));
  }
}

test("a contract is linked, unlinked and linked again, each by a transaction of its own", async () => {
  const ends = [];
  for (const ask of [link, unlink, link]) ends.push(await pipeline.ended((await ask(consumerAt(1))).id));
  expect(ends.map(({ state }) => state)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
  expect(new Set(ends.map(({ outcome }) => outcome!["transactionHash"])).size).toBe(3);
  expect(await linkedOnChain()).toContain(consumerAt(1));
  expect(await known()).toContain(consumerAt(1));
});

test("the chain's own list decides: what it has lost is linked anew though the store knows it", async () => {
  const first = await pipeline.ended((await link(consumerAt(2))).id);
  await unlinkBehind(consumerAt(2));
  expect(await linkedOnChain()).not.toContain(consumerAt(2));
  expect(await known()).toContain(consumerAt(2));
  const again = await pipeline.ended((await link(consumerAt(2))).id);
  expect(again.outcome!["transactionHash"]).not.toBe(first.outcome!["transactionHash"]);
  expect(await linkedOnChain()).toContain(consumerAt(2));
  const third = await pipeline.ended((await link(consumerAt(2))).id);
  expect(third.outcome).toEqual(again.outcome);
});

test("while requests are under way a consumer can't go: it says so, and goes when they have ended", async () => {
  await pipeline.ended((await link(consumerAt(3))).id);
  world.stopOracle();
  const pending = await pipeline.accept("random");
  await vi.waitFor(() => expect(pending.progress.acceptedBlock).toBeDefined());
  const request = await unlink(consumerAt(3));
  await vi.waitFor(() => expect(request.why).toMatch(/the dapp's subscriptions have open requests/));
  world.startOracle();
  expect((await pipeline.ended(pending.id)).state).toBe("fulfilled");
  expect((await pipeline.ended(request.id)).state).toBe("fulfilled");
  expect(await linkedOnChain()).not.toContain(consumerAt(3));
  expect(await known()).not.toContain(consumerAt(3));
});

test("what is not linked can't be unlinked, and says why", async () => {
  const { state, error } = await pipeline.ended((await unlink(consumerAt(4))).id);
  expect(state).toBe("failed");
  expect(error!.message).toContain("InvalidConsumer");
});

test("a linking that ends while the reason of its reported revert is looked for stays as it ended", async () => {
  const { book, client, store, watcher } = pipeline;
  const { outcome } = await pipeline.ended((await link(consumerAt(9))).id);
  const receipt = (await client.getReceipt(outcome!["transactionHash"]))!;
  const { signal } = new AbortController();
  const onError = (error: unknown): void => void world.errors.push(error);
  const sender = createSender<Payload>({
    client,
    account: TEST_ROLES.operator,
    chainId: world.stack.chainId,
    fees: fixedFees(world.stack.gasPriceWei, { synchronous: true }),
    signal,
    onError,
  });
  const asked = Promise.withResolvers<void>();
  const reason = Promise.withResolvers<string>();
  const linker = createLinker({
    network: DESK_NETWORK,
    client,
    watcher,
    store,
    book,
    sender,
    contracts: world.stack.addresses,
    subscriptions: pipeline.pipeline.subscriptions,
    requestTransactions: { find: async () => undefined },
    explainRevert() {
      asked.resolve();
      return reason.promise;
    },
    onError,
    signal,
  });
  // Nothing else takes it: it is in the book only.
  const request = makeRequest("consumer", consumerAt(9));
  await book.add(request);
  const failing = linker.finish(request, { ...receipt, succeeded: false });
  await asked.promise;
  await linker.finish(request, receipt);
  expect(request).toMatchObject({ state: "fulfilled", error: null, outcome });
  // It is unlinked before a further look at the same receipt, which must not record it as linked again.
  expect((await pipeline.ended((await unlink(consumerAt(9))).id)).state).toBe("fulfilled");
  await linker.finish(request, receipt);
  reason.resolve("no reason given");
  await failing;
  expect(request).toMatchObject({ state: "fulfilled", error: null, outcome, version: 2 });
  expect(await known()).not.toContain(consumerAt(9));
});

test("one dapp's linkings that can't be sent hold up no other dapp's", async () => {
  const dappId = "dapp_neighbour";
  await insertDapp(pipeline.store.db, { id: dappId, name: "neighbour", facilities: [], createdAt: 1 });
  await pipeline.pipeline.subscriptions.ensure(dappId);
  const { vrfSubscriptionId } = await pipeline.pipeline.subscriptions.ensure(DESK_DAPP);
  // Makes reading the first dapp's list fail until it is stopped.
  const id = vrfSubscriptionId.toString(16).padStart(64, "0");
  const stop = world.node.inject((call) =>
    JSON.stringify(call).includes(id) ? every("eth_call", { status: 503 })(call) : undefined,
  );
  const stuck = await Promise.all([5, 6, 7].map((index) => link(consumerAt(index))));
  const neighbour = await link(consumerAt(8), dappId);
  expect((await pipeline.ended(neighbour.id)).state).toBe("fulfilled");
  expect(stuck.map(({ state }) => state)).toEqual(["received", "received", "received"]);
  stop();
  for (const request of stuck) expect((await pipeline.ended(request.id)).state).toBe("fulfilled");
});

test.each([1, 10, 50, 99])(
  "with %i contracts linked beside ours, presets, functions and words come through at once",
  async (count) => {
    const dappId = `dapp_${count}`;
    await insertDapp(pipeline.store.db, { id: dappId, name: "many", facilities: [], createdAt: 1 });
    const links = await Promise.all(
      Array.from({ length: count }, (_, index) => link(consumerAt(index), dappId)),
    );
    for (const { id } of links) expect((await pipeline.ended(id)).state).toBe("fulfilled");
    expect(await linkedOnChain(dappId)).toHaveLength(count + 1);
    const kinds = ["preset", "preset", "preset", "function", "function", "random"] as const;
    const requests = await Promise.all(kinds.map((kind) => pipeline.accept(kind, { dappId })));
    for (const { id } of requests) {
      const { state, error, outcome } = await pipeline.ended(id);
      expect([state, error, outcome?.["err"] ?? "0x"]).toEqual(["fulfilled", null, "0x"]);
    }
  },
);
