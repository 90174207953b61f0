import { afterEach, beforeEach, expect, test } from "vitest";
import { createRequestBook } from "../../src/requests/requestBook.ts";
import { createRequestReader } from "../../src/requests/requestReader.ts";
import { insertDapp } from "../../src/store/dapps.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { DESK_DAPP, DESK_NETWORK, makeRequest } from "../support/pipelineWorld.ts";

let store: Store;
beforeEach(async () => {
  store = await openStore(createSqliteDialect(":memory:"));
  await insertDapp(store.db, { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1 });
});
afterEach(() => store.close());

test("behaviour: requests of a network that is no longer configured can still be read", async () => {
  const book = createRequestBook(store);
  const reader = createRequestReader({ store, book, networks: new Map(), baseUrl: () => "" });
  const waiting = makeRequest("random", "0x");
  const ended = makeRequest("random", "0x");
  await book.add(waiting);
  await book.add(ended);
  const outcome = { transactionHash: "0x1", requestId: "0x2", words: ["3"] } as const;
  await book.change([{ request: ended, state: "fulfilled", outcome }]);
  expect(await reader.explain(waiting)).toMatchObject({ why: `${DESK_NETWORK} is not configured any more` });
  const dapp = { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1, keyId: "key_1" } as const;
  const { items } = await reader.list(dapp, { limit: 10 });
  expect(items.map(({ id }) => id).toSorted()).toEqual([waiting.id, ended.id].toSorted());
  expect(items.find(({ id }) => id === ended.id)?.outcome).toMatchObject({
    url: `/explorer/${DESK_NETWORK}/tx/0x1`,
  });
});
