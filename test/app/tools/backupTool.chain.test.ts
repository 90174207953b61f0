import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backUp, restore } from "../../../src/app/tools/backupTool.ts";
import { noteBackup, readLastBackup } from "../../../src/store/backupNote.ts";
import { openDataDirectory } from "../../../src/store/dataDirectory.ts";
import { createSqliteDialect } from "../../../src/store/sqliteDialect.ts";
import { saveKeyFingerprint } from "../../../src/store/dapps.ts";
import { fingerprintOf } from "../../../src/store/masterKey.ts";
import { openStore } from "../../../src/store/store.ts";

let folder: string;
let dataDir: string;
let backup: string;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-restore-"));
  [dataDir, backup] = [path.join(folder, "data"), path.join(folder, "backup.tar.gz")];
  const directory = openDataDirectory(dataDir, { exclusive: true });
  const file = directory.file("tyche.sqlite");
  const store = await openStore(createSqliteDialect(file), { file });
  await store.write((db) => saveKeyFingerprint(db, fingerprintOf(directory.masterKey)));
  await store.close();
  directory.close();
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Writes a file of a chain's folder. */
function writeChain(name: string, file: string, text: string): void {
  mkdirSync(path.join(dataDir, "chains", name), { recursive: true });
  writeFileSync(path.join(dataDir, "chains", name, file), text);
}
const readChain = (name: string, file: string): string =>
  readFileSync(path.join(dataDir, "chains", name, file), "utf8");

test("a backup holds chains and configuration, and a restore replaces the chains, but no configuration", async () => {
  writeChain("fuji", "state.json", "early");
  writeChain("fuji", "blocks-1.log", "early");
  writeChain("fuji", "anvil.pid", "1");
  writeChain("fuji.set-aside-20260101T000000", "state.json", "older");
  mkdirSync(path.join(dataDir, "chains", "amoy")); // never started
  writeFileSync(path.join(dataDir, "tyche.json"), "early");
  expect(await backUp(backup, { dataDir })).toMatchObject({
    file: backup,
    chains: ["fuji"],
    masterKeyFile: path.join(dataDir, "master-key"),
    deleted: [],
  });
  expect(readdirSync(folder).toSorted()).toEqual(["backup.tar.gz", "data"]);
  writeChain("fuji", "state.json", "late");
  writeChain("sepolia", "state.json", "late");
  writeFileSync(path.join(dataDir, "tyche.json"), "late");
  const { setAside, ...restored } = await restore(backup, { dataDir });
  expect(restored).toMatchObject({ chains: ["fuji"], keptChains: [] });
  expect(setAside.map((file) => path.basename(file).replace(/-\d+T\d+$/, ""))).toEqual([
    "tyche.sqlite.set-aside",
    "fuji.set-aside",
    "sepolia.set-aside",
  ]);
  expect(readFileSync(path.join(setAside[1]!, "state.json"), "utf8")).toBe("late");
  expect([readChain("fuji", "state.json"), readChain("fuji", "blocks-1.log")]).toEqual(["early", "early"]);
  expect(existsSync(path.join(dataDir, "chains", "fuji", "anvil.pid"))).toBe(false);
  expect(existsSync(path.join(dataDir, "chains", "sepolia"))).toBe(false);
  expect(readFileSync(path.join(dataDir, "tyche.json"), "utf8")).toBe("late");
  rmSync(path.join(dataDir, "tyche.json"));
  await restore(backup, { dataDir });
  expect(readFileSync(path.join(dataDir, "tyche.json"), "utf8")).toBe("early");
});

test("a backup is noted in the data directory, and one that fails is not", async () => {
  const made = Math.floor(statSync(dataDir).birthtimeMs / 1_000);
  expect(readLastBackup(dataDir)).toBe(made);
  noteBackup(dataDir, new Date(86_400_000));
  expect(readLastBackup(dataDir)).toBe(86_400);
  await backUp(backup, { dataDir });
  expect(readLastBackup(dataDir)).toBeGreaterThanOrEqual(made);
  noteBackup(dataDir, new Date(86_400_000));
  await expect(backUp(backup, { dataDir })).rejects.toThrow("is there already");
  expect(readLastBackup(dataDir)).toBe(86_400);
});

test("a backup in a folder is named for the time, and deletes what is older than those to keep", async () => {
  const target = path.join(folder, "backups");
  await expect(backUp(target, { dataDir, keep: 2 })).rejects.toThrow("is none; name a folder");
  const first = await backUp(`${target}/`, { dataDir });
  expect(readdirSync(target)).toEqual([path.basename(first.file)]);
  rmSync(first.file);
  const names = ["tyche-20250101T000000Z.tar.gz", "tyche-20260101T000000Z.tar.gz", "mine.tar.gz"];
  for (const name of names) writeFileSync(path.join(target, name), "");
  const { file, deleted } = await backUp(target, { dataDir, keep: 2 });
  expect(path.basename(file)).toMatch(/^tyche-\d{8}T\d{6}Z\.tar\.gz$/);
  expect(deleted).toEqual([path.join(target, names[0]!)]);
  expect(new Set(readdirSync(target))).toEqual(new Set([names[1], names[2], path.basename(file)]));
});

test("a restore of a database alone names the embedded chains, which may be newer than it", async () => {
  copyFileSync(path.join(dataDir, "tyche.sqlite"), backup);
  writeChain("fuji", "state.json", "late");
  expect(await restore(backup, { dataDir })).toMatchObject({ chains: [], keptChains: ["fuji"] });
  expect(readChain("fuji", "state.json")).toBe("late");
});

test("what is no backup, is cut short, or belongs to another master key changes nothing", async () => {
  writeChain("fuji", "state.json", "now");
  await backUp(backup, { dataDir });
  const whole = readFileSync(backup);
  const key = readFileSync(path.join(dataDir, "master-key"));
  const before = readFileSync(path.join(dataDir, "tyche.sqlite"));
  const refuse = async (reason: RegExp | string): Promise<void> => {
    await expect(restore(backup, { dataDir })).rejects.toThrow(reason);
    expect(readFileSync(path.join(dataDir, "tyche.sqlite"))).toEqual(before);
    expect(readChain("fuji", "state.json")).toBe("now");
    expect(readdirSync(dataDir)).not.toContain(".restore.new");
  };
  writeFileSync(path.join(dataDir, "master-key"), "5c".repeat(32));
  await refuse("the master key of");
  writeFileSync(path.join(dataDir, "master-key"), key);
  writeFileSync(backup, whole.subarray(0, whole.length / 2));
  await refuse("is no backup, or is damaged");
  writeFileSync(backup, "text");
  await refuse("is no backup, or is damaged");
  const content = path.join(folder, "content");
  mkdirSync(path.join(content, "chains", "fuji"), { recursive: true });
  writeFileSync(path.join(content, "chains", "fuji", "other"), "");
  execFileSync("tar", ["-czf", backup, "-C", content, "."]);
  await refuse("is no backup of Tyche: it holds chains/fuji/other");
  rmSync(path.join(content, "chains"), { recursive: true });
  execFileSync("tar", ["-czf", backup, "-C", content, "."]);
  await refuse("there is no file");
  rmSync(backup);
  await refuse(`there is no file ${backup}`);
});

test("a backup that is there already is left alone", async () => {
  writeFileSync(backup, "mine");
  await expect(backUp(backup, { dataDir })).rejects.toThrow(`${backup} is there already; name a new file`);
  expect(readFileSync(backup, "utf8")).toBe("mine");
});
