import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Hex } from "viem";
import { createSender } from "../../src/evm/sender.ts";
import { createRemoteAccount } from "../../src/evm/remoteAccount.ts";
import type { SignableTransaction } from "../../src/evm/account.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import { every, startFaultyNode, type FaultyNode } from "../support/faultyNode.ts";
import { fixedFees } from "../../src/evm/fees.ts";

const SIGN = "eth_signTransaction";
const local = testAccount(2);
const { address } = local;

/** Anvil signs for its mnemonic's accounts. */
let chain: TestChain;
let signer: FaultyNode;
let undo: (() => void)[] = [];

beforeAll(async () => {
  chain = await startTestChain();
  signer = await startFaultyNode(chain);
});
afterEach(() => {
  for (const each of undo) each();
  undo = [];
});
afterAll(async () => {
  await signer.close();
  await chain.close();
});

const open = () => createRemoteAccount({ url: `${signer.httpUrl}/s3cr3t-p4th`, address, timeoutMs: 60_000 });
const answerWith = (change: (answer: unknown) => unknown): void =>
  void undo.push(signer.inject(every(SIGN, { result: change })));
const transaction = (fields: object = {}): SignableTransaction => ({
  type: "eip1559",
  chainId: 31337,
  nonce: 3,
  gas: 60_000n,
  to: address,
  data: "0x1234",
  value: 7n,
  maxFeePerGas: 30n,
  maxPriorityFeePerGas: 2n,
  ...fields,
});

test.each([
  ["EIP-1559", transaction()],
  [
    "legacy",
    {
      type: "legacy",
      chainId: 31337,
      nonce: 0,
      gas: 21_000n,
      to: address,
      data: "0x",
      value: 0n,
      gasPrice: 5n,
    },
  ],
  ["a new contract", transaction({ to: undefined, data: "0x60016000f3" })],
] satisfies [string, SignableTransaction][])(
  "signs the same bytes as the key itself: %s",
  async (_, wanted) => {
    expect(await open().sign(wanted)).toEqual(await local.sign(wanted));
  },
);

test("a sender's transactions are mined", async () => {
  const sender = createSender({
    client: chain.client,
    account: open(),
    chainId: chain.chainId,
    fees: fixedFees(chain.gasPriceWei, { synchronous: false }),
    signal: AbortSignal.timeout(60_000),
    onError: () => {},
    pollMs: 50,
  });
  const receipt = await sender.send({ to: address, data: "0x", gas: 21_000n }, undefined);
  expect(receipt.succeeded).toBe(true);
});

test("an answer that holds the bytes as raw is taken, as clef gives it", async () => {
  answerWith((raw) => ({ raw, tx: {} }));
  expect(await open().sign(transaction())).toEqual(await local.sign(transaction()));
});

const foreign = async (): Promise<Hex> => (await testAccount(3).sign(transaction())).raw;
const other = async (): Promise<Hex> => (await local.sign(transaction({ value: 8n }))).raw;
test.each([
  ["another transaction", other, "it signed a different transaction"],
  ["another account", foreign, "it signed as"],
  ["no transaction", async () => "0x1234", "not a signed transaction"],
  ["nothing", async () => null, "not a signed transaction"],
])("a signer that gives back %s", async (_, make, reason) => {
  const answer = await make();
  answerWith(() => answer);
  await expect(open().sign(transaction())).rejects.toThrow(reason);
});

test("signs the same message as the key itself, and checks what it gets", async () => {
  const message = Buffer.from("a message");
  expect(await open().signMessage(message)).toBe(await local.signMessage(message));
  const foreignSignature = await testAccount(3).signMessage(message);
  for (const answer of [foreignSignature, "0x12", null]) {
    const stop = signer.inject(every("eth_sign", { result: () => answer }));
    await expect(open().signMessage(message)).rejects.toThrow("did not sign the message");
    stop();
  }
});

test("a signer that refuses, without its URL", async () => {
  undo.push(signer.inject(every(SIGN, { error: { code: -32_000, message: "Request denied" } })));
  const error: unknown = await open()
    .sign(transaction())
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ retryable: true, message: expect.stringContaining("Request denied") });
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(/s3cr3t|http:/);
});
