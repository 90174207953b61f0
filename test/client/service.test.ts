import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTycheProcess, type TycheProcess } from "../support/tyche.ts";
import { runJourney } from "./journey.ts";

const EXPECTED = {
  range: true,
  words: 2,
  doubled: "42",
  console: "here",
  states: ["received", "submitted", "randomness", "executing", "fulfilled"],
  isSame: true,
  stored: "fulfilled",
  pages: [true, "preset"],
  isOnce: true,
  verdict: "valid",
  refused: "/numWords",
  missing: true,
  presets: ["coinflip", "lotto", "nDice", "range"],
  serving: true,
};

let tyche: TycheProcess;
beforeAll(async () => {
  tyche = await startTycheProcess();
});
afterAll(async () => {
  await tyche.stop();
});

test("default: Node calls, waits, streams, pages and verifies", async () => {
  const found = await runJourney(tyche.url, tyche.apiKey);
  expect({ ...found, states: found.states.filter((state) => state !== "checking") }).toEqual(EXPECTED);
});

test("default: Deno does the same", async () => {
  const home = mkdtempSync(path.join(tmpdir(), "tyche-deno-"));
  try {
    const script = path.join(import.meta.dirname, "runJourney.ts");
    const deno = path.resolve(import.meta.dirname, "../../node_modules/.bin/deno");
    const { stdout } = await promisify(execFile)(
      deno,
      ["run", "--no-config", "--no-lock", "--allow-net=127.0.0.1", script, `${tyche.url}/`, tyche.apiKey],
      { cwd: home, env: { PATH: process.env["PATH"], HOME: home, DENO_NO_UPDATE_CHECK: "1" } },
    );
    const found = JSON.parse(stdout) as typeof EXPECTED;
    expect({ ...found, states: found.states.filter((state) => state !== "checking") }).toEqual(EXPECTED);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
