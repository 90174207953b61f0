import { afterEach, expect, test } from "vitest";
import { parseTransaction } from "viem";
import { createChainClient, type ChainClient } from "../../src/evm/client.ts";
import { PriceAboveCapError, fixedFees, quote, replacementOf, suggestedFees } from "../../src/evm/fees.ts";
import { readSigned, signCall } from "../../src/evm/signedTransaction.ts";
import { testAccount } from "../support/anvil.ts";

const GWEI = 10n ** 9n;
const hex = (value: bigint) => `0x${value.toString(16)}`;
const account = testAccount(0);
const call = { to: account.address, data: "0x", gas: 21_000n } as const;

let client: ChainClient;
let asked: string[] = [];
afterEach(async () => {
  asked = [];
  await client.close();
});

/** Creates a client of a node with fixed answers. */
function nodeOf(answers: Readonly<Record<string, unknown>>): ChainClient {
  client = createChainClient("", {
    connection: {
      async request(method) {
        asked.push(method);
        const answer = answers[method];
        if (answer === undefined) throw new Error("no answer");
        return answer;
      },
      close() {},
    },
  });
  return client;
}
const history = (baseFeeWei: bigint, ...tipsWei: bigint[]) => ({
  eth_feeHistory: {
    baseFeePerGas: [...tipsWei.map(() => hex(baseFeeWei)), hex(baseFeeWei)],
    reward: tipsWei.map((tip) => [hex(tip)]),
  },
});
const fees = (options: Partial<Parameters<typeof suggestedFees>[0]> = {}) =>
  suggestedFees({ repriceAfterMs: 1_000, ...options });

test("offers the median tip on top of twice the base fee", async () => {
  const node = nodeOf(history(10n * GWEI, GWEI, 3n * GWEI, 2n * GWEI));
  expect(await quote(fees(), node)).toEqual({ gasPriceWei: 22n * GWEI, tipWei: 2n * GWEI });
  expect(await fees().gasPriceWei(node)).toBe(12n * GWEI);
});

test("a recent peak of the base fee is covered, unless a call fails at such a price", async () => {
  const baseFeePerGas = [GWEI, 100n * GWEI, GWEI, GWEI].map(hex);
  const node = nodeOf({ eth_feeHistory: { baseFeePerGas, reward: [[hex(GWEI)]] } });
  expect(await quote(fees(), node)).toEqual({ gasPriceWei: 101n * GWEI, tipWei: GWEI });
  expect(await quote(fees(), node, { capWei: 50n * GWEI })).toMatchObject({ gasPriceWei: 50n * GWEI });
  expect(await quote(fees(), node, { avoidsPeaks: true })).toMatchObject({ gasPriceWei: 3n * GWEI });
});

test("empty blocks and small tips are raised to the network's lowest tip", async () => {
  const node = nodeOf(history(10n * GWEI, 0n, GWEI, 0n));
  expect(await quote(fees({ minTipWei: 25n * GWEI }), node)).toMatchObject({ tipWei: 25n * GWEI });
});

test("a cap below twice the base fee is what is offered", async () => {
  const node = nodeOf(history(10n * GWEI, 2n * GWEI));
  expect(await quote(fees({ maxFeeWei: 15n * GWEI }), node)).toEqual({
    gasPriceWei: 15n * GWEI,
    tipWei: 2n * GWEI,
  });
  expect(await quote(fees({ maxFeeWei: 15n * GWEI }), node, { capWei: 11n * GWEI })).toMatchObject({
    gasPriceWei: 11n * GWEI,
  });
});

test("a base fee above the cap is too dear, and the error says by how much", async () => {
  const node = nodeOf(history(90n * GWEI, 2n * GWEI));
  const refused = quote(fees({ maxFeeWei: 80n * GWEI, minTipWei: GWEI }), node);
  await expect(refused).rejects.toBeInstanceOf(PriceAboveCapError);
  await expect(refused).rejects.toMatchObject({
    priceWei: 91n * GWEI,
    capWei: 80n * GWEI,
    retryable: true,
    message: expect.stringContaining("gas costs 91 gwei, and at most 80 gwei"),
  });
});

test.each([
  ["has no base fee", { ...history(0n, 0n), eth_getBlockByNumber: { number: "0x1" } }],
  ["says nothing of fees", { eth_feeHistory: { baseFeePerGas: [] } }],
])("where the chain %s, the price is a legacy one", async (_, answers) => {
  const node = nodeOf({ ...answers, eth_gasPrice: hex(10n * GWEI) });
  expect(await quote(fees(), node)).toEqual({ gasPriceWei: 11n * GWEI });
  await expect(quote(fees(), node, { capWei: 10n * GWEI })).rejects.toBeInstanceOf(PriceAboveCapError);
});

test("takes a base fee of 0 for one, if blocks have the member", async () => {
  const node = nodeOf({ ...history(0n, GWEI), eth_getBlockByNumber: { baseFeePerGas: "0x0" } });
  expect(await quote(fees(), node)).toEqual({ gasPriceWei: GWEI, tipWei: GWEI });
});

test("transactions that are sent together ask once", async () => {
  const node = nodeOf(history(10n * GWEI, GWEI));
  const shared = fees();
  await Promise.all([1, 2, 3].map(() => quote(shared, node)));
  expect(asked).toEqual(["eth_feeHistory"]);
});

test("a node that does not answer is asked again the next time", async () => {
  const shared = fees();
  await expect(quote(shared, nodeOf({}))).rejects.toMatchObject({ answered: false });
  await expect(quote(shared, nodeOf(history(GWEI, GWEI)))).resolves.toMatchObject({ tipWei: GWEI });
});

test.each([
  [undefined, 12.5],
  [10, 10],
  [20, 20],
])("a replacement offers %s %% more of both", (replacementPercent, percent) => {
  const rules = fees(replacementPercent === undefined ? {} : { replacementPercent });
  const raise = (wei: bigint) => (wei * BigInt(1_000 + percent * 10)) / 1_000n + 1n;
  const paid = { gasPriceWei: 30n * GWEI, tipWei: 2n * GWEI };
  expect(replacementOf(rules, paid, { market: undefined, capWei: undefined })).toEqual({
    gasPriceWei: raise(30n * GWEI),
    tipWei: raise(2n * GWEI),
  });
});

test("a replacement goes up to the cap, and is none where that is too little more", () => {
  const paid = { gasPriceWei: 30n * GWEI, tipWei: 2n * GWEI };
  const market = { gasPriceWei: 60n * GWEI, tipWei: 3n * GWEI };
  const rules = fees({ maxFeeWei: 80n * GWEI });
  expect(replacementOf(rules, paid, { market, capWei: 40n * GWEI })).toMatchObject({
    gasPriceWei: 40n * GWEI,
  });
  expect(replacementOf(rules, paid, { market, capWei: 33n * GWEI })).toBeUndefined();
  expect(
    replacementOf(
      fixedFees(GWEI, { synchronous: true }),
      { gasPriceWei: GWEI },
      { market: undefined, capWei: undefined },
    ),
  ).toEqual({
    gasPriceWei: (GWEI * 9n) / 8n + 1n,
  });
});

test.each([
  { gasPriceWei: 3n * GWEI },
  { gasPriceWei: 30n * GWEI, tipWei: 2n * GWEI },
  { gasPriceWei: 30n * GWEI, tipWei: 0n },
])("signed bytes tell the price back: $gasPriceWei, $tipWei", async (price) => {
  const signed = await signCall(account, { ...call, valueWei: 5n }, { chainId: 5, nonce: 7, ...price });
  expect(readSigned(signed)).toEqual({
    call: { ...call, to: account.address.toLowerCase(), valueWei: 5n },
    price,
  });
  expect(parseTransaction(signed.raw).type).toBe("tipWei" in price ? "eip1559" : "legacy");
});
