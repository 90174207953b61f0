import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { insertDapp } from "../../src/store/dapps.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { type DatabaseFlushes, type DatabaseImage, watchDatabaseFlushes } from "../support/flushes.ts";

let folder: string;
let file: string;
let store: Store;
let disk: DatabaseFlushes;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-store-"));
  file = path.join(folder, "db");
  store = await openStore(createSqliteDialect(file), { file });
  disk = watchDatabaseFlushes(file);
});
afterEach(async () => {
  disk.restore();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Stores one dapp; returns what a power cut would leave as soon as the write counts as done. */
const writeOne = async (id: string): Promise<DatabaseImage | undefined> => {
  await store.write((db) => insertDapp(db, { id, name: id, facilities: [], createdAt: 1 }));
  return disk.image();
};

/** Opens what a power cut left; returns the ids of the dapps in it. */
const readAfter = (image: DatabaseImage | undefined): unknown[] => {
  if (image === undefined) return [];
  const left = path.join(folder, "left");
  rmSync(`${left}-shm`, { force: true });
  writeFileSync(left, image.database);
  writeFileSync(`${left}-wal`, image.wal);
  const database = new DatabaseSync(left);
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  const ids = database.prepare("SELECT id FROM dapps").all();
  database.close();
  return ids.map(({ id }) => id);
};

test("a power cut takes no write that has resolved", async () => {
  for (const id of ["a", "b", "c"]) expect(readAfter(await writeOne(id))).toContain(id);
});

test("a write that is committed while a flush runs waits for the next one", async () => {
  const ids = Array.from({ length: 60 }, (_, i) => `dapp_${i}`);
  const images = await Promise.all(ids.map(writeOne));
  // Fewer flushes than writes: they are shared.
  expect(new Set(images).size).toBeLessThan(ids.length);
  for (const [i, id] of ids.entries()) expect(readAfter(images[i])).toContain(id);
});

test("a log that begins anew after a checkpoint loses nothing, either", async () => {
  await sql`PRAGMA wal_autocheckpoint = 4`.execute(store.db);
  for (let i = 0; i < 30; i += 1) {
    const ids = [`one_${i}`, `two_${i}`];
    const images = await Promise.all(ids.map(writeOne));
    for (const [n, id] of ids.entries()) expect(readAfter(images[n])).toContain(id);
  }
});
