import fs, { appendFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBlockLog, readBlockLog as readLog } from "../../../../src/networks/embedded/storage/blockLog.ts";
import type { LoggedBlock } from "../../../../src/networks/embedded/storage/blockLog.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const block = (number: number): LoggedBlock => ({
  number,
  hash: `0x${number.toString(16).padStart(64, "0")}`,
  timestamp: 1_700_000_000 + number,
  transactions: ["0x01", "0x02"],
});

/** Reads the blocks of an undamaged log. */
const readBlockLog = (folder: string, after: number) => {
  const { blocks, damage } = readLog(folder, after);
  expect(damage).toBeUndefined();
  return blocks;
};

test("what was written is read, after any block", () => {
  const log = openBlockLog(folder, 4);
  for (const number of [5, 6, 7]) log.append(block(number));
  log.close();
  expect(readBlockLog(folder, 4)).toEqual([block(5), block(6), block(7)]);
  expect(readBlockLog(folder, 6)).toEqual([block(7)]);
  expect(readBlockLog(folder, 7)).toEqual([]);
});

test("a new file begins after a stored state, and those from before the state before it go", () => {
  const log = openBlockLog(folder, 0);
  log.append(block(1));
  log.startAfter(1);
  log.append(block(2));
  log.close();
  expect(readBlockLog(folder, 1)).toEqual([block(2)]);
  // The blocks after the previous stored state are there, too.
  expect(readBlockLog(folder, 0)).toEqual([block(1), block(2)]);
  const next = openBlockLog(folder, 2, 1);
  next.startAfter(2);
  next.close();
  expect(readdirSync(folder)).toEqual(["blocks-2.log", "blocks-3.log"]);
});

test("blocks that somebody took back before the state was stored do not come again", () => {
  const log = openBlockLog(folder, 4);
  for (const number of [5, 6, 7]) log.append(block(number));
  for (const stored of [4, 3, 4]) {
    log.startAfter(stored);
    expect(readBlockLog(folder, stored)).toEqual([]);
    log.append(block(stored + 1));
    expect(readBlockLog(folder, stored)).toEqual([block(stored + 1)]);
  }
  log.close();
});

test("blocks that were taken back are none, and others may follow", () => {
  const log = openBlockLog(folder, 4);
  for (const number of [5, 6, 7]) log.append(block(number));
  log.cutAfter(5);
  expect(readBlockLog(folder, 4)).toEqual([block(5)]);
  const other = { ...block(6), timestamp: 7 };
  log.append(other);
  log.close();
  expect(readBlockLog(folder, 4)).toEqual([block(5), other]);
});

test("a torn last line is left out", () => {
  const log = openBlockLog(folder, 0);
  for (const number of [1, 2]) log.append(block(number));
  log.close();
  appendFileSync(path.join(folder, "blocks-1.log"), '{"number":3,"ha');
  expect(readBlockLog(folder, 0)).toEqual([block(1), block(2)]);
});

test("refuses a block of which a full disk takes only a part, and takes it once there is room", () => {
  const log = openBlockLog(folder, 0);
  log.append(block(1));
  const { writeSync } = fs;
  fs.writeSync = ((file: number, line: Uint8Array) =>
    writeSync(file, line.subarray(0, 20))) as typeof writeSync;
  syncBuiltinESMExports();
  expect(() => log.append(block(2))).toThrow("only 20 of");
  fs.writeSync = writeSync;
  syncBuiltinESMExports();
  for (const number of [2, 3]) log.append(block(number));
  log.close();
  expect(readBlockLog(folder, 0)).toEqual([block(1), block(2), block(3)]);
});

test("what follows a gap is left out, and the gap is told", () => {
  const log = openBlockLog(folder, 0);
  for (const number of [1, 2, 4]) log.append(block(number));
  log.close();
  const file = path.join(folder, "blocks-1.log");
  expect(readLog(folder, 0)).toEqual({
    blocks: [block(1), block(2)],
    damage: { file, problem: "block 3 is missing" },
  });
});

test.each([2, 3, 5])("a byte flipped in block %i is found, and told until a start went on without", (bad) => {
  const log = openBlockLog(folder, 0);
  for (const number of [1, 2, 3, 4, 5]) log.append(block(number));
  log.close();
  const file = path.join(folder, "blocks-1.log");
  const bytes = readFileSync(file);
  bytes[bytes.indexOf(`{"number":${bad}`) + 30]! ^= 1;
  writeFileSync(file, bytes);
  const whole = Array.from({ length: bad - 1 }, (_, i) => block(i + 1));
  expect(readLog(folder, 0)).toEqual({
    blocks: whole,
    damage: { file, problem: `line ${bad} is damaged` },
  });
  const other = { ...block(bad), timestamp: 7 };
  const next = openBlockLog(folder, bad - 1, 0);
  next.append(other);
  next.close();
  expect(readBlockLog(folder, 0)).toEqual([...whole, other]);
});

test("lines from before there were checksums are read", () => {
  writeFileSync(path.join(folder, "blocks-1.log"), `${JSON.stringify(block(1))}\n`);
  expect(readBlockLog(folder, 0)).toEqual([block(1)]);
});

test.each([1, 0])("half a line after %i whole ones harms none that follow", (whole) => {
  const first = openBlockLog(folder, 0);
  for (let number = 1; number <= whole; number += 1) first.append(block(number));
  first.close();
  appendFileSync(path.join(folder, "blocks-1.log"), '{"number":2,"ha');
  const second = openBlockLog(folder, whole);
  second.append(block(whole + 1));
  second.append(block(whole + 2));
  second.close();
  expect(readBlockLog(folder, 0).map(({ number }) => number)).toEqual(
    Array.from({ length: whole + 2 }, (_, i) => i + 1),
  );
});
