import { encodeFunctionData, type Hex } from "viem";
import { afterEach, expect, test, vi } from "vitest";
import { vrfCoordinatorV2PlusAbi } from "../../../src/chainlink/contracts/abi.ts";
import { encodeExtraArgs } from "../../support/extraArgs.ts";
import { createPendingReasons } from "../../../src/chainlink/pendingReason.ts";
import { deliverWords, eventsOf } from "../../support/delivery.ts";
import { readLogs } from "../../support/readLogs.ts";
import { TEST_ROLES } from "../../support/stack.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;
afterEach(() => world.close());

/** Accepts any call and does nothing. */
const WILLING_CODE: Hex = "0x00";
const NATIVE = encodeExtraArgs({ nativePayment: true });
const LINK = encodeExtraArgs({ nativePayment: false });
const fulfilled = () => world.events("RandomWordsFulfilled");

/** Waits for this many answers and returns them in chain order. */
const answers = (count: number) =>
  vi.waitFor(async () => {
    const events = await fulfilled();
    expect(events).toHaveLength(count);
    return events;
  });

async function createConsumer(): Promise<Awaited<ReturnType<World["createConsumer"]>>> {
  return await world.createConsumer("77");
}

test("requests are answered in one transaction, on a subscription whose id takes 32 bytes", async () => {
  world = await startWorld({ vrfVersion: "v2.5" });
  world.startOracle();
  await world.requestWords(3, { numWords: 2 });
  const events = await answers(3);
  expect(world.dapp.vrfSubId).toBeGreaterThan(2n ** 128n);
  expect(events).toEqual(
    Array.from({ length: 3 }, () =>
      expect.objectContaining({ subId: world.dapp.vrfSubId, success: true, onlyPremium: false }),
    ),
  );
  const logs = await readLogs(world.client, [world.addresses.vrfCoordinator], world.lastRequestBlock() + 1n);
  expect(new Set(logs.map(({ transactionHash }) => transactionHash)).size).toBe(1);
});

test("extra arguments are normalised by the coordinator, and part of the commitment", async () => {
  world = await startWorld({ vrfVersion: "v2.5" });
  const consumer = await createConsumer();
  await consumer.requestWord();
  await consumer.requestWord({ extraArgs: LINK });
  await world.viem.setCode({ address: consumer.address, bytecode: WILLING_CODE });
  world.startOracle();
  expect((await answers(2)).map(({ paymentWei }) => paymentWei)).toEqual([undefined, undefined]);
  const asked = await world.events("RandomWordsRequested");
  expect(asked.map(({ extraArgs }) => extraArgs)).toEqual([LINK, LINK]);
});

test("a request that pays in coin waits for coin, while others of its subscription pay in LINK", async () => {
  world = await startWorld({ vrfVersion: "v2.5" });
  const consumer = await createConsumer();
  await consumer.requestWord({ extraArgs: NATIVE });
  await world.viem.setCode({ address: consumer.address, bytecode: WILLING_CODE });
  const oracle = world.startOracle();
  await vi.waitFor(() =>
    expect(oracle.status().pending[0]?.why).toBe(
      `VRF subscription ${world.dapp.vrfSubId} is short of coin: it holds 0, and these words may cost 0.002; fund it`,
    ),
  );
  const [asked] = await world.events("RandomWordsRequested");
  const place = { coordinator: world.addresses.vrfCoordinator, blockNumber: 1n };
  expect(await createPendingReasons(world.client).ofWords(asked!, place)).toMatch(
    /^VRF subscription \d+ is short of coin: it holds 0, and these words may cost /,
  );
  await world.requestWords(1);
  await answers(1);
  const args = [world.dapp.vrfSubId] as const;
  await world.send(TEST_ROLES.operator, {
    to: world.addresses.vrfCoordinator,
    data: encodeFunctionData({
      abi: vrfCoordinatorV2PlusAbi,
      functionName: "fundSubscriptionWithNative",
      args,
    }),
    valueWei: 10n ** 18n,
  });
  const [, native] = await answers(2);
  expect(native!.paymentWei).toBeGreaterThan(0n);
});

test("presets that pay in coin", async () => {
  world = await startWorld({ vrfVersion: "v2.5", nativePayment: true, vrfLink: 0n });
  await world.send(TEST_ROLES.operator, {
    to: world.addresses.vrfCoordinator,
    data: encodeFunctionData({
      abi: vrfCoordinatorV2PlusAbi,
      functionName: "fundSubscriptionWithNative",
      args: [world.dapp.vrfSubId],
    }),
    valueWei: 10n ** 18n,
  });
  world.startOracle();
  await world.requestPresets("return Functions.encodeUint256(7)", 2);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
  expect((await answers(1))[0]!.paymentWei).toBeGreaterThan(0n);
});

test("gas that costs more than the lane takes holds a request back, which says so", async () => {
  world = await startWorld({ vrfVersion: "v2.5", laneMaxGasWei: 1n });
  const oracle = world.startOracle();
  await world.requestWords(1);
  await vi.waitFor(() =>
    expect(oracle.status().pending[0]?.why).toBe(
      "gas lane too low: with this key hash the coordinator takes proofs at 0.000000001 gwei at most, and gas costs 1 gwei; waiting for the price to fall",
    ),
  );
  const [asked] = await world.events("RandomWordsRequested");
  const blockNumber = world.lastRequestBlock();
  const place = { coordinator: world.addresses.vrfCoordinator, blockNumber };
  expect(await createPendingReasons(world.client).ofWords(asked!, place)).toContain(
    "with this key hash the coordinator takes proofs at 0.000000001 gwei at most",
  );
  expect(await fulfilled()).toEqual([]);
});

test("whoever pays the gas may fulfil above the lane's limit; the subscription pays the premium alone", async () => {
  world = await startWorld({ vrfVersion: "v2.5", laneMaxGasWei: 1n });
  await world.requestWords(1);
  const [log] = await readLogs(world.client, [world.addresses.vrfCoordinator], world.lastRequestBlock());
  const receipt = await world.client.getReceipt(log!.transactionHash);
  const delivered = await deliverWords(world, receipt!, { onlyPremium: true });
  expect(eventsOf(delivered, "RandomWordsFulfilled")).toEqual([
    expect.objectContaining({ success: true, onlyPremium: true }),
  ]);
});
