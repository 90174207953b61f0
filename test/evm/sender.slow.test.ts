import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { keccak256, parseTransaction, type Hex } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { createAccount, type Account } from "../../src/evm/account.ts";
import { createChainClient, type ChainClient } from "../../src/evm/client.ts";
import { createSender, type Sender } from "../../src/evm/sender.ts";
import {
  ForeignTransactionError,
  signCall,
  type SignedTransaction,
  type SenderJournal,
} from "../../src/evm/signedTransaction.ts";
import { EMBEDDED_BLOCK_GAS_LIMIT } from "../../src/networks/embedded/process/anvil.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import { every, first, startFaultyNode, type FaultyNode, type FaultRule } from "../support/faultyNode.ts";
import type { Fees } from "../../src/evm/fees.ts";

const GWEI = 1_000_000_000n;
const SEND = "eth_sendRawTransaction";
const to = testAccount(9).address;

let chain: TestChain;
let node: FaultyNode;
let client: ChainClient;
let account: Account;
let stopping: AbortController;
let undo: (() => void)[];
let errors: unknown[];

beforeAll(async () => {
  chain = await startTestChain();
  node = await startFaultyNode(chain);
});
beforeEach(async () => {
  account = createAccount(Buffer.from(generatePrivateKey().slice(2), "hex"));
  await chain.client.request("anvil_setBalance", [account.address, "0xde0b6b3a7640000"]);
  client = createChainClient(node.httpUrl, { timeoutMs: 20_000 });
  stopping = new AbortController();
  undo = [];
  errors = [];
  node.calls.splice(0);
});
afterEach(async () => {
  vi.restoreAllMocks();
  stopping.abort();
  for (const each of undo) each();
  await chain.client.request("evm_setAutomine", [true]);
  await chain.client.request("anvil_setNextBlockBaseFeePerGas", ["0x0"]);
  await client.close();
});
afterAll(async () => {
  await node.close();
  await chain.close();
});

const inject = (rule: FaultRule): void => void undo.push(node.inject(rule));
/** A price is raised soon only where a test is about that: a busy machine may take longer to mine. */
const fees: Fees = { gasPriceWei: async () => GWEI, repriceAfterMs: 60_000, synchronous: false };
const RAISED_SOON = { repriceAfterMs: 300 };
/** Replaces the client with an impatient one, for tests that lose answers. */
const giveUpSoon = (): void => void (client = createChainClient(node.httpUrl, { timeoutMs: 500 }));
const call = (value = 1n) => ({ to, data: "0x" as Hex, gas: 21_000n, valueWei: value });
const sent = () => node.calls.filter(({ method }) => method.startsWith(SEND));
const rawsSent = () => sent().map(({ params }) => params[0] as Hex);
/** Waits until the node has one of some transactions: of the requests that reach it together, it may answer any first. */
const untilPooled = (find: () => readonly Entry[]) =>
  vi.waitFor(async () => {
    const known = find().map(({ hash }) => chain.client.request("eth_getTransactionByHash", [hash]));
    expect((await Promise.all(known)).some((transaction) => transaction !== null)).toBe(true);
  });
const minedCount = () => chain.client.getNonce(account.address, "latest");

interface Entry extends SignedTransaction {
  payload: string;
  state: "signed" | "mined" | "replaced" | "failed";
}

/** Creates an in-memory journal; what matters is what it is told, and when. */
function createJournal(entries: Entry[] = []) {
  const journal: SenderJournal<string> = {
    async signed(transaction, payload) {
      expect(rawsSent()).not.toContain(transaction.raw);
      entries.push({ ...transaction, payload, state: "signed" });
    },
    async ended(transaction, end) {
      entries.find(({ hash }) => hash === transaction.hash)!.state = end;
    },
    from: async (nonce) => entries.filter((entry) => entry.nonce >= nonce && entry.state !== "failed"),
    noPayload: "nothing",
  };
  return { journal, entries };
}

function open(
  options: { client?: ChainClient; fees?: Partial<Fees>; journal?: SenderJournal<string> } = {},
): Sender<string> {
  return createSender<string>({
    client: options.client ?? client,
    account,
    chainId: chain.chainId,
    fees: { ...fees, ...options.fees },
    ...(options.journal === undefined ? {} : { journal: options.journal }),
    signal: stopping.signal,
    onError: (error) => errors.push(error),
    pollMs: 50,
  });
}

describe.each([false, true])("synchronous: %s", (synchronous) => {
  test("stores, then sends, one nonce after the other", async () => {
    const { journal, entries } = createJournal();
    const sender = open({ fees: { synchronous }, journal });
    const receipts = await Promise.all(["a", "b", "c"].map((payload) => sender.send(call(), payload)));
    expect(receipts.every(({ succeeded }) => succeeded)).toBe(true);
    expect(entries).toMatchObject([
      { nonce: 0, payload: "a", state: "mined" },
      { nonce: 1, payload: "b", state: "mined" },
      { nonce: 2, payload: "c", state: "mined" },
    ]);
    // The same bytes are sent again where mining takes long.
    expect(new Set(rawsSent()).size).toBe(3);
  });

  const lossy: readonly [string, FaultRule][] = [
    ["an answer gets lost", first(1, synchronous ? `${SEND}Sync` : SEND, { dropAnswer: true })],
    ["the call gets lost", first(1, synchronous ? `${SEND}Sync` : SEND, { dropAnswer: true, reach: false })],
    [
      "the connection breaks after the call",
      first(1, synchronous ? `${SEND}Sync` : SEND, { breakLine: true }),
    ],
    ["the call arrives twice", first(1, synchronous ? `${SEND}Sync` : SEND, { callTimes: 2 })],
    ["the node says 429", first(2, synchronous ? `${SEND}Sync` : SEND, { status: 429 })],
    ["the node says 503", first(1, synchronous ? `${SEND}Sync` : SEND, { status: 503 })],
    [
      "the node says 502 after it took the call",
      first(1, synchronous ? `${SEND}Sync` : SEND, { status: 502, reach: true }),
    ],
    [
      "the node has it already",
      first(1, synchronous ? `${SEND}Sync` : SEND, {
        reach: true,
        error: { code: -32_000, message: "already known" },
      }),
    ],
    ["receipts come late", first(3, "eth_getTransactionReceipt", { result: () => null })],
    ["receipts can't be asked for", first(3, "eth_getTransactionReceipt", { status: 500 })],
    ["answers are slow", every(synchronous ? `${SEND}Sync` : SEND, { delayMs: 150 })],
  ];
  test.each(lossy)("one transaction, when %s", async (_, rule) => {
    giveUpSoon();
    inject(rule);
    const { journal, entries } = createJournal();
    const sender = open({ fees: { synchronous }, journal });
    await expect(sender.send(call(), "a")).resolves.toMatchObject({ succeeded: true });
    await expect(sender.send(call(), "b")).resolves.toMatchObject({ succeeded: true });
    expect(entries.map(({ nonce, state }) => [nonce, state])).toEqual([
      [0, "mined"],
      [1, "mined"],
    ]);
    expect(await minedCount()).toBe(2);
  });
});

test("a call without a receiver creates a contract", async () => {
  // Deploys one byte of code: STOP.
  const { transactionHash } = await open().send({ data: "0x60016000f3", gas: 100_000n }, "a");
  const receipt = await chain.viem.getTransactionReceipt({ hash: transactionHash });
  expect(await client.getCode(receipt.contractAddress!)).toBe("0x00");
});

describe("a price that is too low", () => {
  test("is raised with the same nonce until the block takes it", async () => {
    await chain.client.request("anvil_setNextBlockBaseFeePerGas", [`0x${(2n * GWEI).toString(16)}`]);
    const { journal, entries } = createJournal();
    const receipt = await open({ fees: RAISED_SOON, journal }).send(call(), "a");
    expect(receipt.effectiveGasPriceWei).toBeGreaterThanOrEqual(2n * GWEI);
    expect(new Set(entries.map(({ nonce }) => nonce))).toEqual(new Set([0]));
    expect(entries.map(({ state }) => state)).toEqual([...entries.slice(1).map(() => "replaced"), "mined"]);
  });

  test("starts from the market's price when that has risen above the transaction's", async () => {
    await chain.client.request("evm_setAutomine", [false]);
    let price = GWEI;
    const { journal, entries } = createJournal();
    const rising = { ...RAISED_SOON, gasPriceWei: async () => price };
    const pending = open({ fees: rising, journal }).send(call(), "a");
    await vi.waitFor(() => expect(entries).toHaveLength(1));
    price = 10n * GWEI;
    await untilPooled(() => entries.slice(1));
    expect(parseTransaction(entries[1]!.raw).gasPrice).toBe((10n * GWEI * 9n) / 8n + 1n);
    await chain.client.request("anvil_mine", ["0x1"]);
    const { transactionHash } = await pending;
    expect(entries.slice(1).map(({ hash }) => hash)).toContain(transactionHash);
  });

  test("is raised by an eighth and twelve times at most, then the dearest is broadcast again", async () => {
    await chain.client.request("evm_setAutomine", [false]);
    const { journal, entries } = createJournal();
    const pending = open({ fees: { repriceAfterMs: 10 }, journal }).send(call(), "a");
    await vi.waitFor(() => expect(sent().length).toBeGreaterThan(15));
    const prices = entries.map(({ raw }) => parseTransaction(raw).gasPrice!);
    expect(prices).toHaveLength(13);
    for (const [i, price] of prices.slice(1).entries()) expect(price * 8n).toBeGreaterThan(prices[i]! * 9n);
    expect(prices.at(-1)!).toBeLessThan(5n * GWEI);
    expect(rawsSent().at(-1)).toBe(entries.at(-1)!.raw);
    await chain.client.request("anvil_mine", ["0x1"]);
    await expect(pending).resolves.toMatchObject({ transactionHash: entries.at(-1)!.hash });
  });

  test("an earlier version that is mined after all is the end of all", async () => {
    giveUpSoon();
    // The node accepts only the first version, and mines it after the second was signed.
    await chain.client.request("evm_setAutomine", [false]);
    const { journal, entries } = createJournal();
    inject(({ method, params }) =>
      method === SEND && params[0] !== entries[0]!.raw ? { dropAnswer: true, reach: false } : undefined,
    );
    const pending = open({ fees: RAISED_SOON, journal }).send(call(), "a");
    await vi.waitFor(() => expect(entries.length).toBeGreaterThan(1));
    await untilPooled(() => entries.slice(0, 1));
    await chain.client.request("anvil_mine", ["0x1"]);
    await expect(pending).resolves.toMatchObject({ transactionHash: entries[0]!.hash });
    // While the node takes its time to mine, further versions are signed.
    expect(entries.map(({ state }) => state)).toEqual(["mined", ...entries.slice(1).map(() => "replaced")]);
  });

  test("the dearest version that funds allow is kept to", async () => {
    await chain.client.request("anvil_setBalance", [
      account.address,
      `0x${(21_000n * GWEI + 1n).toString(16)}`,
    ]);
    await chain.client.request("evm_setAutomine", [false]);
    const { journal, entries } = createJournal();
    const pending = open({ fees: { repriceAfterMs: 100 }, journal }).send(call(), "a");
    await vi.waitFor(() => expect(sent().length).toBeGreaterThan(3));
    expect(entries).toHaveLength(2);
    await chain.client.request("anvil_mine", ["0x1"]);
    await expect(pending).resolves.toMatchObject({ transactionHash: entries[0]!.hash });
  });
});

describe("nonces", () => {
  test("one that somebody else has used is told to whoever keeps a journal", async () => {
    const { journal, entries } = createJournal();
    const sender = open({ journal });
    await sender.send(call(), "a");
    await foreign(1);
    await expect(sender.send(call(), "b")).rejects.toMatchObject({
      code: "transaction_refused",
      meaning: "nonce_taken",
      message: expect.stringContaining("nonce 1"),
    });
    expect(entries[1]).toMatchObject({ state: "replaced" });
    await expect(sender.send(call(), "b")).resolves.toMatchObject({ succeeded: true });
    expect(await minedCount()).toBe(3);
  });

  test("a node that has the block and not the receipt says nothing of who used it", async () => {
    const { journal, entries } = createJournal();
    const stop = node.inject(every("eth_getTransactionReceipt", { result: () => null }));
    undo.push(stop);
    const sending = open({ journal }).send(call(), "a");
    // By the time whole blocks are read for their transactions, the checks that used to settle it are over.
    const wholeBlocks = () =>
      node.calls.filter(({ method, params }) => method === "eth_getBlockByNumber" && params[1] === true);
    await expect.poll(() => wholeBlocks().length, { timeout: 60_000 }).toBeGreaterThan(1);
    expect(entries).toMatchObject([{ nonce: 0, state: "signed" }]);
    stop();
    await expect(sending).resolves.toMatchObject({ succeeded: true, transactionHash: entries[0]!.hash });
    expect(entries).toMatchObject([{ state: "mined" }]);
    expect(await minedCount()).toBe(1);
  });

  test("without a journal the next one is taken", async () => {
    const sender = open();
    await sender.send(call(), "a");
    await foreign(1);
    await expect(sender.send(call(), "b")).resolves.toMatchObject({ succeeded: true });
    expect(await minedCount()).toBe(3);
  });

  test("a node that lags with the nonce doubles nothing", async () => {
    await foreign(0);
    await foreign(1);
    const { journal, entries } = createJournal();
    inject(first(3, "eth_getTransactionCount", { result: () => "0x0" }));
    const sender = open({ journal });
    await expect(sender.send(call(), "a")).rejects.toMatchObject({ meaning: "nonce_taken" });
    await expect(sender.send(call(), "a")).resolves.toMatchObject({ succeeded: true });
    expect(entries.filter(({ state }) => state === "mined")).toHaveLength(1);
    expect(await minedCount()).toBe(3);
  });

  test.each([0, -86_400_000])(
    "a transaction dropped from the pool is broadcast again, the wall clock moved by %i ms",
    async (jumpMs) => {
      await chain.client.request("evm_setAutomine", [false]);
      const { journal, entries } = createJournal();
      const pending = open({ fees: { repriceAfterMs: 200 }, journal }).send(call(), "a");
      await vi.waitFor(() => expect(sent()).toHaveLength(1));
      const now = Date.now();
      vi.spyOn(Date, "now").mockImplementation(() => now + jumpMs);
      await chain.client.request("anvil_dropTransaction", [entries[0]!.hash]);
      await chain.client.request("evm_setAutomine", [true]);
      await expect(pending).resolves.toMatchObject({ succeeded: true });
      expect(await minedCount()).toBe(1);
    },
  );

  test("what a reorganisation took away is sent again from the journal", async () => {
    const { journal, entries } = createJournal();
    const sender = open({ journal });
    const receipts = [await sender.send(call(), "a"), await sender.send(call(), "b")];
    await chain.client.request("anvil_reorg", [2, []]);
    expect(await minedCount()).toBe(0);
    await sender.reconcile();
    // Anvil counts an account's transactions before it has their block.
    for (const { transactionHash } of receipts)
      await vi.waitFor(async () => expect(await client.getReceipt(transactionHash)).toBeDefined());
    expect(await minedCount()).toBe(2);
    await expect(sender.send(call(), "c")).resolves.toMatchObject({ succeeded: true });
    expect(entries).toHaveLength(3);
  });

  test.each([true, false])(
    "without a journal the next one takes the nonce that a reorganisation has freed (told: %s, synchronous)",
    async (isTold) => {
      const sender = open({ fees: { synchronous: isTold } });
      for (const payload of ["a", "b", "c"]) await sender.send(call(), payload);
      await chain.client.request("anvil_reorg", [3, []]);
      if (isTold) await sender.reconcile();
      await expect(sender.send(call(), "d")).resolves.toMatchObject({ succeeded: true });
      expect(await minedCount()).toBe(1);
    },
  );

  test("a gap that a reorganisation left is found by the next transaction", async () => {
    const { journal, entries } = createJournal();
    const sender = open({ journal });
    await sender.send(call(), "a");
    await chain.client.request("anvil_reorg", [1, []]);
    await expect(sender.send(call(), "b")).resolves.toMatchObject({ succeeded: true });
    expect(entries).toHaveLength(2);
    expect(await minedCount()).toBe(2);
  });

  test("a gap that nobody knows a transaction for is filled with nothing", async () => {
    const { journal, entries } = createJournal();
    const sender = open({ journal });
    inject(first(1, "eth_getTransactionCount", { result: () => "0x2" }));
    await expect(sender.send(call(), "a")).resolves.toMatchObject({ succeeded: true });
    const fillers = entries.filter(({ payload }) => payload === "nothing");
    expect(fillers.map(({ nonce }) => nonce)).toEqual([0, 1]);
    expect(parseTransaction(fillers[0]!.raw)).toMatchObject({
      to: account.address.toLowerCase(),
      gas: 21_000n,
    });
    expect(await minedCount()).toBe(3);
  });

  test("a receipt that vanishes while it is waited for comes back", async () => {
    await chain.client.request("evm_setAutomine", [false]);
    const pending = open({ fees: { repriceAfterMs: 400 } }).send(call(), "a");
    await vi.waitFor(() => expect(sent()).toHaveLength(1));
    // Mined, and gone again before anybody looked.
    inject(first(2, "eth_getTransactionReceipt", { result: () => null }));
    await chain.client.request("anvil_mine", ["0x1"]);
    await chain.client.request("anvil_reorg", [1, []]);
    await chain.client.request("evm_setAutomine", [true]);
    await expect(pending).resolves.toMatchObject({ succeeded: true });
    expect(await minedCount()).toBe(1);
  });

  const foreign = async (nonce: number): Promise<void> => {
    const { raw } = await signCall(account, call(5n), { chainId: chain.chainId, nonce, gasPriceWei: GWEI });
    await chain.client.request("eth_sendRawTransactionSync", [raw]);
  };
});

describe("refusals", () => {
  test("no funds; the nonce is free for the next one", async () => {
    const { journal, entries } = createJournal();
    const sender = open({ journal });
    await expect(sender.send(call(10n ** 24n), "a")).rejects.toMatchObject({
      meaning: "unfunded",
      blame: "upstream",
      message: expect.stringMatching(/insufficient funds/i),
    });
    expect(entries).toMatchObject([{ nonce: 0, state: "failed" }]);
    await expect(sender.send(call(), "b")).resolves.toMatchObject({ succeeded: true });
    expect(entries[1]).toMatchObject({ nonce: 0, state: "mined" });
  });

  test("what a node refused and took all the same shares its hash with nothing sent later", async () => {
    await chain.client.request("evm_setAutomine", [false]);
    inject(first(1, SEND, { reach: true, error: { code: -32_000, message: "invalid sender" } }));
    const { journal, entries } = createJournal();
    const sender = open({ journal });
    await expect(sender.send(call(), "a")).rejects.toMatchObject({ meaning: "refused" });
    const receipt = sender.send(call(), "b");
    await untilPooled(() => entries.filter(({ payload }) => payload === "b"));
    await chain.client.request("evm_setAutomine", [true]);
    await chain.client.request("evm_mine", []);
    expect((await receipt).succeeded).toBe(true);
    expect(new Set(entries.map(({ hash }) => hash)).size).toBe(entries.length);
    expect(entries.filter(({ state }) => state === "mined").map(({ payload }) => payload)).toEqual(["b"]);
  });

  test("what is sent again after a refusal, by itself, has the same bytes", async () => {
    inject(first(3, SEND, { error: { code: -32_000, message: "invalid sender" } }));
    const sender = open();
    for (let i = 0; i < 3; i += 1) await expect(sender.send(call(), "a")).rejects.toThrow("invalid sender");
    expect(rawsSent()).toHaveLength(3);
    await expect(sender.send(call(), "a")).resolves.toMatchObject({ succeeded: true });
    expect(new Set(rawsSent()).size).toBe(1);
  });

  describe.each([false, true])("of unknown meaning, mined at once: %s", (isMinedAtOnce) => {
    test("what the node took all the same is waited for", async () => {
      await chain.client.request("evm_setAutomine", [isMinedAtOnce]);
      const unknown = { error: { code: -32_603, message: "internal" } };
      inject(first(1, SEND, { reach: true, ...unknown }));
      inject(first(2, SEND, unknown));
      inject(first(1, "eth_getTransactionReceipt", unknown));
      const { journal, entries } = createJournal();
      const sending = open({ journal }).send(call(), "a");
      await untilPooled(() => entries);
      if (!isMinedAtOnce) await chain.client.request("evm_mine", []);
      await expect(sending).resolves.toMatchObject({ succeeded: true });
      expect(entries.filter(({ state }) => state !== "mined" && state !== "replaced")).toEqual([]);
      expect(await minedCount()).toBe(1);
    });
  });

  test("one of unknown meaning is believed once the node repeats it and has no such transaction", async () => {
    const stop = node.inject(every(SEND, { error: { code: -32_000, message: "rejected by policy" } }));
    undo.push(stop);
    const { journal, entries } = createJournal();
    const sender = open({ journal });
    await expect(sender.send(call(), "a")).rejects.toMatchObject({ meaning: "refused" });
    expect(new Set(rawsSent()).size).toBe(1);
    expect(rawsSent().length).toBeGreaterThan(1);
    expect(entries).toMatchObject([{ nonce: 0, state: "failed" }]);
    stop();
    await expect(sender.send(call(), "b")).resolves.toMatchObject({ succeeded: true });
  });

  test("more gas than a block has", async () => {
    await expect(open().send({ ...call(), gas: 10n ** 9n }, "a")).rejects.toMatchObject({
      meaning: "too_large",
    });
  });

  test("nothing is signed while the node can't tell the nonce", async () => {
    inject(first(1, "eth_getTransactionCount", { status: 503 }));
    const { journal, entries } = createJournal();
    const sender = open({ journal });
    await expect(sender.send(call(), "a")).rejects.toMatchObject({ code: "chain_unavailable" });
    expect(entries).toHaveLength(0);
    await expect(sender.send(call(), "a")).resolves.toMatchObject({ succeeded: true });
  });

  test("a transaction that reverts is mined, and says so", async () => {
    const receipt = await open().send({ to: FAILING_PRECOMPILE, data: "0x01", gas: 60_000n }, "a");
    expect(receipt).toMatchObject({ succeeded: false });
  });

  test("a receipt that reports a revert and is corrected later is not acted on", async () => {
    let wrong = 3;
    const revert = (receipt: unknown) =>
      receipt !== null && wrong-- > 0 ? { ...receipt, status: "0x0" } : receipt;
    inject(every("eth_getTransactionReceipt", { result: revert }));
    await expect(open().send(call(), "a")).resolves.toMatchObject({ succeeded: true });
    expect(wrong).toBe(-1);
  });

  test("an abort ends the wait and leaves the transaction to the next process", async () => {
    await chain.client.request("evm_setAutomine", [false]);
    const { journal, entries } = createJournal();
    const pending = open({ journal }).send(call(), "a");
    await vi.waitFor(() => expect(sent()).toHaveLength(1));
    stopping.abort();
    await expect(pending).rejects.toThrow("abort");
    expect(entries[0]).toMatchObject({ state: "signed" });
  });
});

/** Pairing check precompile (EIP-197): fails if the input length is no multiple of 192 bytes. */
const FAILING_PRECOMPILE: Hex = `0x${"08".padStart(40, "0")}`;

describe("after a restart", () => {
  const sign = (nonce: number, gasPriceWei = GWEI): Promise<SignedTransaction> =>
    signCall(account, call(), { chainId: chain.chainId, nonce, gasPriceWei });
  const entry = (transaction: SignedTransaction): Entry => ({
    ...transaction,
    payload: "a",
    state: "signed",
  });
  const broadcast = (transaction: SignedTransaction) => chain.client.request(SEND, [transaction.raw]);
  const mine = (transaction: SignedTransaction) => chain.client.request(`${SEND}Sync`, [transaction.raw]);

  test("signed and never broadcast: the same bytes go out", async () => {
    const transaction = await sign(0);
    const { journal, entries } = createJournal([entry(transaction)]);
    await expect(open({ journal }).resume([transaction], "a")).resolves.toMatchObject({ succeeded: true });
    expect(new Set(rawsSent())).toEqual(new Set([transaction.raw]));
    expect(entries).toMatchObject([{ state: "mined" }]);
  });

  test("broadcast and not noted: its receipt is waited for", async () => {
    await chain.client.request("evm_setAutomine", [false]);
    const transaction = await sign(0);
    await broadcast(transaction);
    const pending = open().resume([transaction], "a");
    await chain.client.request("anvil_mine", ["0x1"]);
    await expect(pending).resolves.toMatchObject({ transactionHash: transaction.hash });
  });

  test("mined and not noted: its receipt is found", async () => {
    const transaction = await sign(0);
    await mine(transaction);
    const { journal, entries } = createJournal([entry(transaction)]);
    const receipt = await open({ journal }).resume([transaction], "a");
    expect(receipt).toMatchObject({ transactionHash: transaction.hash });
    expect(entries).toMatchObject([{ state: "mined" }]);
  });

  test("repriced: whichever version was mined counts", async () => {
    const [cheap, dear] = [await sign(0), await sign(0, 2n * GWEI)];
    await mine(cheap);
    const { journal, entries } = createJournal([entry(cheap), entry(dear)]);
    const receipt = await open({ journal }).resume([cheap, dear], "a");
    expect(receipt).toMatchObject({ transactionHash: cheap.hash });
    expect(entries.map(({ state }) => state)).toEqual(["mined", "replaced"]);
  });

  test("stuck: it is repriced from what its bytes say", async () => {
    await chain.client.request("evm_setAutomine", [false]);
    const transaction = await sign(0, 3n * GWEI);
    const { journal, entries } = createJournal([entry(transaction)]);
    const pending = open({ fees: RAISED_SOON, journal }).resume([transaction], "a");
    await untilPooled(() => entries.slice(1));
    expect(parseTransaction(entries[1]!.raw)).toMatchObject({
      nonce: 0,
      gasPrice: (27n * GWEI) / 8n + 1n,
      value: 1n,
      gas: 21_000n,
    });
    await chain.client.request("anvil_mine", ["0x1"]);
    const { transactionHash } = await pending;
    expect(entries.slice(1).map(({ raw }) => keccak256(raw))).toContain(transactionHash);
  });

  test("bytes that this account didn't sign for this chain and nonce are never signed again", async () => {
    const stranger = createAccount(Buffer.from(generatePrivateKey().slice(2), "hex"));
    const theft = { ...call(10n ** 17n), to: stranger.address };
    const terms = { chainId: chain.chainId, nonce: 0, gasPriceWei: 1n };
    const own = await sign(0, 3n * GWEI);
    const foreign = [
      await signCall(stranger, theft, terms),
      { ...own, nonce: 1 },
      { ...own, hash: keccak256("0x01") },
      { ...own, raw: "0x01" as const },
      await signCall(account, theft, { ...terms, chainId: chain.chainId + 1 }),
    ];
    // Without a base fee, the price of the first is the only thing wrong with it: the node wants it repriced.
    inject(every(SEND, { error: { code: -32_000, message: "transaction underpriced" } }));
    const { journal, entries } = createJournal(foreign.map(entry));
    const sender = open({ journal });
    for (const each of foreign)
      await expect(sender.resume([own, each], "a")).rejects.toBeInstanceOf(ForeignTransactionError);
    expect(await sender.reconcile()).toBe(false);
    expect(entries).toHaveLength(foreign.length);
    expect(errors).toHaveLength(foreign.length);
    expect(rawsSent()).toEqual([]);
  });

  test("says that a nonce went to another transaction", async () => {
    await mine(await sign(0, 5n * GWEI));
    const { journal, entries } = createJournal([entry(await sign(0))]);
    await expect(open({ journal }).resume([await sign(0)], "a")).rejects.toMatchObject({
      meaning: "nonce_taken",
    });
    expect(entries).toMatchObject([{ state: "replaced" }]);
  });

  test("the chain has gone back: everything it lost is sent again before what is new", async () => {
    const [one, two, three] = [await sign(0), await sign(1), await sign(2)];
    const { journal } = createJournal([
      { ...entry(one), state: "mined" },
      { ...entry(two), state: "mined" },
      entry(three),
    ]);
    const sender = open({ journal });
    await sender.reconcile();
    await expect(sender.resume([three], "a")).resolves.toMatchObject({ succeeded: true });
    await expect(sender.send(call(), "b")).resolves.toMatchObject({ succeeded: true });
    expect(await minedCount()).toBe(4);
    for (const { hash } of [one, two]) expect(await client.getReceipt(hash)).toBeDefined();
  });

  test("a hundred transactions that the chain has lost come back in a few blocks", async () => {
    const count = 100;
    const lost = await Promise.all(Array.from({ length: count }, (_, nonce) => sign(nonce)));
    const { journal } = createJournal(lost.map((one) => ({ ...entry(one), state: "mined" })));
    await open({ client: chain.client, journal }).reconcile();
    // Anvil counts an account's transactions before it has their block.
    const read = () => Promise.all(lost.map(({ hash }) => chain.client.getReceipt(hash)));
    await vi.waitFor(async () => expect(await read()).not.toContain(undefined));
    const receipts = await read();
    // One block per group; sent in nonce order, each would have a block of its own.
    expect(new Set(receipts.map((receipt) => receipt!.blockNumber)).size).toBeLessThan(count / 10);
    expect(errors).toEqual([]);
  });

  test("lost transactions that fill blocks leave none behind", async () => {
    // JUMPDEST PUSH1 0 JUMP: loops until it runs out of gas.
    const heavy = { data: "0x5b600056", gas: EMBEDDED_BLOCK_GAS_LIMIT / 20n } as const;
    const lost = await Promise.all(
      Array.from({ length: 30 }, (_, nonce) =>
        signCall(account, heavy, { chainId: chain.chainId, nonce, gasPriceWei: GWEI }),
      ),
    );
    const { journal } = createJournal(lost.map((one) => ({ ...entry(one), state: "mined" })));
    await open({ client: chain.client, journal }).reconcile();
    await expect.poll(minedCount).toBe(lost.length);
  });

  test("a lost transaction that nobody knows is filled, and those after it follow", async () => {
    const [one, three, four] = [await sign(0), await sign(2), await sign(3)];
    const { journal, entries } = createJournal([one, three, four].map(entry));
    await open({ client: chain.client, journal }).reconcile();
    await expect.poll(minedCount).toBe(4);
    expect(entries.find(({ nonce }) => nonce === 1)).toMatchObject({ payload: "nothing" });
  });
});
