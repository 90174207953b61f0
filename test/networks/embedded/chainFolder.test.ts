import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { AnvilState } from "../../../src/networks/embedded/storage/anvilState.ts";
import { openBlockLog } from "../../../src/networks/embedded/storage/blockLog.ts";
import { prepareChainFolder } from "../../../src/networks/embedded/chain.ts";
import { openHistory } from "../../../src/networks/embedded/storage/history.ts";
import {
  findStateDamage,
  replaceState,
  writeState,
} from "../../../src/networks/embedded/storage/stateFile.ts";

let root: string;
let whole: string;
let folder: string;
let run = 0;

const stateOf = (block: number): AnvilState => ({
  block: null,
  accounts: {},
  best_block_number: block,
  blocks: [],
  transactions: [],
  historical_states: null,
});

beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
  whole = path.join(root, "whole");
  mkdirSync(whole);
  const stateFile = path.join(whole, "state.json");
  for (const block of [1, 2]) {
    writeState(`${stateFile}.next`, stateOf(block));
    replaceState(`${stateFile}.next`, stateFile);
  }
  openBlockLog(whole, 2).close();
  openHistory(path.join(whole, "history.sqlite")).close();
});
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  folder = path.join(root, String((run += 1)), "fuji");
  cpSync(whole, folder, { recursive: true });
});

const inFolder = (name: string): string => path.join(folder, name);
/** Returns the contents of everything in the folder and beside it: nothing may be missing afterwards. */
const contents = (): string[] =>
  readdirSync(path.dirname(folder), { recursive: true, encoding: "utf8" })
    .map((name) => path.join(path.dirname(folder), name))
    .filter((name) => statSync(name).isFile())
    .map((name) => readFileSync(name, "hex"));
const DAMAGES: Record<string, (file: string) => void> = {
  truncated: (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  emptied: (file) => truncateSync(file, 0),
  "flipped by one byte": (file) => {
    const bytes = readFileSync(file);
    bytes[20]! ^= 1;
    writeFileSync(file, bytes);
  },
  removed: (file) => rmSync(file),
  "replaced by a folder": (file) => {
    rmSync(file);
    mkdirSync(file);
    writeFileSync(path.join(file, "own"), "own");
  },
};
const damages = Object.keys(DAMAGES);

test("a whole folder is left as it is", () => {
  const before = contents();
  expect(prepareChainFolder(folder, true)).toEqual({ hasState: true, findings: [] });
  expect(contents()).toEqual(before);
});

test.each(damages)("state.json %s, and the one before takes its place", (damage) => {
  DAMAGES[damage]!(inFolder("state.json"));
  const before = contents();
  const { hasState, findings } = prepareChainFolder(folder, true);
  expect({ hasState, findings }).toEqual({
    hasState: true,
    findings: [expect.stringMatching(/state\.json could not be used .*rebuilt from the state before/)],
  });
  expect(findStateDamage(inFolder("state.json"))).toBeUndefined();
  expect(JSON.parse(readFileSync(inFolder("state.json"), "utf8"))).toMatchObject({ best_block_number: 1 });
  expect(contents()).toEqual(expect.arrayContaining(before));
  expect(prepareChainFolder(folder, true)).toEqual({ hasState: true, findings: [] });
});

test.each(damages)("both states %s, and the whole folder is set aside", (damage) => {
  for (const name of ["state.json", "state.previous.json"]) DAMAGES[damage]!(inFolder(name));
  const before = contents();
  const { hasState, findings } = prepareChainFolder(folder, true);
  expect({ hasState, findings }).toEqual({
    hasState: false,
    findings: [expect.stringMatching(/the chain is lost, a new one has begun.*backup/)],
  });
  expect(readdirSync(folder)).toEqual([]);
  expect(contents()).toEqual(before);
});

test.each(damages)("history.sqlite %s, and the chain goes on with a new one", (damage) => {
  DAMAGES[damage]!(inFolder("history.sqlite"));
  const before = contents();
  const { hasState, findings } = prepareChainFolder(folder, true);
  expect({ hasState, findings }).toEqual({
    hasState: true,
    findings: [expect.stringMatching(/history\.sqlite .*older blocks can no longer be looked up/)],
  });
  expect(existsSync(inFolder("history.sqlite"))).toBe(false);
  expect(contents()).toEqual(before);
});

test.each(["anvil.pid", "blocks-3.log"])("%s replaced by a folder", (name) => {
  writeFileSync(inFolder(name), "x");
  DAMAGES["replaced by a folder"]!(inFolder(name));
  const before = contents();
  expect(prepareChainFolder(folder, true)).toMatchObject({ hasState: true, findings: [expect.any(String)] });
  expect(contents()).toEqual(before);
});

test.each(["removed", "replaced by a file"])("the whole folder %s", (damage) => {
  rmSync(folder, { recursive: true });
  if (damage === "replaced by a file") writeFileSync(folder, "own");
  const before = contents();
  expect(prepareChainFolder(folder, true)).toMatchObject({ hasState: false });
  expect(readdirSync(folder)).toEqual([]);
  expect(contents()).toEqual(before);
});

test("a chain that the database does not know is set aside", () => {
  const before = contents();
  expect(prepareChainFolder(folder, false)).toEqual({
    hasState: false,
    findings: [expect.stringContaining("held a chain that the database does not know")],
  });
  expect(contents()).toEqual(before);
  expect(prepareChainFolder(folder, false)).toEqual({ hasState: false, findings: [] });
});

test("what can't be read is named, with the remedy", () => {
  rmSync(path.dirname(folder), { recursive: true });
  writeFileSync(path.dirname(folder), "");
  expect(() => prepareChainFolder(folder, true)).toThrow(/can't be used \(ENOTDIR.*start the service again/);
});
