import { encodeFunctionData } from "viem";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { functionsCoordinatorAbi } from "../../../src/chainlink/contracts/abi.ts";
import { decodeConfigSet, CONFIG_SET_TOPIC, encodeAdoptNodes } from "../../../src/chainlink/nodeConfig.ts";
import { decodeDelivery, decodeFulfilments } from "../../../src/chainlink/calldata.ts";
import { submit, submitJoined } from "../../support/consumer.ts";
import { GRACE_MS } from "../../../src/oracle/batches/presetNetwork.ts";
import { createReportSigner } from "../../../src/oracle/signer.ts";
import { testAccount } from "../../support/anvil.ts";
import { deliverWords, eventsOf } from "../../support/delivery.ts";
import { FURTHER_PROVING_KEYS, TEST_ROLES } from "../../support/stack.ts";
import { createTestRunner } from "../support/runner.ts";
import { startWorld, type World } from "../support/world.ts";

const ECHO = "return Uint8Array.from(bytesArgs[0].slice(2).match(/../g), (byte) => parseInt(byte, 16))";
let world: World;
beforeEach(async () => {
  world = await startWorld({ vrfKeys: 2 });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await world.close();
});

/** Has proofs wait for their results however long they take: on a busy machine that may be more than the time that they wait. */
function waitForResults(): void {
  const { setTimeout } = globalThis;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((
    ...[work, ms, ...rest]: Parameters<typeof setTimeout>
  ) => setTimeout(work, ms === GRACE_MS ? 2 ** 31 - 1 : ms, ...rest)) as typeof setTimeout);
}

test("proof and results are in one transaction, in the block after the request", async () => {
  waitForResults();
  world.startOracle();
  await world.requestPresets(ECHO, 3);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(3));
  const block = await world.viem.getBlock({ includeTransactions: true });
  expect(block.number).toBe(world.lastRequestBlock() + 1n);
  const [transaction, ...others] = block.transactions;
  expect(others).toEqual([]);
  expect(decodeDelivery(transaction!.input)?.reports).toHaveLength(1);
  expect(decodeFulfilments(transaction!.input)).toHaveLength(1);
});

test.each([
  ["of a pure source, one run stands for all nodes", "return new Uint8Array(1)", 1],
  ["of any other source, each node makes its own", "await 0; return new Uint8Array(1)", 4],
])("%s", async (_name, source, runs) => {
  let begun = 0;
  world.startOracle({ runner: createTestRunner(() => void (begun += 1)) });
  await world.requestPresets(source, 1);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(1));
  expect(begun).toBe(runs);
});

test("a source that takes long does not hold back the proof", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  world.startOracle({ runner: createTestRunner(() => promise) });
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.events("RandomWordsFulfilled")).toHaveLength(1));
  expect(await world.results()).toEqual([]);
  resolve();
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(1));
});

test("one that fails is answered with its error, beside the results of others", async () => {
  world.startOracle();
  await world.requestPresets("throw new Error('no luck')", 1);
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
  const [failed] = (await world.results()).filter(({ ok }) => !ok);
  expect(Buffer.from(failed!.bytes).toString()).toContain("no luck");
});

test("where somebody else delivers the proofs, the results follow", async () => {
  world.startOracle({ vrf: [] });
  await world.requestPresets(ECHO, 2);
  const [hash] = (await world.viem.getBlock()).transactions;
  await deliverWords(world, (await world.client.getReceipt(hash!))!);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
});

test("presets with the joined words of two keys", async () => {
  const [own] = world.network.vrf;
  world.startOracle({ vrf: [own!, { ...own!, key: FURTHER_PROVING_KEYS[0]! }] });
  await world.requestPresets(ECHO, 1);
  const joined = await submitJoined(world, [{ dapp: world.dapp, items: [{ sourceId: 1 }], keys: 2 }]);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
  const [event] = await world.events("WordsJoined");
  expect(event?.requestId).toBe(eventsOf(joined, "BatchRequested")[0]!.vrfRequestId);
});

test("after a change of the configuration, reports are signed for it once it is adopted", async () => {
  world.startOracle();
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(1));
  const coordinator = world.addresses.functionsCoordinator;
  const receipt = await world.send(TEST_ROLES.deployer, {
    to: coordinator,
    data: encodeFunctionData({
      abi: functionsCoordinatorAbi,
      functionName: "setConfig",
      args: [
        TEST_ROLES.signers.map(({ address }) => address).toReversed(),
        TEST_ROLES.transmitters.map(({ address }) => address),
        1,
        "0x",
        1n,
        "0x",
      ],
    }),
  });
  const config = decodeConfigSet(receipt.logs.find(({ topics }) => topics[0] === CONFIG_SET_TOPIC)!.data);
  await world.send(TEST_ROLES.transmitters[0]!, {
    to: world.addresses.presetConsumer,
    data: encodeAdoptNodes(config, { chainId: world.chainId, coordinator, count: config.count }),
  });
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
});

test("results that a reorganisation takes are given again, for the new word", async () => {
  world.startOracle();
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(1));
  const snapshot = await world.viem.snapshot();
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
  const before = await world.results();
  await world.viem.revert({ id: snapshot });
  await world.viem.mine({ blocks: 3 });
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
  expect((await world.results())[1]).not.toEqual(before[1]);
});

test("what a reorganisation removes with proof and report is sent again, for the same word", async () => {
  world.startOracle();
  await world.requestPresets(ECHO, 2);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
  const before = [await world.results(), await world.events("RandomWordsFulfilled")];
  const { blockHash } = await world.viem.getTransactionReceipt({
    hash: (await world.viem.getBlock()).transactions[0]!,
  });
  await world.client.request("anvil_reorg", [1, []]);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
  expect([await world.results(), await world.events("RandomWordsFulfilled")]).toEqual(before);
  expect((await world.viem.getBlock()).hash).not.toBe(blockHash);
  expect(await world.events("BatchReported")).toHaveLength(1);
});

test("a batch whose request a reorganisation removes is left alone, and one sent again is answered", async () => {
  const oracle = world.startOracle();
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(1));
  const { number: head } = (await world.client.getHead("latest"))!;
  await world.client.request("anvil_reorg", [Number(head - world.lastRequestBlock()) + 1, []]);
  expect(await world.results()).toEqual([]);
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(1));
  await vi.waitFor(() => expect(oracle.status().pending).toEqual([]));
  expect(await world.events("BatchRequested")).toHaveLength(1);
});

test("a malformed batch gets its word and no results, and holds nothing up", async () => {
  const oracle = world.startOracle();
  await submit(world, { presets: [{ dapp: world.dapp, items: [], batch: "0x000105" }] });
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(1));
  await vi.waitFor(() => expect(oracle.status().pending).toEqual([]));
  expect(await world.events("RandomWordsFulfilled")).toHaveLength(2);
  expect(world.lines.map(({ message }) => message)).toContain("presets: a malformed batch gets no results");
});

test("results too long for one transaction come in several", async () => {
  const long = { maxResponseBytes: 20_000, nodes: world.network.functions.nodes };
  world.startOracle({ functions: long });
  const items = [{ sourceId: await world.storeSource("return new Uint8Array(20_000)") }];
  await submit(world, { presets: Array.from({ length: 9 }, () => ({ dapp: world.dapp, items })) });
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(9));
  expect((await world.results()).every(({ ok, bytes }) => ok && bytes.length === 20_000)).toBe(true);
});

test("without the signatures that PresetConsumer wants, the words still come, and the batch says what it waits for", async () => {
  const nodes = world.network.functions.nodes.map(({ transmitter }, i) => ({
    transmitter,
    signer: createReportSigner(testAccount(20 + i).secretKey),
  }));
  const oracle = world.startOracle({ functions: { nodes, maxResponseBytes: 256 } });
  await world.requestPresets(ECHO, 1);
  await vi.waitFor(async () => expect(await world.events("RandomWordsFulfilled")).toHaveLength(1));
  await vi.waitFor(() =>
    expect(oracle.status().pending).toMatchObject([
      {
        kind: "presets",
        why: expect.stringContaining("0 of the 3 nodes that must sign; send it adoptNodes"),
      },
    ]),
  );
});
