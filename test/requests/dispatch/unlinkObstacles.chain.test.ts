import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { encodeFunctionData, getAddress, stringToHex, toHex } from "viem";
import type { Abi, Hex } from "viem";
import {
  functionsRouterAbi,
  vrfCoordinatorAbi,
  vrfCoordinatorV2PlusAbi,
} from "../../../src/chainlink/contracts/abi.ts";
import {
  DESK_DAPP,
  startPipelineWorld,
  type OpenPipeline,
  type PipelineWorld,
} from "../../support/pipelineWorld.ts";
import { untilStored } from "../../support/readLogs.ts";
import { TEST_PROVING_KEY } from "../../support/stack.ts";
import { isEnded } from "../../../src/domain/vocabulary.ts";

/** Time for what the chain and two processes do one after the other. */
const WAIT = { timeout: 60_000, interval: 50 };
/** EVM code of a contract that accepts every call. */
const TAKES_ALL = "0x00";

let world: PipelineWorld;
let pipeline: OpenPipeline;
beforeAll(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open();
});
afterAll(async () => {
  await pipeline.close();
  await world.close();
});

const rpc = (method: string, ...parameters: readonly unknown[]) =>
  world.stack.client.request(method, parameters);
const ended = async (id: string) =>
  await vi.waitFor(async () => {
    const found = (await pipeline.book.find(id))!;
    if (!isEnded(found.state)) throw new Error(`${id} is ${found.state}: ${found.why}`);
    return found;
  }, WAIT);
const link = async (consumer: Hex) => {
  const { id } = await pipeline.accept("consumer", { params: { dappId: DESK_DAPP, consumer } });
  expect(await ended(id)).toMatchObject({ state: "fulfilled" });
};
const unlink = (consumer: Hex) => pipeline.accept("unlink", { params: { consumer } });
const obstacleOf = (consumer: Hex) => pipeline.pipeline.findUnlinkObstacle(DESK_DAPP, consumer);

/** Calls a contract of the stack as a consumer would. */
async function callAs(
  from: Hex,
  to: Hex,
  abi: Abi,
  functionName: string,
  args: readonly unknown[],
): Promise<Hex> {
  await rpc("anvil_setBalance", from, toHex(10n ** 18n));
  await rpc("anvil_impersonateAccount", from);
  const data = encodeFunctionData({ abi, functionName, args });
  const hash = (await rpc("eth_sendTransaction", { from, to, data, gas: toHex(2_000_000) })) as Hex;
  await vi.waitFor(
    async () => expect(await world.stack.client.getReceipt(hash)).toMatchObject({ succeeded: true }),
    WAIT,
  );
  // Obstacles are found by logs, which Anvil stores a moment after the receipt.
  await untilStored(world.stack.client);
  return hash;
}
async function askWords(consumer: Hex): Promise<Hex> {
  const { vrfSubscriptionId } = await pipeline.pipeline.subscriptions.ensure(DESK_DAPP);
  const args = [TEST_PROVING_KEY.keyHash, vrfSubscriptionId, 1, 100_000, 1];
  return await callAs(
    consumer,
    world.stack.addresses.vrfCoordinator,
    vrfCoordinatorAbi,
    "requestRandomWords",
    args,
  );
}

test("a word that never comes is named with its contract; the contract's next word sets it free", async () => {
  const [stuck, other] = [getAddress(`0x${"a1".repeat(20)}`), getAddress(`0x${"a2".repeat(20)}`)];
  await link(stuck);
  await link(other);
  // The coordinator doesn't call accounts without code, so nobody can answer this.
  const asked = await askWords(stuck);
  const obstacle = (await obstacleOf(other))!;
  expect(obstacle).toContain(
    `contract ${stuck} waits for the random words that transaction ${asked} asked for`,
  );
  expect(obstacle).toContain("has no code, so the coordinator refuses every answer");
  expect(obstacle).toContain("once a later request of the same contract is answered");
  const unlinking = await unlink(other);
  await vi.waitFor(() => expect(unlinking.why).toContain(asked), WAIT);

  await rpc("anvil_setCode", stuck, TAKES_ALL);
  world.stopOracle();
  world.startOracle();
  await askWords(stuck);
  expect(await ended(unlinking.id)).toMatchObject({ state: "fulfilled" });
  expect(await obstacleOf(stuck)).toBeUndefined();
});

test("a contract's function request that nobody answers keeps it until it times out, and is taken off then", async () => {
  const consumer = getAddress(`0x${"b1".repeat(20)}`);
  await link(consumer);
  world.stopOracle();
  const { functionsSubscriptionId } = await pipeline.pipeline.subscriptions.ensure(DESK_DAPP);
  const sent = await world.events("RequestStart");
  await callAs(consumer, world.stack.addresses.functionsRouter, functionsRouterAbi, "sendRequest", [
    functionsSubscriptionId,
    "0x6573",
    1,
    100_000,
    stringToHex("fun-test-1", { size: 32 }),
  ]);
  const [request] = (await world.events("RequestStart")).slice(sent.length);
  expect(await obstacleOf(consumer)).toContain(
    `its function request ${request!.requestId} is open (no report from the oracle yet; one may arrive until `,
  );
  await rpc("evm_increaseTime", 301);
  await rpc("anvil_mine", "0x1");
  const { id } = await unlink(consumer);
  expect(await ended(id)).toMatchObject({ state: "fulfilled" });
  expect((await world.events("RequestTimedOut")).map(({ requestId }) => requestId)).toEqual([
    request!.requestId,
  ]);
});

test("what is not linked has no obstacle", async () => {
  expect(await obstacleOf(getAddress(`0x${"c1".repeat(20)}`))).toBeUndefined();
});

test("v2.5: a request for an unknown key keeps a contract on the words' subscription, not on the functions'", async () => {
  const plus = await startPipelineWorld({ vrfVersion: "v2.5" });
  const opened = await plus.open();
  try {
    const consumer = getAddress(`0x${"d1".repeat(20)}`);
    const accept = (kind: "consumer" | "unlink") =>
      opened.accept(kind, { params: { dappId: DESK_DAPP, consumer } });
    expect(await opened.ended((await accept("consumer")).id)).toMatchObject({ state: "fulfilled" });
    const { subscriptions } = opened.pipeline;
    const subscription = await subscriptions.ensure(DESK_DAPP);
    const { client, addresses } = plus.stack;
    await client.request("anvil_setBalance", [consumer, toHex(10n ** 18n)]);
    await client.request("anvil_impersonateAccount", [consumer]);
    const data = encodeFunctionData({
      abi: vrfCoordinatorV2PlusAbi,
      functionName: "requestRandomWords",
      args: [
        {
          keyHash: `0x${"77".repeat(32)}`,
          subId: subscription.vrfSubscriptionId,
          requestConfirmations: 1,
          callbackGasLimit: 100_000,
          numWords: 1,
          extraArgs: "0x",
        },
      ],
    });
    const call = { from: consumer, to: addresses.vrfCoordinator, data, gas: toHex(500_000) };
    const hash = (await client.request("eth_sendTransaction", [call])) as Hex;
    await vi.waitFor(
      async () => expect(await client.getReceipt(hash)).toMatchObject({ succeeded: true }),
      WAIT,
    );

    const unlinking = await accept("unlink");
    await vi.waitFor(() => expect(unlinking.why).toContain(`transaction ${hash} asked for`), WAIT);
    expect(unlinking.state).toBe("received");
    expect(await subscriptions.readConsumers(subscription)).toEqual({
      vrf: [getAddress(addresses.presetConsumer), consumer],
      functions: [getAddress(addresses.presetConsumer)],
    });
  } finally {
    await opened.close();
    await plus.close();
  }
});
