import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import {
  deleteConsumer,
  findChain,
  saveConsumer,
  listConsumers,
  listSourceIds,
  listSubscriptions,
  replaceChain,
  saveChain,
  saveSourceId,
  saveSubscription,
} from "../../src/store/chainRecords.ts";
import { insertDapp, insertKey, listKeys, revokeKey } from "../../src/store/dapps.ts";
import { listRequests } from "../../src/store/requestLists.ts";
import {
  findRequest,
  findRequestByKey,
  forgetEnds,
  insertRequests,
  listOpenRequests,
  listNotFinalRequests,
  saveRequests,
  type StoredRequest,
} from "../../src/store/requests.ts";
import type { Store } from "../../src/store/store.ts";
import {
  endTransaction,
  findTransactions,
  insertTransaction,
  listOpenTransactions,
  listRefusedTransactions,
  listTransactionsFrom,
} from "../../src/store/transactions.ts";
import { DATABASES, useStore, type TestDatabase } from "../support/databases.ts";
import { makeStoredRequest as makeRequest } from "../support/storedRequest.ts";

describe.each(DATABASES)("on %s", (_name, create) => {
  let database: TestDatabase;
  let store: Store;

  useStore(create, (opened, itsDatabase) => {
    store = opened;
    database = itsDatabase;
  });
  beforeEach(async () => {
    for (const id of ["dapp_a", "dapp_b"])
      await insertDapp(store.db, { id, name: id, facilities: ["presets"], createdAt: 1 });
  });

  describe("requests", () => {
    test("requests that blocks have ended are listed until those are final", async () => {
      const endedIn = (number: number) => ({ number, hash: `0x${number}` as const });
      const ended = [3, 10, 12].map((block) =>
        makeRequest(String(block), { state: "fulfilled", endedIn: endedIn(block) }),
      );
      const other = makeRequest("50", { state: "fulfilled", network: "fuji", endedIn: endedIn(50) });
      await insertRequests(store.db, [...ended, other, makeRequest("1", { state: "failed" })]);
      const list = async (head: number, depth: number) =>
        (await listNotFinalRequests(store.db, "sepolia", { head, depth })).map((one) => one.endedIn?.number);
      expect(await list(12, 5)).toEqual([10, 12]);
      expect(await list(15, 5)).toEqual([12]);
      // The chain was set back: blocks that were final are still final.
      expect(await list(2, 5)).toEqual([10, 12]);
      await forgetEnds(store.db, "sepolia", 11);
      expect(await list(12, 10)).toEqual([3, 10]);
      await replaceChain(store.db, "sepolia", "0xnew", {});
      expect(await list(12, 10)).toEqual([]);
    });

    test("a request comes back as it was stored, changes too", async () => {
      const request = makeRequest("1");
      await insertRequests(store.db, [request]);
      expect(await findRequest(store.db, request.id)).toEqual(request);
      const changed: StoredRequest = {
        ...request,
        state: "failed",
        why: "because",
        progress: { entry: 3 },
        outcome: { err: "no" },
        error: { code: "request_failed", message: "no" },
        timeline: [
          ...request.timeline,
          { seq: 2, state: "failed", at: 6, detail: "d", transactionHash: "0x1" },
        ],
        updatedAt: 6,
        version: 2,
      };
      await saveRequests(store.db, [changed]);
      expect(await findRequest(store.db, request.id)).toEqual(changed);
      await expect(saveRequests(store.db, [changed])).rejects.toMatchObject({ code: "store_conflict" });
    });

    test("an idempotency key is one dapp's own", async () => {
      const idempotencyKey = "same";
      await insertRequests(store.db, [makeRequest("1", { idempotencyKey })]);
      await insertRequests(store.db, [makeRequest("2", { idempotencyKey, dappId: "dapp_b" })]);
      expect(await findRequestByKey(store.db, "dapp_b", "same")).toMatchObject({ dappId: "dapp_b" });
      expect(await findRequestByKey(store.db, "dapp_b", "other")).toBeUndefined();
    });

    test("the same dapp's key a second time is refused", async () => {
      const idempotencyKey = "same";
      await insertRequests(store.db, [makeRequest("1", { idempotencyKey })]);
      await expect(insertRequests(store.db, [makeRequest("2", { idempotencyKey })])).rejects.toThrow(
        /unique/i,
      );
    });

    test("open ones are listed by network, oldest first; ended ones are not", async () => {
      await insertRequests(store.db, [
        makeRequest("3"),
        makeRequest("1", { state: "executing" }),
        makeRequest("2", { state: "fulfilled" }),
        makeRequest("4", { network: "fuji" }),
      ]);
      const open = await listOpenRequests(store.db, "sepolia");
      expect(open.map(({ id }) => id.slice(-1))).toEqual(["1", "3"]);
    });

    test("pages go from the newest on, with filters", async () => {
      await insertRequests(
        store.db,
        ["1", "2", "3", "4"].map((id) => makeRequest(id, { kind: id === "2" ? "preset" : "random" })),
      );
      const first = await listRequests(store.db, { dappId: "dapp_a", limit: 2 });
      expect(first.map(({ id }) => id.slice(-1))).toEqual(["4", "3"]);
      const second = await listRequests(store.db, { dappId: "dapp_a", limit: 2, before: first[1]!.id });
      expect(second.map(({ id }) => id.slice(-1))).toEqual(["2", "1"]);
      expect(await listRequests(store.db, { dappId: "dapp_a", limit: 9, kind: "preset" })).toHaveLength(1);
      expect(await listRequests(store.db, { dappId: "dapp_b", limit: 9 })).toEqual([]);
    });

    test("every combination of filters lists what matches, page by page", async () => {
      const kinds = ["preset", "function", "random"] as const;
      const all = Array.from({ length: 60 }, (_, i) =>
        makeRequest(String(i), {
          kind: kinds[i % 3]!,
          state: i % 4 === 0 ? "failed" : i % 5 === 0 ? "executing" : "fulfilled",
          network: i < 20 ? "fuji" : "sepolia",
          dappId: i % 7 === 0 ? "dapp_b" : "dapp_a",
        }),
      );
      await insertRequests(store.db, all);
      const own = all.filter(({ dappId }) => dappId === "dapp_a").toReversed();
      for (const state of [undefined, "failed", "executing", "fulfilled", "received"] as const)
        for (const kind of [undefined, ...kinds, "consumer"] as const)
          for (const network of [undefined, "fuji", "sepolia", "fantom_testnet"]) {
            const wanted = own.filter(
              (one) =>
                (state ?? one.state) === one.state &&
                (kind ?? one.kind) === one.kind &&
                (network ?? one.network) === one.network,
            );
            const filter = { dappId: "dapp_a", limit: 7, state, kind, network };
            const first = await listRequests(store.db, filter);
            const second = await listRequests(store.db, { ...filter, before: first.at(-1)?.id });
            const found = first.length < 7 ? first : [...first, ...second];
            expect(found.map(({ id }) => id)).toEqual(wanted.slice(0, 14).map(({ id }) => id));
          }
    });
  });

  describe("transactions", () => {
    const make = (n: number, change: object = {}) => ({
      hash: `0x${n}` as const,
      network: "sepolia",
      sender: "0xaa" as const,
      nonce: n,
      raw: "0x00" as const,
      payload: { n },
      createdAt: n,
      ...change,
    });

    test("signed ones are open until their end is stored", async () => {
      for (const n of [1, 2, 3]) await insertTransaction(store.db, make(n));
      await endTransaction(store.db, "0x1", "mined");
      await endTransaction(store.db, "0x2", "failed");
      expect(await listOpenTransactions(store.db, "sepolia")).toEqual([{ ...make(3), state: "signed" }]);
      expect(await listOpenTransactions(store.db, "fuji")).toEqual([]);
    });

    test("everything of an account from a nonce on; refused ones by one nonce and what they name", async () => {
      for (const n of [1, 2, 3]) await insertTransaction(store.db, make(n));
      await insertTransaction(store.db, make(9, { nonce: 2 }));
      await insertTransaction(store.db, make(8, { nonce: 2, sender: "0xbb" }));
      await endTransaction(store.db, "0x3", "failed");
      const where = { network: "sepolia", sender: "0xaa", nonce: 2 };
      expect((await listTransactionsFrom(store.db, where)).map(({ hash }) => hash)).toEqual(["0x2", "0x9"]);
      for (const [n, nonce] of [
        [5, 2],
        [6, 2],
        [7, 4],
      ] as const) {
        await insertTransaction(store.db, make(n, { nonce, payload: { entries: [[`request ${n}`]] } }));
        await endTransaction(store.db, `0x${n}`, "failed");
      }
      const refused = await listRefusedTransactions(store.db, { ...where, naming: "request 6" });
      expect(refused.map(({ hash }) => hash)).toEqual(["0x6"]);
      expect(await listRefusedTransactions(store.db, { ...where, naming: "request 7" })).toEqual([]);
    });

    test("are found by hash; the same one stored again changes nothing", async () => {
      await insertTransaction(store.db, make(1));
      await endTransaction(store.db, "0x1", "mined");
      await insertTransaction(store.db, make(1));
      expect(await findTransactions(store.db, ["0x1", "0x5"])).toMatchObject([{ state: "mined" }]);
      expect(await findTransactions(store.db, [])).toEqual([]);
    });
  });

  describe("what is known of a chain", () => {
    const subscription = {
      dappId: "dapp_a",
      network: "fuji",
      vrfSubscriptionId: 2n ** 255n,
      functionsSubscriptionId: 7n,
    };
    const consumer = {
      dappId: "dapp_a",
      network: "fuji",
      address: "0xAb",
      transactionHash: "0x1",
      createdAt: 1,
    };

    test("comes back as it was stored, ids of 256 bits too", async () => {
      await saveChain(store.db, "fuji", "0xid", { blockNumber: 3 });
      await saveSubscription(store.db, subscription);
      await saveConsumer(store.db, consumer);
      await saveSourceId(store.db, "fuji", "0xhash", 4);
      expect(await findChain(store.db, "fuji")).toEqual({ identity: "0xid", deployment: { blockNumber: 3 } });
      expect(await listSubscriptions(store.db, "dapp_a")).toEqual([subscription]);
      expect(await listConsumers(store.db, "dapp_a", "fuji")).toEqual([consumer]);
      expect(await listSourceIds(store.db, "fuji")).toEqual(new Map([["0xhash", 4]]));
      expect(await findChain(store.db, "sepolia")).toBeUndefined();
    });

    test("a contract that is linked anew has its latest transaction; an unlinked one is gone", async () => {
      await saveConsumer(store.db, consumer);
      await saveConsumer(store.db, { ...consumer, transactionHash: "0x2" });
      expect(await listConsumers(store.db, "dapp_a")).toEqual([{ ...consumer, transactionHash: "0x2" }]);
      await deleteConsumer(store.db, { ...consumer, network: "sepolia" });
      expect(await listConsumers(store.db, "dapp_a")).toHaveLength(1);
      await deleteConsumer(store.db, consumer);
      expect(await listConsumers(store.db, "dapp_a")).toEqual([]);
    });

    test("another chain makes everything that lived on the first forgotten, and nothing else", async () => {
      await saveSubscription(store.db, subscription);
      await saveSubscription(store.db, { ...subscription, network: "sepolia" });
      await saveConsumer(store.db, consumer);
      await saveSourceId(store.db, "fuji", "0xhash", 4);
      await replaceChain(store.db, "fuji", "0xnew", {});
      expect(await listSubscriptions(store.db)).toMatchObject([{ network: "sepolia" }]);
      expect(await listConsumers(store.db, "dapp_a")).toEqual([]);
      expect(await listSourceIds(store.db, "fuji")).toEqual(new Map());
      expect(await findChain(store.db, "fuji")).toMatchObject({ identity: "0xnew" });
    });

    test("a chain that another network has is not taken, and nothing is forgotten", async () => {
      await saveChain(store.db, "sepolia", "0xid", {});
      await saveChain(store.db, "fuji", "0xother", {});
      await saveSubscription(store.db, subscription);
      await expect(replaceChain(store.db, "fuji", "0xid", {})).rejects.toMatchObject({
        code: "chain_unavailable",
        message: expect.stringContaining("are those of sepolia in this database"),
      });
      expect(await findChain(store.db, "fuji")).toMatchObject({ identity: "0xother" });
      expect(await listSubscriptions(store.db)).toEqual([subscription]);
    });
  });

  test("a transaction that fails stores none of its writes", async () => {
    const work = store.write(async (db) => {
      await insertRequests(db, [makeRequest("1")]);
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await listRequests(store.db, { dappId: "dapp_a", limit: 9 })).toEqual([]);
  });

  test("a database opened again has everything", async () => {
    await insertRequests(store.db, [makeRequest("1")]);
    const again = await database.open();
    expect(await listRequests(again.db, { dappId: "dapp_a", limit: 9 })).toHaveLength(1);
    await again.close();
  });

  test("a flipped byte in a record is found when it is read, and a record without a checksum is read", async () => {
    await insertRequests(store.db, [makeRequest("1"), makeRequest("2")]);
    await insertTransaction(store.db, {
      hash: "0x1",
      network: "sepolia",
      sender: "0xaa",
      nonce: 1,
      raw: "0x00",
      payload: {},
      createdAt: 1,
    });
    const [first, second] = [makeRequest("1").id, makeRequest("2").id];
    await sql`UPDATE requests SET params = '{"numWords":3}' WHERE id = ${first}`.execute(store.db);
    await sql`UPDATE requests SET checksum = NULL WHERE id = ${second}`.execute(store.db);
    await sql`UPDATE transactions SET payload = '[]'`.execute(store.db);
    await expect(findRequest(store.db, first)).rejects.toMatchObject({ code: "store_unusable" });
    expect(await findRequest(store.db, second)).toMatchObject({ id: second });
    await expect(findTransactions(store.db, ["0x1"])).rejects.toThrow(
      "transaction 0x1 in the database is damaged",
    );
  });

  test("what a node said is stored, whatever characters it has", async () => {
    const why = "a half \ud83c and a \0";
    await insertRequests(store.db, [makeRequest("1", { why })]);
    expect(await findRequest(store.db, makeRequest("1").id)).toMatchObject({
      why: "a half \ufffd and a \ufffd",
    });
  });

  test("a revoked key is gone from the tables, and revoked once", async () => {
    const [hash, sealed] = [new Uint8Array(32).fill(7), new Uint8Array([1, 2, 0, 255])];
    const fresh = { createdAt: 2 ** 41, revokedAt: null, name: "", lastUsedAt: null, dailyLimit: null };
    const rest = {
      countedDay: null,
      dayRequests: 0,
      access: "full",
      expiresAt: null,
      previous: null,
    } as const;
    const key = { id: "key_a", dappId: "dapp_a", hash, sealed, ...fresh, ...rest };
    await insertKey(store.db, key);
    expect(await listKeys(store.db)).toEqual([key]);
    expect(await revokeKey(store, "key_a", 2 ** 41 + 1)).toBe(true);
    expect(await revokeKey(store, "key_a", 5)).toBe(false);
    expect(await listKeys(store.db)).toEqual([{ ...key, sealed: new Uint8Array(), revokedAt: 2 ** 41 + 1 }]);
  });

  test("pages are in the order of the ids' bytes", async () => {
    const ids = ["req_b", "req_A", "req_a", "req_B", "req_1"];
    await insertRequests(
      store.db,
      ids.map((id) => ({ ...makeRequest("1"), id })),
    );
    const page = await listRequests(store.db, { dappId: "dapp_a", limit: 9 });
    expect(page.map(({ id }) => id)).toEqual(["req_b", "req_a", "req_B", "req_A", "req_1"]);
  });

  test("a newer version's database is refused", async () => {
    await sql`INSERT INTO kysely_migration (name, timestamp) VALUES ('9999_future', '2099')`.execute(
      store.db,
    );
    await expect(database.open()).rejects.toThrow("a newer version of Tyche (9999_future)");
    await sql`DELETE FROM kysely_migration WHERE name = '9999_future'`.execute(store.db);
  });
});
