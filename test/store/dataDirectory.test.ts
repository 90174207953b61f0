import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDataDirectory } from "../../src/store/dataDirectory.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("default: is made for its owner only, and opens again with the same master key", () => {
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

test("behaviour: others may look in beside the one that serves", () => {
  const place = path.join(folder, "shared");
  const serving = openDataDirectory(place, { exclusive: true });
  const beside = openDataDirectory(place, { exclusive: false });
  expect(beside.masterKey).toEqual(serving.masterKey);
  serving.close();
});

test("error: another one serves from it", () => {
  const place = path.join(folder, "taken");
  const serving = openDataDirectory(place, { exclusive: true });
  expect(() => openDataDirectory(place, { exclusive: true })).toThrow(/another process serves from/);
  serving.close();
  openDataDirectory(place, { exclusive: true }).close();
});

test("error: foreign files, and they stay as they are", () => {
  const place = path.join(folder, "foreign");
  mkdirSync(place);
  writeFileSync(path.join(place, "thesis.txt"), "mine");
  expect(() => openDataDirectory(place, { exclusive: true })).toThrow(/holds files that are not Tyche's/);
  expect(readFileSync(path.join(place, "thesis.txt"), "utf8")).toBe("mine");
});

test("error: a file where the folder should be", () => {
  const place = path.join(folder, "file");
  writeFileSync(place, "");
  expect(() => openDataDirectory(place, { exclusive: true })).toThrow(/can't be used as data directory/);
});

test("error: a damaged master key is not replaced", () => {
  const place = path.join(folder, "damaged");
  openDataDirectory(place, { exclusive: true }).close();
  writeFileSync(path.join(place, "master-key"), "abc\n");
  expect(() => openDataDirectory(place, { exclusive: true })).toThrow(/does not hold 64 hex digits/);
  expect(readFileSync(path.join(place, "master-key"), "utf8")).toBe("abc\n");
});
