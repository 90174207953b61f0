import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkDatabase, compactDatabase, copyDatabase } from "../../../src/app/tools/databaseTool.ts";
import { openDapps } from "../../../src/app/tools/dappTools.ts";
import { openDataDirectory } from "../../../src/store/dataDirectory.ts";
import { appendRoundRecords, listRoundRecords } from "../../../src/store/oracleRounds.ts";
import { createPostgresDialect } from "../../../src/store/postgresDialect.ts";
import { lockPostgres } from "../../../src/store/postgresLock.ts";
import { findRequest, insertRequests } from "../../../src/store/requests.ts";
import { createSqliteDialect } from "../../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { insertTransaction } from "../../../src/store/transactions.ts";
import { addUsage } from "../../../src/store/usage.ts";
import { withPostgres } from "../../support/databases.ts";
import { withClient, type PostgresServer } from "../../support/postgres.ts";
import { makeStoredRequest as makeRequest } from "../../support/storedRequest.ts";

/** More than two pages' worth. */
const REQUESTS = 1_100;
const ROUND = { network: "sepolia", configDigest: "0x1", requestId: "0x2" };

let server: PostgresServer;
let dataDir: string;
let environment: { readonly TARGET: string };
let store: Store;
withPostgres.beforeAll(({ postgres }) => {
  server = postgres;
});
beforeEach(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), "tyche-copy-"));
  environment = { TARGET: await server.createDatabase() };
  await fill();
});
afterEach(async () => {
  await store?.close();
  rmSync(dataDir, { recursive: true });
});

const file = (): string => path.join(dataDir, "tyche.sqlite");
const location = () => ({ dataDir, environment });
const copy = () => copyDatabase(location(), { to: "TARGET" });
const openTarget = async (): Promise<Store> =>
  (store = await openStore(createPostgresDialect(environment.TARGET)));

async function fill(): Promise<void> {
  const directory = openDataDirectory(dataDir, { exclusive: true });
  const { store: source, dapps } = await openDapps(directory, { onFatal: () => {} });
  const { dapp } = await dapps.create("Ünïcödé 🎲", ["presets"]);
  const requests = Array.from({ length: REQUESTS }, (_, i) =>
    makeRequest(String(i), {
      dappId: dapp.id,
      idempotencyKey: i % 2 ? `key-${i}` : null,
      createdAt: 2 ** 42 + i,
    }),
  );
  await source.write(async (db) => {
    await insertRequests(db, requests);
    await insertTransaction(db, {
      hash: "0x1",
      network: "sepolia",
      sender: "0xa",
      nonce: 7,
      raw: "0x02",
      payload: { kind: "submit", entries: [["req_1"]] },
      createdAt: 2 ** 42,
    });
    await addUsage(db, [
      { dappId: dapp.id, network: "", day: "2026-11-22", kind: "dry-run", linkJuels: 10n ** 20n },
    ]);
  });
  await appendRoundRecords(source, [{ ...ROUND, record: "first" }]);
  await source.close();
  directory.close();
}

async function changeFile(statement: string): Promise<void> {
  const source = await openStore(createSqliteDialect(file()), { file: file() });
  await sql.raw(statement).execute(source.db);
  await source.close();
}

test("every row of a stopped service's database is on PostgreSQL, which its data directory uses from then on", async () => {
  const { tables, setAsideAs } = await copy();
  expect(tables).toContainEqual(expect.objectContaining({ table: "requests", rows: REQUESTS }));
  expect(existsSync(file())).toBe(false);
  expect(await checkDatabase(location(), { from: setAsideAs, to: "TARGET" })).toMatchObject({
    tables,
    problems: [],
  });
  await expect(checkDatabase(location(), { to: "TARGET" })).rejects.toThrow(
    "there is nothing to compare; name the earlier file with --from",
  );
  const { store: target, dapps } = await openDapps(openDataDirectory(dataDir, { exclusive: false }), {
    server: { url: environment.TARGET, variable: "TARGET" },
  });
  store = target;
  const [dapp] = await dapps.list();
  expect(dapp).toMatchObject({ name: "Ünïcödé 🎲" });
  expect(await findRequest(target.db, makeRequest("7").id)).toEqual(
    makeRequest("7", { dappId: dapp!.id, idempotencyKey: "key-7", createdAt: 2 ** 42 + 7 }),
  );
  // New rows continue the numbering of the copied ones.
  await appendRoundRecords(target, [{ ...ROUND, record: "second" }]);
  expect(await listRoundRecords(target.db, ROUND)).toEqual(["first", "second"]);
});

test("a copy that ended before the file was moved away is repeated; one that the file has outgrown is refused", async () => {
  const { setAsideAs, tables } = await copy();
  const again = await openStore(createSqliteDialect(setAsideAs), { file: setAsideAs });
  await sql`VACUUM INTO ${sql.lit(file())}`.execute(again.db);
  await again.close();
  expect((await copy()).tables).toEqual(tables);
  const [second] = readdirSync(dataDir)
    .filter((name) => name.startsWith("tyche.sqlite.set-aside"))
    .toReversed();
  const source = await openStore(createSqliteDialect(path.join(dataDir, second!)));
  await sql`VACUUM INTO ${sql.lit(file())}`.execute(source.db);
  await source.close();
  await changeFile("UPDATE transactions SET state = 'mined'");
  await expect(copy()).rejects.toThrow(
    "the target holds other rows already, in transactions; name an empty database",
  );
  expect(existsSync(file())).toBe(true);
});

test("the check finds what differs, and a row that is not what was written", async () => {
  await openTarget();
  await expect(checkDatabase(location(), { to: "TARGET" })).resolves.toMatchObject({
    problems: expect.arrayContaining([
      "the database that TARGET names holds different rows in requests",
    ]) as string[],
  });
  await changeFile("UPDATE transactions SET nonce = 8");
  const { problems } = await checkDatabase(location());
  expect(problems).toEqual([expect.stringContaining("transaction 0x1 in the database is damaged")]);
});

test("the check finds triggers, views and tables of others, in the file and on PostgreSQL", async () => {
  await copy();
  const target = await openTarget();
  expect((await checkDatabase(location())).problems).toEqual([]);
  await sql`CREATE VIEW shown AS SELECT id FROM dapps`.execute(target.db);
  await sql`CREATE FUNCTION gift() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`.execute(
    target.db,
  );
  await sql`CREATE TRIGGER gift BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION gift()`.execute(
    target.db,
  );
  expect((await checkDatabase(location())).problems).toEqual([
    'it has a trigger "gift" that is not this service\'s; drop it',
    'it has a view "shown" that is not this service\'s; drop it',
  ]);
  const [setAside] = readdirSync(dataDir).filter((name) => name.startsWith("tyche.sqlite.set-aside"));
  const from = path.join(dataDir, setAside!);
  const source = await openStore(createSqliteDialect(from), { file: from });
  await sql`CREATE TABLE other (id TEXT)`.execute(source.db);
  await source.close();
  expect((await checkDatabase(location(), { from, to: "TARGET" })).problems).toEqual([
    'it has a table "other" that is not this service\'s; drop it',
    expect.stringMatching(/^the database that TARGET names: it has a trigger "gift"/),
    expect.stringMatching(/^the database that TARGET names: it has a view "shown"/),
  ]);
});

test("a compacted database is smaller and whole; one of PostgreSQL says how that is done there", async () => {
  await changeFile("DELETE FROM requests WHERE rowid % 10 > 0");
  const { tables } = await checkDatabase(location());
  const { before, after } = await compactDatabase(location());
  expect(after).toBeLessThan(before / 2);
  expect(await checkDatabase(location())).toMatchObject({ tables, problems: [] });
  const directory = openDataDirectory(dataDir, { exclusive: true });
  await expect(compactDatabase(location())).rejects.toMatchObject({ code: "data_dir_unusable" });
  directory.close();
  await copy();
  await expect(compactDatabase(location())).rejects.toThrow('psql "$TARGET" -c "VACUUM FULL"');
});

test("another program's tables, and tables of a stranger, are left as they are", async () => {
  await withClient(environment.TARGET, (client) => client.query("CREATE TABLE customers (id int)"));
  await expect(copy()).rejects.toMatchObject({
    code: "copy_failed",
    message: expect.stringContaining("another program"),
  });
  await withClient(environment.TARGET, async (client) => {
    const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    expect(rows).toEqual([{ tablename: "customers" }]);
  });
});

test("the database of embedded chains stays beside them", async () => {
  mkdirSync(path.join(dataDir, "chains", "sepolia"), { recursive: true });
  writeFileSync(path.join(dataDir, "chains", "sepolia", "state.json"), "{}");
  await expect(copy()).rejects.toMatchObject({
    code: "copy_failed",
    message: expect.stringMatching(/ has embedded chains \(sepolia\), which need the database beside them; /),
  });
  expect(existsSync(file())).toBe(true);
});

test("nothing is copied while a process serves from either database", async () => {
  const directory = openDataDirectory(dataDir, { exclusive: true });
  await expect(copy()).rejects.toMatchObject({ code: "data_dir_unusable" });
  directory.close();
  const unlock = await lockPostgres(environment.TARGET, { onLost: () => {} });
  try {
    await expect(copyDatabase(location(), { to: "TARGET", waitMs: 0 })).rejects.toThrow(
      "another process serves",
    );
  } finally {
    await unlock();
  }
  expect(existsSync(file())).toBe(true);
});

test.each([
  ["NOT_SET", "NOT_SET, which should hold the URL of the database, is not set"],
  ["postgres://user:secret@host/db", "--to takes the name of the variable that holds the URL"],
])("%s names no target", async (to, message) => {
  const failure = await copyDatabase(location(), { to }).catch((error: Error) => error.message);
  expect(failure).toContain(message);
  expect(failure).not.toContain("secret");
});
