import { afterEach, expect, test, vi } from "vitest";
import type { Replica } from "../../../src/requests/replica.ts";
import { createReplica } from "../../../src/requests/takeover/replicaSync.ts";
import type { RequestBook } from "../../../src/requests/requestBook.ts";
import { DatabaseAwayError } from "../../../src/store/databaseAway.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import { insertRequests } from "../../../src/store/requests.ts";
import { createSqliteDialect } from "../../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { makeStoredRequest } from "../../support/storedRequest.ts";

const PATIENCE = { timeout: 60_000, interval: 25 };

let store: Store;
let replica: Replica;
afterEach(async () => {
  vi.restoreAllMocks();
  await replica.close();
  await store.close();
});

test("a database whose tables can't be read does not answer, until they can", async () => {
  store = await openStore(createSqliteDialect(":memory:"));
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
  const { promise: isWaiting, resolve: waits } = Promise.withResolvers<void>();
  replica = createReplica({
    id: "rep_a",
    store,
    bus: { tell() {}, listen: () => () => {}, close: async () => {} },
    hasDatabase: () => true,
    onError: () => {},
  });
  const book: Pick<RequestBook, "awaited" | "get" | "reread"> = {
    awaited: () => [],
    get: () => undefined,
    async reread() {
      waits();
      await isRead;
    },
  };
  replica.hold("sepolia");
  await insertDapp(store.db, { id: "dapp_a", name: "a", facilities: [], createdAt: 1 });
  await insertRequests(store.db, [makeStoredRequest("1")]);
  replica.start(book as RequestBook);
  await isWaiting;
  expect(replica.hasDatabase()).toBe(true);
  const monotonic = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => monotonic + 5_000);
  expect(replica.hasDatabase()).toBe(false);
  read();
  await vi.waitFor(() => expect(replica.hasDatabase()).toBe(true), PATIENCE);
});

test("what a lost connection kept from being read again is read again with the next look", async () => {
  store = await openStore(createSqliteDialect(":memory:"));
  await insertDapp(store.db, { id: "dapp_a", name: "a", facilities: [], createdAt: 1 });
  const request = makeStoredRequest("1");
  await insertRequests(store.db, [request]);
  const errors: unknown[] = [];
  replica = createReplica({
    id: "rep_a",
    store,
    bus: { tell() {}, listen: () => () => {}, close: async () => {} },
    hasDatabase: () => true,
    onError: (error) => errors.push(error),
  });
  const read: (readonly string[])[] = [];
  const book: Pick<RequestBook, "awaited" | "get" | "reread"> = {
    awaited: () => [request.id],
    get: () => undefined,
    async reread(ids) {
      read.push(ids);
      if (read.length === 1) throw new DatabaseAwayError("cut");
    },
  };
  replica.start(book as RequestBook);
  await vi.waitFor(() => expect(read).toEqual([[request.id], [request.id]]), PATIENCE);
  expect(errors).toEqual([new DatabaseAwayError("cut")]);
});
