import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createSandboxPool, type SandboxPool } from "../../sandbox/index.ts";
import { createSender } from "../../src/evm/sender.ts";
import { deriveWords } from "../../src/chainlink/fulfilmentWords.ts";
import { wordsOfBatch } from "../../src/chainlink/presetBatch.ts";
import { fromHexText } from "../../src/lib/hex.ts";
import { toWord } from "../../src/lib/uint256.ts";
import { TEST_PROVING_KEY, TEST_ROLES } from "../support/stack.ts";
import { createTestRunner } from "./support/runner.ts";
import { inlineRequest, startWorld, type World } from "./support/world.ts";
import { fixedFees } from "../../src/evm/fees.ts";

const echoWord = "return Uint8Array.from(bytesArgs[0].slice(2).match(/../g), (byte) => parseInt(byte, 16))";
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

describe("with the sandbox", () => {
  let pool: SandboxPool;
  beforeAll(async () => {
    pool = createSandboxPool();
    await pool.ready();
  });
  afterAll(() => pool.close());

  test("presets get their own word from one proof, and each its answer", async () => {
    const oracle = world.startOracle({ runner: pool });
    await world.requestPresets(echoWord, 3);
    await vi.waitFor(async () => expect(await world.results()).toHaveLength(3));
    const [fulfilled] = await world.events("RandomWordsFulfilled");
    const words = wordsOfBatch(deriveWords(fulfilled!.outputSeed, 1)[0]!, 3);
    expect(await world.results()).toEqual(
      words.map((word) => ({ ok: true, bytes: fromHexText(toWord(word)) })),
    );
    await vi.waitFor(() => expect(oracle.status().pending).toEqual([]));
  });

  test("what a source throws reaches the chain as its error", async () => {
    world.startOracle({ runner: pool });
    await world.requestFunctions([inlineRequest("throw new Error('no luck')")]);
    await vi.waitFor(async () => expect(await world.events("RequestProcessed")).toHaveLength(1));
    const [answer] = await world.events("RequestProcessed");
    expect(Buffer.from((answer!["err"] as string).slice(2), "hex").toString()).toContain("no luck");
    expect(answer!["response"]).toBe("0x");
  });
});

test("requests from before the start are found and answered", async () => {
  await world.requestPresets(echoWord, 2);
  await world.requestFunctions([inlineRequest("return Uint8Array.of(1)")]);
  world.startOracle();
  await vi.waitFor(async () => expect(await world.events("RequestProcessed")).toHaveLength(1));
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
});

test("an oracle that is stopped in the middle leaves the rest to the next one, and nothing is answered twice", async () => {
  let release = (): void => {};
  const blocked = new Promise<void>((resolve) => (release = resolve));
  const first = world.startOracle({ runner: createTestRunner(() => blocked) });
  await world.requestPresets(echoWord, 2);
  await world.requestFunctions([inlineRequest("return Uint8Array.of(1)")]);
  // The proof does not wait for a source that takes long.
  await vi.waitFor(() =>
    expect(first.status().pending.map(({ kind }) => kind)).toEqual(["functions", "presets"]),
  );
  const { checkpoint } = first.status();
  first.close();
  release();
  world.startOracle({ fromBlock: checkpoint });
  await vi.waitFor(async () => expect(await world.events("RequestProcessed")).toHaveLength(1));
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
  expect(await world.events("RandomWordsFulfilled")).toHaveLength(1);
  expect(await world.events("RequestNotProcessed")).toHaveLength(0);
});

test("an oracle that goes on at the head of an idle network is not behind", async () => {
  await world.requestWords(1);
  const first = world.startOracle();
  // The block of its own answer is one more to read.
  const checkpoint = await vi.waitFor(async () => {
    const { caughtUp, pending, checkpoint } = first.status();
    expect({ caughtUp, pending }).toEqual({ caughtUp: true, pending: [] });
    expect(checkpoint).toBeGreaterThan((await world.client.getHead("latest"))!.number);
    return checkpoint;
  });
  first.close();
  const second = world.startOracle({ fromBlock: checkpoint });
  await vi.waitFor(() => expect(second.status().caughtUp).toBe(true));
});

test("a second oracle with the same keys does no harm", async () => {
  world.startOracle();
  world.startOracle();
  await world.requestPresets(echoWord, 2);
  await world.requestWords(2);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
  await vi.waitFor(async () => expect(await world.events("RandomWordsFulfilled")).toHaveLength(3));
});

test("a request that a reorganisation takes away is forgotten, one that it moves is answered for its new block", async () => {
  const consumer = await world.createConsumer("77");
  const oracle = world.startOracle();
  const snapshot = await world.viem.snapshot();
  await consumer.requestWord({ confirmations: 3 });
  await vi.waitFor(() => expect(oracle.status().pending).toHaveLength(1));
  await world.viem.revert({ id: snapshot });
  await world.viem.mine({ blocks: 1 });
  await vi.waitFor(() => expect(oracle.status().pending).toEqual([]));
  await consumer.requestWord({ confirmations: 3 });
  await vi.waitFor(() => expect(oracle.status().pending).toHaveLength(1));
  await world.viem.setCode({ address: consumer.address, bytecode: "0x00" });
  await world.viem.mine({ blocks: 2 });
  await vi.waitFor(async () =>
    expect(await world.events("RandomWordsFulfilled")).toMatchObject([{ success: true }]),
  );
  await vi.waitFor(() =>
    expect(world.lines.map(({ message }) => message)).toEqual([
      "oracle: the chain was reorganised",
      "vrf: fulfilled",
    ]),
  );
});

test("an answer that a reorganisation takes is given again at once, its nonce included", async () => {
  // Gaps between nonces are detected only after a minute: the watcher's notification must suffice.
  const sender = createSender({
    client: world.client,
    account: TEST_ROLES.vrfOracle,
    chainId: world.chainId,
    fees: fixedFees(world.gasPriceWei, { synchronous: true }),
    signal: world.network.signal,
    onError: () => {},
    pollMs: 60_000,
  });
  world.startOracle({ vrf: [{ key: TEST_PROVING_KEY, sender }] });
  await world.requestWords(1);
  // The sender has its receipt: Anvil never tells that of a transaction which a reorganisation took meanwhile.
  await vi.waitFor(() => expect(world.lines.map(({ message }) => message)).toContain("vrf: fulfilled"));
  await world.client.request("anvil_reorg", [1, []]);
  await vi.waitFor(async () => expect(await world.events("RandomWordsFulfilled")).toHaveLength(1));
});

test("the status names the last block, the accounts and their balances", async () => {
  const oracle = world.startOracle();
  await vi.waitFor(() => expect(oracle.status().caughtUp).toBe(true));
  const status = oracle.status();
  expect(status).toMatchObject({ name: "test", pending: [] });
  expect(status.lastBlock?.number).toBe(await world.viem.getBlockNumber());
  await vi.waitFor(() =>
    expect(oracle.status().accounts.map(({ role, balanceWei }) => [role, (balanceWei ?? 0n) > 0n])).toEqual([
      ["vrf", true],
      ...Array.from({ length: 4 }, () => ["transmitter", true]),
    ]),
  );
});

test("after close nothing more is sent, and closing again changes nothing", async () => {
  const oracle = world.startOracle();
  await vi.waitFor(() => expect(oracle.status().caughtUp).toBe(true));
  oracle.close();
  oracle.close();
  const { lastBlock } = oracle.status();
  await world.requestWords(1);
  // Once another oracle has read and answered the request, the first one would have had the time to.
  world.startOracle();
  await vi.waitFor(async () => expect(await world.events("RandomWordsFulfilled")).toHaveLength(1));
  expect(oracle.status().lastBlock).toEqual(lastBlock);
});
