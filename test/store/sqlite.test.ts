import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { insertDapp } from "../../src/store/dapps.ts";
import { listRequests } from "../../src/store/requestLists.ts";
import { insertRequests } from "../../src/store/requests.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { makeStoredRequest as makeRequest } from "../support/storedRequest.ts";

let folder: string;
let store: Store;
let fatal: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tyche-store-"));
  fatal = [];
  store = await openStore(createSqliteDialect(join(folder, "db"), (reason) => fatal.push(reason)));
  await insertDapp(store.db, { id: "dapp_a", name: "a", facilities: ["presets"], createdAt: 1 });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a violated constraint is fatal to its statement alone", async () => {
  const request = makeRequest("1");
  await insertRequests(store.db, [request]);
  await expect(insertRequests(store.db, [request])).rejects.toThrow("UNIQUE");
  expect(fatal).toEqual([]);
});

test("temporary data is kept in memory, so that a full temporary folder is not told as a full disk", async () => {
  const { rows } = await sql<{ temp_store: number }>`PRAGMA temp_store`.execute(store.db);
  expect(rows).toEqual([{ temp_store: 2 }]);
});

test("a full disk is told at once, and the write throws", async () => {
  const { page_count } = (await sql<{ page_count: number }>`PRAGMA page_count`.execute(store.db)).rows[0]!;
  await sql.raw(`PRAGMA max_page_count = ${page_count + 1}`).execute(store.db);
  const much = makeRequest("1", { params: { text: "x".repeat(100_000) } });
  await expect(insertRequests(store.db, [much])).rejects.toThrow("full");
  expect(fatal).toEqual(["the disk is full"]);
});

test("a database that was removed takes no write, and that is told at once", async () => {
  rmSync(join(folder, "db"));
  await expect(insertRequests(store.db, [makeRequest("1")])).rejects.toThrow("was removed");
  expect(fatal).toEqual(["was removed while the service ran"]);
});

test("takes no write once the write-ahead log was removed, says so, and has copied the log to the file before", async () => {
  await insertRequests(store.db, [makeRequest("1")]);
  for (const suffix of ["-wal", "-shm"]) rmSync(join(folder, `db${suffix}`));
  await expect(store.write((db) => insertRequests(db, [makeRequest("2")]))).rejects.toThrow("was removed");
  expect(fatal).toEqual(["its write-ahead log was removed while the service ran"]);
  // As the process leaves it behind if it is killed now.
  copyFileSync(join(folder, "db"), join(folder, "copy"));
  const left = await openStore(createSqliteDialect(join(folder, "copy")));
  const ids = await left.db.selectFrom("requests").select("id").execute();
  expect(ids).toEqual([{ id: makeRequest("1").id }]);
  await left.close();
});

test.each([
  ["requests_by_kind", ["kind"]],
  ["requests_by_network", ["network"]],
  ["requests_by_filter", ["network", "state", "kind"]],
])("%s finds a page by its filters", async (index, columns) => {
  const filters = columns.map((column) => sql`${sql.ref(column)} = 'x'`);
  const { rows } = await sql<{ detail: string }>`EXPLAIN QUERY PLAN SELECT id FROM requests
    WHERE dapp_id = 'dapp_a' AND id < 'req_9' AND ${sql.join(filters, sql` AND `)} ORDER BY id DESC LIMIT 9`.execute(
    store.db,
  );
  const terms = ["dapp_id=?", ...columns.map((column) => `${column}=?`), "id<?"].join(" AND ");
  expect(rows.map(({ detail }) => detail)).toEqual([
    expect.stringMatching(new RegExp(`^SEARCH requests USING (COVERING )?INDEX ${index} `)),
  ]);
  expect(rows[0]!.detail).toContain(`(${terms})`);
});

test("writes that resolve share flushes, and are all there", async () => {
  const file = join(folder, "flushed");
  const flushed = await openStore(createSqliteDialect(file), { file });
  await insertDapp(flushed.db, { id: "dapp_a", name: "a", facilities: [], createdAt: 1 });
  const ids = Array.from({ length: 50 }, (_, i) => String(i + 1));
  await Promise.all(ids.map((id) => flushed.write((db) => insertRequests(db, [makeRequest(id)]))));
  expect(await listRequests(flushed.db, { dappId: "dapp_a", limit: 99 })).toHaveLength(50);
  await flushed.close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a file of another kind is refused and left as it is", async () => {
  const file = join(folder, "other");
  writeFileSync(file, "not a database, ".repeat(100));
  await expect(openStore(createSqliteDialect(file))).rejects.toMatchObject({ code: "store_unusable" });
});
