import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backupDatabase, readBackup, restoreDatabase } from "../../src/store/backup.ts";
import { insertDapp, listDapps } from "../../src/store/dapps.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";

let folder: string;
let database: string;
let target: string;
let store: Store;
const open = (): Promise<Store> => openStore(createSqliteDialect(database), { file: database });
const addDapp = (id: string): Promise<void> =>
  store.write((db) => insertDapp(db, { id, name: id, facilities: [], createdAt: 1 }));
const namesOf = async (): Promise<string[]> => (await listDapps(store.db)).map(({ name }) => name);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tyche-backup-"));
  [database, target] = [join(folder, "tyche.sqlite"), join(folder, "backup")];
  store = await open();
  await addDapp("early");
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

test("what was stored before the backup comes back, what came after it does not", async () => {
  const { bytes } = await backupDatabase(database, target);
  expect(statSync(target)).toMatchObject({ size: bytes });
  expect(statSync(target).mode & 0o777).toBe(0o600);
  await addDapp("late");
  await store.close();
  const { setAsideAs } = restoreDatabase(target, database);
  store = await open();
  expect(await namesOf()).toEqual(["early"]);
  // Restoring the wrong backup loses nothing.
  await store.close();
  restoreDatabase(setAsideAs!, database);
  store = await open();
  expect(await namesOf()).toEqual(["early", "late"]);
});

test("a backup under writes holds one moment, and stops none of them", async () => {
  const writes = (async () => {
    for (let i = 0; i < 200; i += 1) await addDapp(`dapp_${String(i).padStart(3, "0")}`);
  })();
  await backupDatabase(database, target);
  await writes;
  await store.close();
  restoreDatabase(target, database);
  store = await open();
  const names = (await namesOf()).filter((name) => name !== "early");
  expect(names).toEqual(names.map((_, i) => `dapp_${String(i).padStart(3, "0")}`));
});

test("a log that an earlier database has left is never read into a restored one", async () => {
  await backupDatabase(database, target);
  await addDapp("late");
  // Leaves the log as a crash would.
  const log = readFileSync(`${database}-wal`);
  await store.close();
  writeFileSync(`${database}-wal`, log);
  restoreDatabase(target, database);
  expect(existsSync(`${database}-wal`)).toBe(false);
  store = await open();
  expect(await namesOf()).toEqual(["early"]);
});

test("a file that is there already is left alone", async () => {
  writeFileSync(target, "mine");
  await expect(backupDatabase(database, target)).rejects.toMatchObject({
    code: "backup_failed",
    message: `${target} is there already; name a new file`,
  });
  expect(readFileSync(target, "utf8")).toBe("mine");
});

test("a folder that is not there, and nothing is left behind", async () => {
  await expect(backupDatabase(database, join(folder, "no", "backup"))).rejects.toThrow("can't be written");
  expect(readdirSync(folder).filter((name) => name.startsWith("backup"))).toEqual([]);
});

test("a backup that is cut short, another program's file, a folder, and no file", async () => {
  await backupDatabase(database, target);
  writeFileSync(target, readFileSync(target).subarray(0, 10_000));
  expect(() => readBackup(target)).toThrow("is damaged");
  writeFileSync(target, "text");
  expect(() => readBackup(target)).toThrow(/is damaged|is no backup/);
  expect(() => readBackup(folder)).toThrow("is no backup");
  rmSync(target);
  expect(() => readBackup(target)).toThrow("there is no file");
});

test.each([
  [
    "trigger",
    "CREATE TRIGGER gift AFTER INSERT ON dapps BEGIN UPDATE api_keys SET dapp_id = NEW.id; END",
    "gift",
  ],
  ["view", "CREATE VIEW shown AS SELECT * FROM dapps", "shown"],
  ["table", "CREATE TABLE other (id TEXT)", "other"],
])("a %s of somebody else's is refused by backup and restore", async (type, statement, name) => {
  await sql.raw(statement).execute(store.db);
  const reason = `can't be relied on: it has a ${type} "${name}" that is not this service's; drop it`;
  expect(() => readBackup(database)).toThrow(reason);
  await expect(backupDatabase(database, target)).rejects.toThrow(reason);
  expect(existsSync(target)).toBe(false);
});

test("a newer version's database and backup are refused in one sentence, and left as they are", async () => {
  await sql`INSERT INTO kysely_migration VALUES ('9999_future', '2030-01-01T00:00:00.000Z')`.execute(
    store.db,
  );
  await backupDatabase(database, join(folder, "x")).catch(() => {});
  await store.close();
  const before = readFileSync(database);
  await expect(open()).rejects.toMatchObject({
    code: "store_unusable",
    message: `the database ${database} was made by a newer version of Tyche (9999_future); start that version, or put a backup from before the upgrade back with tyche restore`,
  });
  expect(readFileSync(database)).toEqual(before);
  expect(() => readBackup(database)).toThrow("is a newer version's (9999_future)");
});
