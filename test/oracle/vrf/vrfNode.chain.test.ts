import { afterEach, expect, test, vi } from "vitest";
import { encodeAbiParameters, encodeEventTopics, encodeFunctionData, size, type Hex } from "viem";
import { batchVrfCoordinatorAbi, blockhashStoreAbi } from "../../../src/chainlink/contracts/abi.ts";
import { createPoolClient } from "../../../src/evm/nodePool.ts";
import { createSender } from "../../../src/evm/sender.ts";
import { fromHexText } from "../../../src/lib/hex.ts";
import { decodeProof } from "../../../src/vrf/proof.ts";
import { keyHash, seedOf } from "../../../src/vrf/randomWords.ts";
import { verify } from "../../../src/vrf/verify.ts";
import { startFaultyNode } from "../../support/faultyNode.ts";
import { TEST_PROVING_KEY, TEST_ROLES } from "../../support/stack.ts";
import { randomValueFromVrfProof } from "../../vrf/support/vrfSol.ts";
import { startWorld, type World } from "../support/world.ts";
import { fixedFees } from "../../../src/evm/fees.ts";

/** Returns the code of a contract that answers each call with one log. */
function emitting(topics: readonly Hex[], data: Hex): Hex {
  const stores = (data.slice(2).match(/.{64}/g) ?? []).map(
    (word, i) => `7f${word}61${(32 * i).toString(16).padStart(4, "0")}52`,
  );
  const pushes = topics.toReversed().map((topic) => `7f${topic.slice(2)}`);
  const log = `61${size(data).toString(16).padStart(4, "0")}5f${(0xa0 + topics.length).toString(16)}00`;
  return `0x${[...stores, ...pushes, log].join("")}`;
}

let world: World;
afterEach(() => world.close());

/** Waits until the oracle has logged this many fulfillments; returns their transactions. */
const fulfilments = (count: number) =>
  vi.waitFor(() => {
    const lines = world.lines.filter(({ message }) => message === "vrf: fulfilled");
    expect(lines).toHaveLength(count);
    return lines.map(({ fields }) => fields["transactionHash"] as Hex);
  });
const fulfilled = () => world.events("RandomWordsFulfilled");

test("the coordinator accepts the proof, and it verifies from the transaction's calldata", async () => {
  world = await startWorld();
  world.startOracle();
  await world.requestWords(1, { numWords: 3 });
  const [hash] = await fulfilments(1);
  const { input } = await world.viem.getTransaction({ hash: hash! });
  // The selector, two offsets and a length precede the first proof.
  const proof = decodeProof(fromHexText(input), 4 + 3 * 32);
  const block = await world.viem.getBlock({ blockNumber: world.lastRequestBlock() });
  const seed = seedOf(proof.preSeed, block.hash);
  const output = (await fulfilled())[0]!.outputSeed;
  expect(keyHash(proof.publicKey)).toBe(TEST_PROVING_KEY.keyHash);
  expect(verify(proof, seed)).toEqual({ valid: true, output });
  expect(randomValueFromVrfProof(proof, seed)).toBe(output);
});

test("requests that are ready together share a transaction", async () => {
  world = await startWorld();
  world.startOracle();
  await world.requestWords(20);
  expect(new Set(await fulfilments(20)).size).toBe(1);
});

test("the gas cap splits a batch", async () => {
  world = await startWorld();
  world.startOracle({ pipelining: { maxInFlight: 1, paceMs: 60_000, maxTransactionGas: 2_000_000n } });
  await world.requestWords(10);
  expect(new Set(await fulfilments(10)).size).toBe(2);
});

test("it waits for the confirmations asked, the request's own block included", async () => {
  world = await startWorld();
  const oracle = world.startOracle();
  await world.requestWords(1, { confirmations: 3 });
  await vi.waitFor(() => expect(oracle.status().pending[0]?.why).toBe("waiting for confirmation 1 of 3"));
  await world.viem.mine({ blocks: 1 });
  await vi.waitFor(() => expect(oracle.status().pending[0]?.why).toBe("waiting for confirmation 2 of 3"));
  expect(await fulfilled()).toHaveLength(0);
  await world.viem.mine({ blocks: 1 });
  await fulfilments(1);
  expect(oracle.status().pending).toEqual([]);
});

test("says what the operator pays for gas at most, on a coordinator without a lane's limit", async () => {
  world = await startWorld();
  const { gasPriceWei } = world;
  const sender = createSender({
    client: world.client,
    account: TEST_ROLES.vrfOracle,
    chainId: world.chainId,
    fees: { ...fixedFees(gasPriceWei, { synchronous: true }), maxFeeWei: gasPriceWei / 2n },
    signal: world.network.signal,
    onError: () => {},
  });
  const oracle = world.startOracle({ vrf: [{ key: TEST_PROVING_KEY, sender }] });
  await world.requestWords(1);
  await vi.waitFor(() =>
    expect(oracle.status().pending[0]?.why).toBe(
      "gas costs 1 gwei, and at most 0.5 gwei are paid; waiting for the price to fall",
    ),
  );
});

test("an underfunded request waits, says why, and goes on once its subscription is funded", async () => {
  world = await startWorld({ vrfLink: 0n });
  const oracle = world.startOracle();
  await world.requestWords(1);
  await vi.waitFor(() =>
    expect(oracle.status().pending[0]?.why).toBe(
      `VRF subscription ${world.dapp.vrfSubId} is short of LINK: it holds 0; fund it`,
    ),
  );
  await world.requestWords(1);
  await vi.waitFor(() => expect(oracle.status().pending).toHaveLength(2));
  expect(world.lines.filter(({ message }) => message.includes("refused"))).toHaveLength(1);
  await world.fundVrf();
  await vi.waitFor(async () => expect(await fulfilled()).toHaveLength(2));
});

test("others' requests cost no gas that their subscription doesn't pay for", async () => {
  world = await startWorld({ vrfLink: 0n });
  const consumer = await world.createConsumer("7b");
  await consumer.requestWord();
  // It burns whatever gas a callback has.
  await world.viem.setCode({ address: consumer.address, bytecode: "0xfe" });
  const oracle = world.startOracle();
  await vi.waitFor(() =>
    expect(oracle.status().pending[0]?.why).toBe(
      `VRF subscription ${world.dapp.vrfSubId} is short of LINK: it holds 0, and these words may cost 0.313; fund it`,
    ),
  );
  await world.fundVrf();
  await vi.waitFor(async () => expect(await fulfilled()).toHaveLength(1));
  expect(await world.viem.getTransactionCount(TEST_ROLES.vrfOracle)).toBe(1);
});

test("of others' requests at once, as many go as their subscription holds LINK for", async () => {
  world = await startWorld({ vrfLink: 1n });
  const consumer = await world.createConsumer("7c");
  for (let i = 0; i < 40; i += 1) await consumer.requestWord();
  await world.viem.setCode({ address: consumer.address, bytecode: "0xfe" });
  const oracle = world.startOracle();
  await vi.waitFor(() =>
    expect(
      oracle.status().pending.some(({ why }) => why.endsWith("these words may cost 0.313; fund it")),
    ).toBe(true),
  );
  const first = (await fulfilled()).length;
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(40);
  await world.fundVrf();
  await vi.waitFor(async () => expect(await fulfilled()).toHaveLength(40));
  expect(world.lines.filter(({ message }) => message.includes("refused"))).toEqual([]);
});

test("one entry that always fails doesn't hold its neighbours up", async () => {
  world = await startWorld();
  const consumer = await world.createConsumer("77");
  const oracle = world.startOracle();
  await world.viem.setAutomine(false);
  // An account without code: the coordinator reverts when it makes the callback.
  await consumer.requestWord();
  await world.viem.setAutomine(true);
  await world.requestWords(3);
  await vi.waitFor(async () => expect(await fulfilled()).toHaveLength(3));
  await vi.waitFor(() =>
    expect(oracle.status().pending.map(({ why }) => why)).toEqual([expect.stringContaining("has no code")]),
  );
  expect(world.lines.filter(({ message }) => message.includes("refused"))).toEqual([]);
});

test("a callback that reverts is noticed and not repeated", async () => {
  world = await startWorld();
  const consumer = await world.createConsumer("78");
  await consumer.requestWord();
  await world.viem.mine({ blocks: 1 });
  await world.viem.setCode({ address: consumer.address, bytecode: "0x60006000fd" });
  const oracle = world.startOracle();
  await vi.waitFor(async () =>
    expect(await fulfilled()).toEqual([expect.objectContaining({ success: false })]),
  );
  await vi.waitFor(() =>
    expect(world.lines.find(({ level }) => level === "warn")?.message).toContain(
      "the consumer's callback reverted",
    ),
  );
  expect(oracle.status().pending).toEqual([]);
});

test("a callback can't say in the coordinator's name how its neighbours ended", async () => {
  world = await startWorld();
  const victim = await world.createConsumer("79");
  const liar = await world.createConsumer("7a");
  await victim.requestWord({ confirmations: 3 });
  await liar.requestWord({ confirmations: 2 });
  const oracle = world.startOracle();
  await vi.waitFor(() => expect(oracle.status().pending).toHaveLength(2));
  const [topic] = encodeEventTopics({ abi: batchVrfCoordinatorAbi, eventName: "ErrorReturned" });
  const reason = encodeAbiParameters([{ type: "string" }], ["InsufficientBalance"]);
  const topics = [topic, oracle.status().pending[0]!.requestId];
  await world.viem.setCode({ address: victim.address, bytecode: "0x00" });
  await world.viem.setCode({ address: liar.address, bytecode: emitting(topics, reason) });
  await world.viem.mine({ blocks: 1 });
  await vi.waitFor(async () => expect(await fulfilled()).toHaveLength(2));
  await world.requestWords(1);
  await vi.waitFor(async () => expect(await fulfilled()).toHaveLength(3));
  expect(world.lines.filter(({ level }) => level !== "info")).toEqual([]);
});

test("a request for another key is left alone", async () => {
  world = await startWorld();
  const consumer = await world.createConsumer("79");
  const oracle = world.startOracle();
  await consumer.requestWord({ keyHash: `0x${"ab".repeat(32)}` });
  await world.requestWords(1);
  await fulfilments(1);
  expect(oracle.status().pending).toEqual([]);
});

test("the block hash of a request that waits long is stored in time, and used once it is older than 256 blocks", async () => {
  world = await startWorld({ vrfLink: 0n });
  const oracle = world.startOracle();
  await world.requestWords(1);
  await vi.waitFor(() =>
    expect(oracle.status().pending[0]?.why).toBe(
      `VRF subscription ${world.dapp.vrfSubId} is short of LINK: it holds 0; fund it`,
    ),
  );
  await world.viem.mine({ blocks: 130 });
  await vi.waitFor(() =>
    expect(world.lines.some(({ message }) => message.includes("block hash stored"))).toBe(true),
  );
  await world.viem.mine({ blocks: 300 });
  await world.fundVrf();
  await vi.waitFor(async () => expect(await fulfilled()).toHaveLength(1));
});

test("a restart finds a stored block hash again", async () => {
  world = await startWorld();
  await world.requestWords(1);
  const args = [world.lastRequestBlock()] as const;
  await world.send(TEST_ROLES.operator, {
    to: world.addresses.blockhashStore,
    data: encodeFunctionData({ abi: blockhashStoreAbi, functionName: "store", args }),
  });
  await world.viem.mine({ blocks: 300 });
  world.startOracle();
  await vi.waitFor(async () => expect(await fulfilled()).toHaveLength(1));
});

test("a node that lags, and knows no such request yet, doesn't make the oracle forget it", async () => {
  world = await startWorld();
  await world.requestWords(1);
  // Only requests read at the start are looked up again.
  await world.viem.mine({ blocks: 2 });
  const [lagging, current] = [await startFaultyNode(world), await startFaultyNode(world)];
  lagging.inject(({ method, params: [, block] }) => {
    if (method !== "eth_call") return undefined;
    return block === "latest"
      ? { result: () => `0x${"0".repeat(64)}` }
      : { error: { code: -32_000, message: "header not found" } };
  });
  const rpcUrls = [lagging.httpUrl, current.httpUrl];
  const client = createPoolClient({ rpcUrls, chainId: world.chainId });
  try {
    world.startOracle({ client });
    await fulfilments(1);
    expect(lagging.calls.filter(({ method }) => method === "eth_call")).not.toEqual([]);
  } finally {
    await client.close();
    await Promise.all([lagging.close(), current.close()]);
  }
});

test("others' requests wait while the node doesn't say what they would cost", async () => {
  world = await startWorld({ vrfLink: 0n });
  const consumer = await world.createConsumer("7d");
  await consumer.requestWord();
  await world.viem.setCode({ address: consumer.address, bytecode: "0xfe" });
  const node = await startFaultyNode(world);
  const undo = node.inject(({ method }) =>
    method === "eth_gasPrice" ? { error: { code: -32_000, message: "not now" } } : undefined,
  );
  const client = createPoolClient({ rpcUrls: [node.httpUrl], chainId: world.chainId });
  try {
    const oracle = world.startOracle({ client });
    const why = () => oracle.status().pending[0]?.why;
    await vi.waitFor(() => expect(why()).toBe("the node does not say what its fulfilment would cost"));
    undo();
    await vi.waitFor(() =>
      expect(why()).toContain("is short of LINK: it holds 0, and these words may cost 0.313"),
    );
    expect(await world.viem.getTransactionCount(TEST_ROLES.vrfOracle)).toBe(0);
  } finally {
    await client.close();
    await node.close();
  }
});

test("a contract whose code the node doesn't show holds up no other request of its transaction", async () => {
  world = await startWorld();
  const [hidden, shown] = [await world.createConsumer("7e"), await world.createConsumer("7f")];
  for (const consumer of [hidden, shown]) {
    await consumer.requestWord();
    await world.viem.setCode({ address: consumer.address, bytecode: "0x00" });
  }
  const node = await startFaultyNode(world);
  const undo = node.inject(({ method, params: [address] }) =>
    method === "eth_getCode" && String(address).toLowerCase() === hidden.address.toLowerCase()
      ? { error: { code: -32_000, message: "not now" } }
      : undefined,
  );
  const client = createPoolClient({ rpcUrls: [node.httpUrl], chainId: world.chainId });
  try {
    const oracle = world.startOracle({ client });
    await fulfilments(1);
    await vi.waitFor(() =>
      expect(oracle.status().pending).toMatchObject([
        { why: "the node does not say what its fulfilment would cost" },
      ]),
    );
    undo();
    await fulfilments(2);
  } finally {
    await client.close();
    await node.close();
  }
});

test("a request older than 256 blocks whose hash nobody stored stays pending and says so", async () => {
  world = await startWorld();
  await world.requestWords(1);
  await world.viem.mine({ blocks: 300 });
  const oracle = world.startOracle();
  await vi.waitFor(async () => {
    await world.viem.mine({ blocks: 1 });
    expect(oracle.status().pending[0]?.why).toContain("out of reach");
  });
  await world.requestWords(1);
  await vi.waitFor(async () => expect(await fulfilled()).toHaveLength(1));
});
