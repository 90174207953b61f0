import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { parseTransaction, type Hex } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { createAccount, type Account } from "../../src/evm/account.ts";
import type { ChainClient } from "../../src/evm/client.ts";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import { createPoolClient } from "../../src/evm/nodePool.ts";
import { createSender, type Sender } from "../../src/evm/sender.ts";
import { signCall, type SignedTransaction, type SenderJournal } from "../../src/evm/signedTransaction.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import { startFaultyNode, type FaultRule, type FaultyNode } from "../support/faultyNode.ts";
import { suggestedFees, type Fees } from "../../src/evm/fees.ts";

const GWEI = 10n ** 9n;
const SEND = "eth_sendRawTransaction";
const to = testAccount(9).address;

let chain: TestChain;
let nodes: FaultyNode[];
let client: ChainClient;
let account: Account;
let stopping: AbortController;
let undo: (() => void)[];

beforeAll(async () => {
  chain = await startTestChain();
  nodes = [await startFaultyNode(chain), await startFaultyNode(chain)];
});
beforeEach(async () => {
  account = createAccount(Buffer.from(generatePrivateKey().slice(2), "hex"));
  await chain.client.request("anvil_setBalance", [account.address, "0xde0b6b3a7640000"]);
  await setBaseFee(0n);
  await chain.client.request("evm_setAutomine", [false]);
  client = createPoolClient({
    rpcUrls: nodes.map(({ httpUrl }) => httpUrl),
    chainId: chain.chainId,
    timeoutMs: 5_000,
    hedgeMs: 2_000,
  });
  stopping = new AbortController();
  undo = [];
  for (const node of nodes) node.calls.splice(0);
});
afterEach(async () => {
  stopping.abort();
  for (const each of undo) each();
  await client.close();
  await chain.client.request("anvil_dropAllTransactions", []);
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await chain.close();
});

const inject = (index: number, rule: FaultRule): void => void undo.push(nodes[index]!.inject(rule));
const mine = () => chain.client.request("anvil_mine", ["0x1"]);
/** Mines once the node has all transactions before a nonce: what was sent may still be on its way, and Anvil may mine without it. */
const mineBefore = async (nonce: number) => {
  await vi.waitFor(async () => expect(await chain.client.getNonce(account.address, "pending")).toBe(nonce));
  await mine();
};
const setBaseFee = (wei: bigint) =>
  chain.client.request("anvil_setNextBlockBaseFeePerGas", [`0x${wei.toString(16)}`]);
const minedCount = () => chain.client.getNonce(account.address, "latest");
const call = (value = 1n) => ({ to, data: "0x" as Hex, gas: 21_000n, valueWei: value });
const fees: Fees = { gasPriceWei: async () => GWEI, repriceAfterMs: 60_000, synchronous: false };
const sentNonces = () =>
  new Set(
    nodes
      .flatMap(({ calls }) => calls)
      .filter(({ method }) => method === SEND)
      .map(({ params }) => parseTransaction(params[0] as Hex).nonce ?? 0),
  );

interface Entry extends SignedTransaction {
  state: "signed" | "mined" | "replaced" | "failed";
}

function createJournal(entries: Entry[] = []) {
  const journal: SenderJournal<undefined> = {
    async signed(transaction) {
      const sent = nodes.flatMap(({ calls }) => calls).map(({ params }) => params[0]);
      expect(sent).not.toContain(transaction.raw);
      entries.push({ ...transaction, state: "signed" });
    },
    async ended(transaction, end) {
      entries.find(({ hash }) => hash === transaction.hash)!.state = end;
    },
    from: async (nonce) => entries.filter((entry) => entry.nonce >= nonce && entry.state !== "failed"),
    noPayload: undefined,
  };
  const ends = () => entries.map(({ nonce, state }) => [nonce, state]);
  return { journal, entries, ends };
}

function open(
  options: { fees?: Fees; journal?: SenderJournal<undefined>; maxInFlight?: number } = {},
): Sender {
  return createSender({
    client,
    account,
    chainId: chain.chainId,
    fees: options.fees ?? fees,
    ...(options.journal === undefined ? {} : { journal: options.journal }),
    signal: stopping.signal,
    onError: () => {},
    pollMs: 50,
    maxInFlight: options.maxInFlight ?? 4,
  });
}

describe("several at once", () => {
  test("share a block, each stored before it is sent, and no more than there may be", async () => {
    const { journal, entries, ends } = createJournal();
    const sender = open({ journal });
    const sent = [0, 1, 2, 3, 4].map(() => sender.send(call(), undefined));
    await vi.waitFor(() => expect(sentNonces()).toEqual(new Set([0, 1, 2, 3])));
    expect(entries).toHaveLength(4);
    await mineBefore(4);
    const blocks = (await Promise.all(sent.slice(0, 4))).map(({ blockNumber }) => blockNumber);
    expect(new Set(blocks).size).toBe(1);
    await vi.waitFor(() => expect(sentNonces()).toContain(4));
    await mineBefore(5);
    await expect(sent[4]).resolves.toMatchObject({ succeeded: true });
    expect(ends()).toEqual([0, 1, 2, 3, 4].map((nonce) => [nonce, "mined"]));
  });

  test("one that nodes refuse leaves its nonce to the next", async () => {
    const { journal, ends } = createJournal();
    const sender = open({ journal });
    const [first, refused, last] = [call(), { ...call(), gas: 10n ** 10n }, call(2n)].map((each) =>
      sender.send(each, undefined),
    );
    await expect(refused).rejects.toMatchObject({ meaning: "too_large" });
    await vi.waitFor(() => expect(ends()).toHaveLength(3));
    await vi.waitFor(async () => {
      await mine();
      expect(await minedCount()).toBe(2);
    });
    await Promise.all([first, last]);
    expect(ends()).toEqual([
      [0, "mined"],
      [1, "failed"],
      [1, "mined"],
    ]);
  });

  test("nothing more is signed until it is known who has spent a nonce", async () => {
    const { journal, entries } = createJournal();
    const sender = open({
      journal: {
        ...journal,
        doubt: () => void steps.push("doubt"),
        async signed(transaction, payload) {
          steps.push(transaction.nonce);
          await journal.signed(transaction, payload);
        },
      },
    });
    const steps: unknown[] = [];
    const one = sender.send(call(), undefined);
    await vi.waitFor(() => expect(sentNonces()).toContain(0));
    await mineBefore(1);
    await one;
    const foreign = await signCall(account, call(7n), {
      chainId: chain.chainId,
      nonce: 1,
      gasPriceWei: GWEI,
    });
    await chain.client.request(SEND, [foreign.raw]);
    await mine();
    steps.splice(0);
    const [taken, next] = [sender.send(call(2n), undefined), sender.send(call(3n), undefined)];
    await expect(taken).rejects.toMatchObject({ meaning: "nonce_taken" });
    await vi.waitFor(() => expect(entries).toHaveLength(3));
    expect(steps.slice(0, 2)).toEqual([1, "doubt"]);
    expect(steps.at(-1)).toBe(2);
    await vi.waitFor(() => expect(sentNonces()).toContain(2));
    await mineBefore(3);
    await next;
  });

  test("nothing is signed on top of a transaction in flight while others may use the account", async () => {
    const { journal, entries } = createJournal();
    let isInDoubt = true;
    const sender = open({ journal: { ...journal, isInDoubt: () => isInDoubt } });
    const [first, second, third] = [1n, 2n, 3n].map((value) => sender.send(call(value), undefined));
    await vi.waitFor(() => expect(sentNonces()).toEqual(new Set([0])));
    await mineBefore(1);
    await first;
    await vi.waitFor(() => expect(sentNonces()).toEqual(new Set([0, 1])));
    expect(entries).toHaveLength(2);
    isInDoubt = false;
    await vi.waitFor(() => expect(sentNonces()).toEqual(new Set([0, 1, 2])));
    await mineBefore(3);
    await Promise.all([second, third]);
  });

  test("waits for another's pending transaction before it signs in doubt", async () => {
    const { journal, entries } = createJournal();
    const terms = { chainId: chain.chainId, nonce: 0, gasPriceWei: GWEI };
    const foreign = await signCall(account, call(7n), terms);
    await chain.client.request(SEND, [foreign.raw]);
    const sender = open({ journal: { ...journal, isInDoubt: () => true } });
    const sent = sender.send(call(), undefined);
    const asksPool = () =>
      nodes.flatMap(({ calls }) => calls).filter(({ params }) => params[1] === "pending").length;
    await vi.waitFor(() => expect(asksPool()).toBeGreaterThan(2));
    expect(entries).toEqual([]);
    await mine();
    await vi.waitFor(() => expect(sentNonces()).toEqual(new Set([1])));
    await mineBefore(2);
    await sent;
  });

  test("signs nothing more while a pool holds another's transaction with the same nonce, and says so", async () => {
    const { journal, entries } = createJournal();
    let doubts = 0;
    const sender = open({ journal: { ...journal, doubt: () => void (doubts += 1) } });
    const settled = sender.send(call(), undefined);
    await vi.waitFor(() => expect(sentNonces()).toEqual(new Set([0])));
    await mineBefore(1);
    await settled;
    const terms = { chainId: chain.chainId, nonce: 1, gasPriceWei: 3n * GWEI };
    const foreign = await signCall(account, call(7n), terms);
    await chain.client.request(SEND, [foreign.raw]);
    doubts = 0;
    const [contested, next] = [sender.send(call(2n), undefined), sender.send(call(3n), undefined)];
    contested.catch(() => {});
    await vi.waitFor(() => expect(doubts).toBe(1));
    // Its receipt is looked for again and again.
    const looks = () =>
      nodes.flatMap(({ calls }) => calls).filter(({ method }) => method === "eth_getTransactionReceipt")
        .length;
    const before = looks();
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(before + 4));
    expect(entries.map(({ nonce }) => nonce)).toEqual([0, 1]);
    await mine();
    await expect(contested).rejects.toMatchObject({ meaning: "nonce_taken" });
    await vi.waitFor(() => expect(sentNonces()).toContain(2));
    await mineBefore(3);
    await next;
  });

  test("one that the nodes lose is sent again, and those after it follow", async () => {
    const { journal, entries, ends } = createJournal();
    const sender = open({ fees: { ...fees, repriceAfterMs: 200 }, journal });
    const sent = [0, 1, 2].map(() => sender.send(call(), undefined));
    await vi.waitFor(() => expect(sentNonces()).toEqual(new Set([0, 1, 2])));
    await chain.client.request("anvil_dropTransaction", [entries[1]!.hash]);
    await vi.waitFor(
      async () => {
        await mine();
        expect(await minedCount()).toBe(3);
      },
      { interval: 100 },
    );
    await Promise.all(sent);
    const mined = ends().filter(([, state]) => state === "mined");
    expect(mined).toHaveLength(3);
    expect(new Set(mined.map(([nonce]) => nonce))).toEqual(new Set([0, 1, 2]));
  });

  test("those that pay too little are raised one after the other", async () => {
    await setBaseFee(3n * GWEI);
    await mine();
    await setBaseFee(3n * GWEI);
    const { journal } = createJournal();
    const sender = open({ fees: { ...fees, repriceAfterMs: 100 }, journal });
    const sent = [0, 1, 2].map(() => sender.send(call(), undefined));
    await vi.waitFor(
      async () => {
        await setBaseFee(3n * GWEI);
        await mine();
        expect(await minedCount()).toBe(3);
      },
      { interval: 100 },
    );
    for (const receipt of await Promise.all(sent))
      expect(receipt.effectiveGasPriceWei).toBeGreaterThanOrEqual(3n * GWEI);
  });

  test("what a killed process left, broadcast or not, is brought to its end", async () => {
    const signed = await Promise.all(
      [0, 1, 2, 3].map((nonce) =>
        signCall(account, call(), {
          chainId: chain.chainId,
          nonce,
          gasPriceWei: 3n * GWEI,
          ...(nonce === 1 ? {} : { tipWei: GWEI }),
        }),
      ),
    );
    await chain.client.request(SEND, [signed[0]!.raw]);
    await chain.client.request(SEND, [signed[2]!.raw]);
    const { journal, ends } = createJournal(signed.map((each) => ({ ...each, state: "signed" })));
    const sender = open({ journal });
    await sender.reconcile();
    const resumed = signed.map((each) => sender.resume([each], undefined));
    const next = sender.send(call(2n), undefined);
    await vi.waitFor(
      async () => {
        await mine();
        expect(await minedCount()).toBe(5);
      },
      { interval: 100 },
    );
    await Promise.all([...resumed, next]);
    expect(ends()).toEqual([0, 1, 2, 3, 4].map((nonce) => [nonce, "mined"]));
  });

  test("without a journal what a reorganisation took is free for the next", async () => {
    const sender = open();
    const sent = [0, 1, 2].map(() => sender.send(call(), undefined));
    await vi.waitFor(() => expect(sentNonces()).toEqual(new Set([0, 1, 2])));
    await mineBefore(3);
    await Promise.all(sent);
    await chain.client.request("anvil_reorg", [1, []]);
    await chain.client.request("anvil_dropAllTransactions", []);
    expect(await minedCount()).toBe(0);
    const again = [0, 1].map(() => sender.send(call(), undefined));
    await vi.waitFor(
      async () => {
        await mine();
        expect(await minedCount()).toBe(2);
      },
      { interval: 100 },
    );
    await Promise.all(again);
  });

  test("nodes that fail in turn lose and double nothing", async () => {
    const { journal, ends } = createJournal();
    const sender = open({ journal });
    let calls = 0;
    // Some of each node's calls get no answer, though the node acts on them; some get a gateway's refusal.
    for (const index of [0, 1])
      inject(index, () => {
        calls += 1;
        if (calls % 7 === 0) return { breakLine: true };
        return calls % 5 === 0 ? { status: 503 } : undefined;
      });
    // If no node tells the next nonce, nothing is signed, and the caller tries again.
    const sendAgainAndAgain = async (): Promise<unknown> => {
      try {
        return await sender.send(call(), undefined);
      } catch (error) {
        if (!(error instanceof RpcError) || stopping.signal.aborted) throw error;
        return await sendAgainAndAgain();
      }
    };
    const sent = Array.from({ length: 6 }, sendAgainAndAgain);
    await vi.waitFor(
      async () => {
        await mine();
        expect(await minedCount()).toBe(6);
      },
      { interval: 200 },
    );
    await Promise.all(sent);
    expect(ends().filter(([, state]) => state === "mined")).toHaveLength(6);
  });
});

describe("prices", () => {
  const market = (options: Partial<Parameters<typeof suggestedFees>[0]> = {}): Fees =>
    suggestedFees({ repriceAfterMs: 60_000, minTipWei: GWEI, ...options });

  test("EIP-1559 where blocks have a base fee", async () => {
    await setBaseFee(5n * GWEI);
    await mine();
    const { journal, entries } = createJournal();
    const pending = open({ fees: market(), journal }).send(call(), undefined);
    await vi.waitFor(() => expect(sentNonces()).toContain(0));
    await mineBefore(1);
    const { effectiveGasPriceWei } = await pending;
    const { type, maxPriorityFeePerGas } = parseTransaction(entries[0]!.raw);
    expect({ type, maxPriorityFeePerGas }).toEqual({ type: "eip1559", maxPriorityFeePerGas: GWEI });
    expect(effectiveGasPriceWei).toBeLessThan(7n * GWEI);
  });

  test("above the cap nothing is signed, and the sender says why; then it goes on", async () => {
    let priceWei = 100n * GWEI;
    const { journal, entries } = createJournal();
    const capped: Fees = { ...fees, gasPriceWei: async () => priceWei, maxFeeWei: 80n * GWEI };
    const sender = open({ fees: capped, journal });
    const pending = sender.send(call(), undefined);
    await vi.waitFor(() =>
      expect(sender.waitsFor()).toMatchObject({
        reason: "price_above_cap",
        priceWei: 100n * GWEI,
        capWei: 80n * GWEI,
        message: expect.stringContaining("waiting for the price to fall"),
      }),
    );
    expect(entries).toEqual([]);
    priceWei = GWEI;
    await vi.waitFor(() => expect(sentNonces()).toEqual(new Set([0])));
    expect(entries).toHaveLength(1);
    await mineBefore(1);
    await expect(pending).resolves.toMatchObject({ succeeded: true });
    expect(sender.waitsFor()).toBeUndefined();
  });

  test("a call's own cap is never passed, by replacements neither", async () => {
    const { journal, entries } = createJournal();
    const rising: Fees = { ...fees, repriceAfterMs: 20 };
    const sender = open({ fees: rising, journal });
    const pending = sender.send({ ...call(), maxGasPriceWei: (GWEI * 13n) / 10n }, undefined);
    await vi.waitFor(() =>
      expect(nodes[0]!.calls.filter(({ method }) => method === SEND).length).toBeGreaterThan(5),
    );
    const prices = entries.map(({ raw }) => parseTransaction(raw).gasPrice!);
    // An eighth more each time. One more would exceed the cap, and the cap itself is too small an increase for the pools.
    expect(prices).toEqual([1_000_000_000n, 1_125_000_001n, 1_265_625_002n]);
    await vi.waitFor(async () => {
      await mine();
      expect(await minedCount()).toBe(1);
    });
    await pending;
  });

  test("a network's cap holds replacements back until the price falls", async () => {
    const { journal, entries } = createJournal();
    const sender = open({ fees: { ...fees, repriceAfterMs: 20, maxFeeWei: GWEI }, journal });
    const pending = sender.send(call(), undefined);
    await vi.waitFor(() =>
      expect(nodes[0]!.calls.filter(({ method }) => method === SEND).length).toBeGreaterThan(2),
    );
    expect(entries).toHaveLength(1);
    await mine();
    await expect(pending).resolves.toMatchObject({ transactionHash: entries[0]!.hash });
  });
});
