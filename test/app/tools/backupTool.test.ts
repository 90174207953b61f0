import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backUp, restore } from "../../../src/app/tools/backupTool.ts";
import { openDataDirectory } from "../../../src/store/dataDirectory.ts";
import { createSqliteDialect } from "../../../src/store/sqliteDialect.ts";
import { openStore } from "../../../src/store/store.ts";

let folder: string;
let dataDir: string;
let backup: string;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-restore-"));
  [dataDir, backup] = [path.join(folder, "data"), path.join(folder, "backup")];
  const directory = openDataDirectory(dataDir, { exclusive: true });
  const file = directory.file("tyche.sqlite");
  const store = await openStore(createSqliteDialect(file), { file });
  await store.close();
  directory.close();
  await backUp(backup, { dataDir });
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test("a restore names the embedded chains, which may be newer than the backup, and not those set aside", () => {
  expect(restore(backup, { dataDir }).chains).toEqual([]);
  for (const name of ["fuji", "fuji.set-aside-20260101T000000", "sepolia"]) {
    mkdirSync(path.join(dataDir, "chains", name), { recursive: true });
    writeFileSync(path.join(dataDir, "chains", name, "history.sqlite"), "");
  }
  mkdirSync(path.join(dataDir, "chains", "amoy")); // never started
  expect(restore(backup, { dataDir }).chains).toEqual(["fuji", "sepolia"]);
});
