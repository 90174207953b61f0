import {
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkDatabaseFile } from "../../src/lib/databaseCheck.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tyche-test-"));
  file = join(folder, "db");
  const database = new DatabaseSync(file);
  database.exec("CREATE TABLE t (a); CREATE INDEX i ON t (a); BEGIN");
  const insert = database.prepare("INSERT INTO t VALUES (?)");
  for (let i = 0; i < 500; i += 1) insert.run(`${i} `.repeat(50));
  database.exec("COMMIT");
  database.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

const problems = (): string[] => {
  const found: string[] = [];
  checkDatabaseFile(file, (problem) => found.push(problem));
  return found;
};

test("a whole database, and one that isn't there, have no damage", () => {
  expect(problems()).toEqual([]);
  rmSync(file);
  expect(problems()).toEqual([]);
});

test.each([
  ["cut in half", () => truncateSync(file, Math.floor(readFileSync(file).length / 8192) * 4096)],
  ["cut within its header", () => truncateSync(file, 50)],
  ["another program's", () => writeFileSync(file, "text ".repeat(1_000))],
  [
    "one byte flipped in a page's header",
    () => {
      const at = 4096 * 3;
      const descriptor = openSync(file, "r+");
      writeSync(descriptor, Buffer.from([readFileSync(file)[at]! ^ 0xff]), 0, 1, at);
      closeSync(descriptor);
    },
  ],
])("%s", (_, damage) => {
  damage();
  expect(problems()).toHaveLength(1);
});
