import { afterEach, beforeEach, expect, test } from "vitest";
import type { Hex } from "viem";
import type { ChainClient } from "../../../src/evm/client.ts";
import { toQuantity } from "../../../src/lib/nodeAnswers.ts";
import type { OpenRequest } from "../../../src/requests/openRequest.ts";
import { createRecovery, type RecoveryOptions } from "../../../src/requests/takeover/recovery.ts";
import { createSqliteDialect } from "../../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { endTransaction, insertTransaction } from "../../../src/store/transactions.ts";

const SENDER: Hex = `0x${"Aa".repeat(20)}`;
const OURS: Hex = `0x${"01".repeat(32)}`;
const STRANGERS: Hex = `0x${"02".repeat(32)}`;
/** The block that spent the nonce; the head is block {@link HEAD}. */
const SPENT_IN = 7n;
const HEAD = 90n;

let store: Store;
beforeEach(async () => {
  store = await openStore(createSqliteDialect(":memory:"));
  await insertTransaction(store.db, {
    hash: OURS,
    network: "sepolia",
    sender: SENDER,
    nonce: 3,
    raw: "0x00",
    payload: {},
    createdAt: 1,
  });
  await endTransaction(store.db, OURS, "mined");
});
afterEach(() => store.close());

/** Checks a request carried by {@link OURS} on a node without its receipt. Returns the ids of the requests that are sent again. */
async function check(spender: Hex): Promise<readonly string[]> {
  const request = { id: "req_1", kind: "random", progress: { transactionHashes: [OURS], nonce: 3 } };
  const client = {
    getNonce: async () => 4,
    getHead: async () => ({ number: HEAD }),
    async request(method: string, [what, block]: readonly unknown[] = []) {
      if (method === "eth_getTransactionCount") return BigInt(block as Hex) < SPENT_IN ? "0x3" : "0x4";
      expect([method, what, block]).toEqual(["eth_getBlockByNumber", toQuantity(SPENT_IN), true]);
      const transaction = { from: SENDER.toLowerCase(), nonce: "0x3", hash: spender };
      return { transactions: [{ ...transaction, from: `0x${"bb".repeat(20)}`, hash: "0x" }, transaction] };
    },
  };
  const taken: string[] = [];
  const recovery = createRecovery({
    network: "sepolia",
    client: client as unknown as ChainClient,
    store,
    book: { get: () => request } as unknown as RecoveryOptions["book"],
    sender: { address: SENDER } as RecoveryOptions["sender"],
    requestTransactions: { find: async () => undefined } as unknown as RecoveryOptions["requestTransactions"],
    take: ({ id }) => void taken.push(id),
    finishLinking: async () => {},
    onError: () => {},
  });
  await recovery.check(request as unknown as OpenRequest);
  return taken;
}

test("a request whose transaction is in a block is not sent again, though a node has no receipt of it", async () => {
  expect(await check(OURS)).toEqual([]);
});

test("a request whose nonce went to another transaction is sent again", async () => {
  expect(await check(STRANGERS)).toEqual(["req_1"]);
});
