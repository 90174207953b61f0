import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue } from "node:sqlite";
import { Kysely, type CompiledQuery } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listRequests } from "../../src/store/requestLists.ts";
import {
  addEvents,
  countUndelivered,
  deleteOldEvents,
  listAttempts,
  listDueDeliveries,
} from "../../src/store/outbox.ts";
import {
  findRequestByKey,
  listEndedBlocks,
  listOpenRequests,
  listUnsettledRequests,
} from "../../src/store/requests.ts";
import { listOldRequests, listOldTransactions } from "../../src/store/retention.ts";
import type { Tables } from "../../src/store/schema.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore } from "../../src/store/store.ts";
import type { Queryable } from "../../src/store/store.ts";
import { findLastNonce, listOpenTransactions, listTransactionsFrom } from "../../src/store/transactions.ts";

const network = "sepolia";
const dappId = "dapp_a";

let folder: string;
let plans: DatabaseSync;
let db: Kysely<Tables>;
let queries: CompiledQuery[];
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-plans-"));
  const file = path.join(folder, "tyche.sqlite");
  await (await openStore(createSqliteDialect(file), { file })).close();
  plans = new DatabaseSync(file);
  db = new Kysely<Tables>({
    dialect: createSqliteDialect(file),
    log: ({ query }) => void queries.push(query),
  });
});
afterAll(async () => {
  plans?.close();
  await db?.destroy();
  rmSync(folder, { recursive: true });
});

const QUERIES: Readonly<Record<string, (on: Queryable) => Promise<unknown>>> = {
  listOpenRequests: (on) => listOpenRequests(on, network),
  listUnsettledRequests: (on) => listUnsettledRequests(on, network, { head: 5, depth: 5 }),
  listEndedBlocks: (on) => listEndedBlocks(on, network, { before: 5, limit: 5 }),
  findRequestByKey: (on) => findRequestByKey(on, dappId, "key"),
  listRequests: (on) => listRequests(on, { dappId, limit: 5, state: "failed" }),
  listOldRequests: (on) => listOldRequests(on, { dappId, network, after: "", before: "z", limit: 5 }),
  listOpenTransactions: (on) => listOpenTransactions(on, network),
  listTransactionsFrom: (on) => listTransactionsFrom(on, { network, sender: "0xa", nonce: 5 }),
  listOldTransactions: (on) =>
    listOldTransactions(on, { network, sender: "0xa", from: 0, before: 5, limit: 5 }),
  addEvents: (on) =>
    addEvents(on, [{ id: "evt_1", dappId, type: "none", subject: null, at: 1, write: () => "{}" }]),
  listDueDeliveries: (on) => listDueDeliveries(on, { webhookId: "wh_1", isPaused: false, now: 5, limit: 5 }),
  listAttempts: (on) => listAttempts(on, { webhookId: "wh_1", limit: 5 }),
  countUndelivered: (on) => countUndelivered(on, ["wh_1"]),
  deleteOldEvents: (on) => deleteOldEvents(on, { eventId: "evt_1", attemptId: "att_1" }),
  findLastNonce: (on) => findLastNonce(on, network, "0xa"),
};

test.each(Object.keys(QUERIES))(
  "behaviour: %s looks through no table, however many rows it has",
  async (name) => {
    queries = [];
    await QUERIES[name]!(db);
    const details = queries.flatMap((query) =>
      plans.prepare(`EXPLAIN QUERY PLAN ${query.sql}`).all(...(query.parameters as SQLInputValue[])),
    );
    expect(details.length).toBeGreaterThan(0);
    expect(details.map(({ detail }) => detail).filter((detail) => String(detail).startsWith("SCAN"))).toEqual(
      [],
    );
  },
);
