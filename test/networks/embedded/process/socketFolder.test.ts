import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openSocketFolder } from "../../../../src/networks/embedded/process/socketFolder.ts";

let data: string;
let chain: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "socket-folder-test-"));
  chain = join(data, "sepolia");
  mkdirSync(chain);
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

test("a folder that goes when the chain closes, and leaves no note", () => {
  const { path, remove } = openSocketFolder(chain);
  expect(existsSync(path)).toBe(true);
  remove();
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(data)).toEqual(["sepolia"]);
});

test("what a killed process left is removed by the next start", () => {
  const killed = openSocketFolder(chain);
  const next = openSocketFolder(chain);
  expect(existsSync(killed.path)).toBe(false);
  expect(existsSync(next.path)).toBe(true);
  next.remove();
});

test("a note that names anything else is not followed", () => {
  const foreign = join(chain, "tyche-abcdef");
  for (const noted of [foreign, tmpdir(), `${tmpdir()}/tyche-abcdef/../..`, `${tmpdir()}/other`]) {
    mkdirSync(foreign, { recursive: true });
    writeFileSync(`${chain}.socket`, `${noted}\n`);
    openSocketFolder(chain).remove();
    expect(existsSync(foreign)).toBe(true);
    expect(existsSync(tmpdir())).toBe(true);
  }
});

test("a temporary folder that takes no folder is told with its remedy", () => {
  const file = join(data, "no-folder");
  writeFileSync(file, "");
  vi.stubEnv("TMPDIR", file);
  try {
    expect(() => openSocketFolder(chain)).toThrow(
      `no folder can be created in the temporary folder ${file} (ENOTDIR: not a directory, mkdtemp '${file}/tyche-XXXXXX'); make room there, or name another one in TMPDIR`,
    );
  } finally {
    vi.unstubAllEnvs();
  }
});

test("a temporary folder whose path is too long for a socket is told with the variable that names it", () => {
  const long = join(data, "x".repeat(100));
  mkdirSync(long);
  vi.stubEnv("TMPDIR", long);
  try {
    expect(() => openSocketFolder(chain)).toThrow(
      `the temporary folder ${long} has too long a path for a chain's socket: the socket's path would have ${Buffer.byteLength(long) + 17} bytes`,
    );
    expect(() => openSocketFolder(chain)).toThrow("name a shorter one in TMPDIR");
    expect(readdirSync(long)).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
  }
});
