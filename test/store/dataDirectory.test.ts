import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findOutsideKey, findOutsideToken } from "../../src/lib/outsideSecret.ts";
import { openDataDirectory } from "../../src/store/dataDirectory.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("is made for its owner only, and opens again with the same master key", () => {
  const place = path.join(folder, "new", "deep");
  const first = openDataDirectory(place, { exclusive: true });
  first.writeSecret("api-key", "k\n");
  first.close();
  first.close();
  const second = openDataDirectory(place, { exclusive: true });
  expect(second.masterKey).toEqual(first.masterKey);
  expect(statSync(second.file("master-key")).mode & 0o777).toBe(0o600);
  expect(statSync(second.file("api-key")).mode & 0o777).toBe(0o600);
  expect(readFileSync(second.file("api-key"), "utf8")).toBe("k\n");
  second.close();
});

test("a place where nothing can be created is refused in one sentence", () => {
  const file = path.join(folder, "file");
  writeFileSync(file, "");
  // Node's own recursive mkdir never returns from the first.
  for (const place of ["/proc/none", "/proc/none/deep", path.join(file, "in")])
    expect(() => openDataDirectory(place, { exclusive: true })).toThrow(
      new RegExp(`^${place} can't be used as data directory .*; name another one in TYCHE_DATA_DIR$`),
    );
});

test("others may look in beside the one that serves", () => {
  const place = path.join(folder, "shared");
  const serving = openDataDirectory(place, { exclusive: true });
  const beside = openDataDirectory(place, { exclusive: false });
  expect(beside.masterKey).toEqual(serving.masterKey);
  serving.close();
});

test("another one serves from it", () => {
  const place = path.join(folder, "taken");
  const serving = openDataDirectory(place, { exclusive: true });
  expect(() => openDataDirectory(place, { exclusive: true })).toThrow(/another process serves from/);
  serving.close();
  openDataDirectory(place, { exclusive: true }).close();
});

test("a new folder may hold the configuration and what it names", () => {
  const place = path.join(folder, "configured");
  mkdirSync(path.join(place, "contracts"), { recursive: true });
  writeFileSync(path.join(place, "tyche.json"), "{}");
  openDataDirectory(place, { exclusive: true }).close();
  expect(readFileSync(path.join(place, "tyche.json"), "utf8")).toBe("{}");
});

test("foreign files, and they stay as they are", () => {
  const place = path.join(folder, "foreign");
  mkdirSync(place);
  writeFileSync(path.join(place, "thesis.txt"), "mine");
  expect(() => openDataDirectory(place, { exclusive: true })).toThrow(/holds files that are not Tyche's/);
  expect(readFileSync(path.join(place, "thesis.txt"), "utf8")).toBe("mine");
});

test("a file where the folder should be", () => {
  const place = path.join(folder, "file");
  writeFileSync(place, "");
  expect(() => openDataDirectory(place, { exclusive: true })).toThrow(/can't be used as data directory/);
});

test("a damaged master key is not replaced", () => {
  const place = path.join(folder, "damaged");
  openDataDirectory(place, { exclusive: true }).close();
  writeFileSync(path.join(place, "master-key"), "abc\n");
  expect(() => openDataDirectory(place, { exclusive: true })).toThrow(/does not hold 64 hex digits/);
  expect(readFileSync(path.join(place, "master-key"), "utf8")).toBe("abc\n");
});

test("whatever the permissions were, others may read nothing", () => {
  const place = path.join(folder, "open");
  openDataDirectory(place, { exclusive: true }).close();
  mkdirSync(path.join(place, "chains", "fuji"), { recursive: true });
  for (const name of ["tyche.sqlite", "tyche.sqlite-wal", "api-key", "chains/fuji/state.json"])
    writeFileSync(path.join(place, name), "x");
  const all = readdirSync(place, { recursive: true, encoding: "utf8" }).map((name) => path.join(place, name));
  for (const name of [place, ...all]) chmodSync(name, 0o777);
  openDataDirectory(place, { exclusive: true }).close();
  for (const name of [place, ...all]) {
    const stats = statSync(name);
    expect([name, stats.mode & 0o777]).toEqual([name, stats.isDirectory() ? 0o700 : 0o600]);
  }
});

describe("nothing that is lost is made anew over what needs it", () => {
  const make = (name: string): string => {
    const place = path.join(folder, name);
    openDataDirectory(place, { exclusive: true }).close();
    mkdirSync(path.join(place, "chains", "fuji"), { recursive: true });
    writeFileSync(path.join(place, "chains", "fuji", "state.json"), "{}");
    writeFileSync(path.join(place, "tyche.sqlite"), "x");
    return place;
  };
  /** Until SQLite's first checkpoint, the log alone has the tables. */
  const makeWithoutLog = (file: string): void => {
    const database = new DatabaseSync(file);
    database.exec("PRAGMA journal_mode = WAL");
    database.close();
  };
  const list = (place: string) => new Set(readdirSync(place, { recursive: true, encoding: "utf8" }));

  test.each([
    ["master-key", "missing", /master-key is missing.*TYCHE_MASTER_KEY_FILE/],
    ["tyche.sqlite", "missing", /tyche\.sqlite is missing.*backup/],
    ["tyche.sqlite", "empty", /tyche\.sqlite is empty.*backup/],
    ["tyche.sqlite", "without its log", /tyche\.sqlite is empty.*backup/],
    ["master-key", "empty", /does not hold 64 hex digits/],
    ["master-key", "a folder", /EISDIR/],
  ] as const)("%s %s", (name, damage, sentence) => {
    const place = make(`${name} ${damage}`);
    rmSync(path.join(place, name));
    if (damage === "empty") writeFileSync(path.join(place, name), "");
    if (damage === "without its log") makeWithoutLog(path.join(place, name));
    if (damage === "a folder") mkdirSync(path.join(place, name));
    const before = list(place);
    expect(() => openDataDirectory(place, { exclusive: true })).toThrow(sentence);
    expect(list(place)).toEqual(before);
  });

  test.each(["removed", "a folder"])("the marker %s: made anew, for it holds nothing", (damage) => {
    const place = make(`marker ${damage}`);
    rmSync(path.join(place, "tyche-data"));
    if (damage === "a folder") mkdirSync(path.join(place, "tyche-data"));
    openDataDirectory(place, { exclusive: true }).close();
    expect(readdirSync(place)).toContain("tyche-data");
  });

  test.each(["a folder", "no database"])("the lock is %s: set aside, and locked anew", (damage) => {
    const place = make(`lock ${damage}`);
    rmSync(path.join(place, "lock"));
    if (damage === "a folder") mkdirSync(path.join(place, "lock"));
    else writeFileSync(path.join(place, "lock"), "no database ".repeat(100));
    const first = openDataDirectory(place, { exclusive: true });
    expect(() => openDataDirectory(place, { exclusive: true })).toThrow(/another process serves from/);
    first.close();
    expect(readdirSync(place).filter((name) => name.startsWith("lock.set-aside-"))).toHaveLength(1);
  });
});

describe("a master key outside", () => {
  const text = "ab".repeat(32);

  test("is used, and not written into the directory", () => {
    const place = path.join(folder, "outside");
    const directory = openDataDirectory(place, {
      exclusive: true,
      masterKey: { text: `${text}\n`, from: "f" },
    });
    directory.close();
    expect(Buffer.from(directory.masterKey).toString("hex")).toBe(text);
    expect(readdirSync(place)).not.toContain("master-key");
  });

  test("comes from a variable or a file that the operator names", () => {
    const file = path.join(folder, "key");
    writeFileSync(file, text);
    expect(findOutsideKey({ TYCHE_MASTER_KEY: text })).toEqual({ text, from: "TYCHE_MASTER_KEY" });
    expect(findOutsideKey({ TYCHE_MASTER_KEY_FILE: file })).toEqual({ text, from: file });
    expect(findOutsideKey({ TYCHE_MASTER_KEY: "" })).toBeUndefined();
  });

  test("the operator token comes from a variable or a file, too", () => {
    const file = path.join(folder, "token");
    writeFileSync(file, "t".repeat(32));
    expect(findOutsideToken({})).toBeUndefined();
    expect(findOutsideToken({ TYCHE_OPERATOR_TOKEN: "t" })).toEqual({
      text: "t",
      from: "TYCHE_OPERATOR_TOKEN",
    });
    expect(findOutsideToken({ TYCHE_OPERATOR_TOKEN_FILE: file })).toEqual({
      text: "t".repeat(32),
      from: file,
    });
    const both = { TYCHE_OPERATOR_TOKEN: "secret", TYCHE_OPERATOR_TOKEN_FILE: "x" };
    expect(() => findOutsideToken(both)).toThrow("not both");
    expect(() => findOutsideToken(both)).not.toThrow("secret");
  });

  test("both, a file that isn't there, or no key, and no message has the text", () => {
    expect(() => findOutsideKey({ TYCHE_MASTER_KEY: text, TYCHE_MASTER_KEY_FILE: "x" })).toThrow("not both");
    expect(() => findOutsideKey({ TYCHE_MASTER_KEY_FILE: path.join(folder, "none") })).toThrow(
      "can't be read",
    );
    const open = () =>
      openDataDirectory(path.join(folder, "bad"), {
        exclusive: true,
        masterKey: { text: "secret", from: "TYCHE_MASTER_KEY" },
      });
    expect(open).toThrow(/^TYCHE_MASTER_KEY does not hold 64 hex digits/);
    expect(open).not.toThrow("secret");
  });
});
