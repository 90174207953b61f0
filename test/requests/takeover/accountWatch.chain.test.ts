import { encodeFunctionData, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { presetConsumerAbi } from "../../../src/chainlink/contracts/abi.ts";
import { createAccountWatch, type AccountWatch } from "../../../src/requests/takeover/accountWatch.ts";
import { insertTransaction } from "../../../src/store/transactions.ts";
import type { Receipt } from "../../../src/lib/nodeAnswers.ts";
import type { Store } from "../../../src/store/store.ts";
import { startTestChain, testAccount, type TestChain } from "../../support/anvil.ts";
import { DATABASES, useStore } from "../../support/databases.ts";

const operator = testAccount(1);
const ANOTHER_BRANCH: Hex = `0x${"7".repeat(64)}`;

let chain: TestChain;
let store: Store;
let mined: Receipt;
useStore(DATABASES[0]![1], (opened) => {
  store = opened;
});
beforeAll(async () => {
  chain = await startTestChain();
  mined = await chain.send(operator, { to: testAccount(2).address, data: "0x" });
  await chain.client.request("anvil_mine", ["0x3"]);
});
afterAll(() => chain.close());

const watchAccount = (): AccountWatch =>
  createAccountWatch({
    network: "n",
    client: chain.client,
    store,
    operator: operator.address,
    presetConsumer: testAccount(3).address,
    firstBlock: 0,
    onFound() {},
  });

test("another's call of PresetConsumer that takes a nonce is harmless, unless only a service sends it", async () => {
  const accountWatch = watchAccount();
  const lookAfter = async (data: Hex): Promise<void> => {
    const { transactionHash } = await chain.send(operator, { to: testAccount(3).address, data });
    accountWatch.doubt({ spender: transactionHash });
    await accountWatch.look();
  };
  const abi = presetConsumerAbi;
  const delivers = encodeFunctionData({ abi, functionName: "deliver", args: ["0x", []] });
  await expect(lookAfter(delivers)).resolves.toBeUndefined();
  const storesSource = encodeFunctionData({ abi, functionName: "storeSource", args: ["0x01"] });
  await expect(lookAfter(storesSource)).rejects.toThrow("another process sends requests");
});

test("a transaction mined before it was signed is another's, unless node and head are of different branches", async () => {
  const transaction = { network: "n", sender: operator.address, nonce: 0, raw: "0x", payload: {} } as const;
  await insertTransaction(store.db, { ...transaction, hash: mined.transactionHash, createdAt: 2 });
  const signing = { head: await chain.client.getHead("latest"), atMs: 1 };
  const accountWatch = watchAccount();
  const elsewhere = { ...mined, blockHash: ANOTHER_BRANCH };
  await expect(accountWatch.assertNewer(elsewhere, signing)).resolves.toBeUndefined();
  await expect(accountWatch.assertNewer(mined, signing)).rejects.toThrow("another process sends requests");
});
