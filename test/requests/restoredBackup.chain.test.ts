import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createSender } from "../../src/evm/sender.ts";
import { readSigned, signCall } from "../../src/evm/signedTransaction.ts";
import { assertJournalKnows } from "../../src/requests/takeover/journalCheck.ts";
import { createRequestBook } from "../../src/requests/requestBook.ts";
import { endUncertainRequests } from "../../src/requests/takeover/adoptChain.ts";
import { backupDatabase } from "../../src/store/backup.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore } from "../../src/store/store.ts";
import { findTransactions, insertTransaction } from "../../src/store/transactions.ts";
import { every } from "../support/faultyNode.ts";
import {
  DESK_NETWORK,
  makeRequest,
  startPipelineWorld,
  type OpenPipeline,
  type PipelineWorld,
} from "../support/pipelineWorld.ts";
import { TEST_ROLES } from "../support/stack.ts";
import { fixedFees } from "../../src/evm/fees.ts";

let world: PipelineWorld;
let pipeline: OpenPipeline;
beforeAll(async () => {
  world = await startPipelineWorld();
  pipeline = await world.open();
  await world.storeSource(pipeline.pipeline);
});
afterAll(async () => {
  await pipeline.close();
  await world.close();
});

test("a journal restored from before the last transactions sends nothing twice, and ends what it can't know", async () => {
  const answered = await pipeline.accept("random");
  const { outcome } = await pipeline.ended(answered.id);
  world.stopOracle();
  const sent = await pipeline.accept("random");
  await vi.waitFor(() => expect(sent.progress.acceptedBlock).toBeDefined());
  const waiting = makeRequest("random", "0x");
  await pipeline.book.add(waiting);

  const file = join(world.folder, "restored.db");
  await backupDatabase(join(world.folder, "tyche.db"), file);

  // What the backup doesn't know: one of its requests is sent, and another one accepted.
  pipeline.pipeline.take(waiting);
  world.startOracle();
  const late = await pipeline.accept("random");
  const known = await Promise.all([sent, waiting, late].map(({ id }) => pipeline.ended(id)));
  expect(known.map(({ state }) => state)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
  const asked = (await world.events("RandomWordsRequested")).length;
  expect(asked).toBe(4);
  await pipeline.close();

  const store = await openStore(createSqliteDialect(file));
  const book = createRequestBook(store);
  const { client } = world.stack;
  const account = { network: DESK_NETWORK, client, store, operator: TEST_ROLES.operator.address };
  const check = (isAccepted: boolean): Promise<void> =>
    assertJournalKnows({
      ...account,
      presetConsumer: world.stack.addresses.presetConsumer,
      firstBlock: 0,
      isAccepted,
      onAccepted: () => endUncertainRequests({ ...account, book }),
    });
  await expect(check(false)).rejects.toThrow("the database is older than the chain of sepolia");
  await check(true);
  // This is recorded: another start continues without being told again.
  await check(false);
  await store.close();

  pipeline = await world.open({ file: "restored.db" });
  expect(await pipeline.ended(sent.id)).toMatchObject({ state: "fulfilled", outcome: known[0]!.outcome });
  expect(await pipeline.ended(waiting.id)).toMatchObject({
    state: "failed",
    error: {
      code: "request_failed",
      message: expect.stringContaining("it isn't known whether the request was sent"),
    },
  });
  expect((await pipeline.ended(answered.id)).outcome).toEqual(outcome);
  const next = await pipeline.accept("random");
  expect((await pipeline.ended(next.id)).state).toBe("fulfilled");
  // One more than before: the restored requests were not sent again.
  expect(await world.events("RandomWordsRequested")).toHaveLength(asked + 1);
});

test("others' transactions under the operator's key are no sign of a lost journal, and nothing is sent again", async () => {
  const { client, chainId, gasPriceWei, addresses } = world.stack;
  const { operator } = TEST_ROLES;
  const firstBlock = Number((await client.getHead("latest"))!.number) + 1;
  const file = "others.db";
  const first = await world.open({ file });
  await first.ended((await first.accept("random")).id);
  await first.close();
  const asked = (await world.events("RandomWordsRequested")).length;

  const signal = AbortSignal.timeout(60_000);
  const fees = fixedFees(gasPriceWei, { synchronous: true });
  const wallet = createSender({ client, account: operator, chainId, fees, signal, onError: () => {} });
  for (let i = 0; i < 3; i += 1)
    await wallet.send({ to: TEST_ROLES.deployer.address, data: "0x", gas: 21_000n, valueWei: 1n }, undefined);

  const store = await openStore(createSqliteDialect(join(world.folder, file)));
  const account = { network: DESK_NETWORK, client, store, operator: operator.address };
  await assertJournalKnows({
    ...account,
    presetConsumer: addresses.presetConsumer,
    firstBlock,
    isAccepted: false,
    onAccepted: () => Promise.reject(new Error("nothing of ours is missing")),
  });
  await store.close();
  const next = await world.open({ file });
  expect(await next.ended((await next.accept("random")).id)).toMatchObject({ state: "fulfilled" });
  await next.close();
  expect(await world.events("RandomWordsRequested")).toHaveLength(asked + 1);
});

test("a service on a copy of the database sends nothing that the original has sent, and says why", async () => {
  const fees = { synchronous: false };
  const first = await world.open({ file: "original.db", fees, watchesAccount: true });
  await assertJournalKnows({
    network: DESK_NETWORK,
    client: world.stack.client,
    store: first.store,
    operator: TEST_ROLES.operator.address,
    presetConsumer: world.stack.addresses.presetConsumer,
    firstBlock: 0,
    isAccepted: true,
    onAccepted: async () => {},
  });
  await first.ended((await first.accept("random")).id);
  const ids: string[] = [];
  for (let i = 0; i < 3; i += 1) {
    const waiting = makeRequest("random", "0x");
    await first.book.add(waiting);
    ids.push(waiting.id);
  }
  await backupDatabase(join(world.folder, "original.db"), join(world.folder, "copy.db"));
  for (const id of ids) first.pipeline.take(first.book.get(id)!);
  for (const id of ids) await first.ended(id);
  const asked = (await world.events("RandomWordsRequested")).length;

  const second = await world.open({ file: "copy.db", fees, watchesAccount: true });
  await vi.waitFor(() => expect(second.inUse).toHaveLength(1));
  expect(second.inUse[0]!.message).toContain("another process sends requests on sepolia with this service's");
  await expect(second.accountWatch.look()).rejects.toThrow("another process");
  await second.close({ atOnce: true });

  // The operator stops both and accepts the chain: what the copy can't know ends, and the other sender isn't found a second time.
  const copy = await openStore(createSqliteDialect(join(world.folder, "copy.db")));
  const account = {
    network: DESK_NETWORK,
    client: world.stack.client,
    store: copy,
    operator: TEST_ROLES.operator.address,
    presetConsumer: world.stack.addresses.presetConsumer,
    firstBlock: 0,
  };
  // The copy has signed for a nonce that the original has used.
  const nonce = (await account.client.getNonce(account.operator, "latest")) - 1;
  const signed = { hash: `0x${"11".repeat(32)}`, raw: "0x", nonce } as const;
  const payload = { kind: "submit", entries: [ids] } as const;
  await insertTransaction(copy.db, {
    ...signed,
    network: DESK_NETWORK,
    sender: account.operator,
    payload,
    createdAt: Date.now(),
  });
  await assertJournalKnows({
    ...account,
    isAccepted: true,
    onAccepted: () => endUncertainRequests({ ...account, book: createRequestBook(copy) }),
  });
  await copy.close();
  const accepted = await world.open({ file: "copy.db", fees, watchesAccount: true });
  for (const id of ids) expect((await accepted.ended(id)).state).toBe("failed");
  accepted.accountWatch.doubt();
  await accepted.accountWatch.assertAlone({ ...signed, nonce: nonce + 1 }, { isRequest: true });
  await accepted.close();
  await first.accountWatch.look();
  expect(await world.events("RandomWordsRequested")).toHaveLength(asked);

  // What another process sends later is noticed without sending.
  const third = await world.open({ file: "original-2.db", fees });
  await third.ended((await third.accept("random")).id);
  await third.close();
  await expect(first.accountWatch.look()).rejects.toThrow("another process");
  await first.close();
});

test("what the journal signed for requests that an accepting start ended is not broadcast again", async () => {
  const fees = { synchronous: false };
  const pipelining = { maxInFlight: 2, paceMs: 1, maxTransactionGas: 6_000_000n };
  const file = "unsent.db";
  const first = await world.open({ file, fees, pipelining });
  await first.ended((await first.accept("random")).id);
  const { client } = world.stack;
  const operator = TEST_ROLES.operator.address;
  const account = { network: DESK_NETWORK, client, store: first.store, operator };
  const options = { ...account, presetConsumer: world.stack.addresses.presetConsumer, firstBlock: 0 };
  await assertJournalKnows({ ...options, isAccepted: true, onAccepted: async () => {} });

  // Two transactions are signed that no node has.
  const undo = world.node.inject(({ method }) =>
    method === "eth_sendRawTransaction" ? { error: { code: -32_000, message: "already known" } } : undefined,
  );
  const unsent = [await first.accept("random")];
  await vi.waitFor(() => expect(unsent[0]!.progress.transactionHashes).toBeDefined());
  unsent.push(await first.accept("random"));
  await vi.waitFor(() => expect(unsent[1]!.progress.transactionHashes).toBeDefined());
  await first.close({ atOnce: true });
  undo();

  // Another process uses the first one's nonce.
  const other = await world.open({ file: "other-sender.db", fees });
  await other.ended((await other.accept("preset")).id);
  await other.close();
  expect(await client.getNonce(operator, "latest")).toBe(unsent[1]!.progress.nonce);
  const asked = (await world.events("RandomWordsRequested")).length;

  const store = await openStore(createSqliteDialect(join(world.folder, file)));
  await assertJournalKnows({
    ...options,
    store,
    isAccepted: true,
    onAccepted: () => endUncertainRequests({ ...account, store, book: createRequestBook(store) }),
  });
  await store.close();
  const accepted = await world.open({ file, fees, pipelining, watchesAccount: true });
  for (const { id } of unsent) expect((await accepted.ended(id)).state).toBe("failed");
  const next = await accepted.accept("random");
  expect((await accepted.ended(next.id)).state).toBe("fulfilled");
  expect(await world.events("RandomWordsRequested")).toHaveLength(asked + 1);
  expect(accepted.inUse).toEqual([]);
  await accepted.close();
});

/** Opens a pipeline on a new database that takes all that is on chain for known. */
async function openWatched(file: string): Promise<OpenPipeline> {
  const opened = await world.open({ file, watchesAccount: true });
  await assertJournalKnows({
    network: DESK_NETWORK,
    client: world.stack.client,
    store: opened.store,
    operator: TEST_ROLES.operator.address,
    presetConsumer: world.stack.addresses.presetConsumer,
    firstBlock: 0,
    isAccepted: true,
    onAccepted: async () => {},
  });
  return opened;
}

test("others may use the account after a failed poll, until a transaction is mined", async () => {
  const pipeline = await openWatched("polls.db");
  // A standstill of this machine puts it in doubt again.
  const untilSure = (): Promise<void> =>
    vi.waitFor(async () => {
      await pipeline.ended((await pipeline.accept("random")).id);
      expect(pipeline.accountWatch.isInDoubt()).toBe(false);
    });
  await untilSure();
  const undo = world.node.inject(every("eth_getBlockByNumber", { status: 503 }));
  await vi.waitFor(() => expect(pipeline.accountWatch.isInDoubt()).toBe(true));
  undo();
  await untilSure();
  expect(pipeline.inUse).toEqual([]);
  await pipeline.close();
});

test.each([
  ["the noted block", true],
  ["the block after it", false],
])("finds another's request in a block of the same height that replaces %s", async (which, isNoted) => {
  const pipeline = await openWatched(`replaced ${which}.db`);
  await pipeline.ended((await pipeline.accept("random")).id);
  await pipeline.accountWatch.look();
  world.stopOracle();
  const sent = await pipeline.accept("random");
  await vi.waitFor(() => expect(sent.progress.acceptedBlock).toBeDefined());
  if (isNoted) await pipeline.accountWatch.look();

  const { client, chainId, gasPriceWei } = world.stack;
  const head = (await client.getHead("latest"))!.number;
  expect(Number(head)).toBe(sent.progress.acceptedBlock);
  const [own] = await findTransactions(pipeline.store.db, sent.progress.transactionHashes!);
  const { call } = readSigned(own!);
  const terms = { chainId, nonce: own!.nonce, gasPriceWei };
  const foreign = await signCall(TEST_ROLES.operator, { ...call, gas: call.gas + 1n }, terms);
  await client.request("anvil_reorg", [1, [[foreign.raw, 0]]]);
  expect((await client.getReceipt(foreign.hash))?.blockNumber).toBe(head);

  await vi.waitFor(() => expect(sent.progress.acceptedBlock).toBeUndefined());
  await pipeline.accept("random");
  await vi.waitFor(() => expect(pipeline.inUse).toHaveLength(1));
  expect(pipeline.inUse[0]!.message).toContain(foreign.hash);
  await pipeline.close({ atOnce: true });
  world.startOracle();
});
