import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { createVisitor } from "../web/support/visitor.ts";
import { runJourney } from "./journey.ts";

const EXPECTED = {
  range: true,
  words: 2,
  doubled: "42",
  console: "here",
  states: ["received", "submitted", "randomness", "fulfilled"],
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

let browser: Browser;
let tyche: SharedDapp;
shared.beforeAll(async ({ browser: chromium, service }) => {
  browser = chromium;
  tyche = await joinService(service);
});

test("Node calls, waits, streams, pages and verifies", async () => {
  const found = await runJourney(tyche.url, tyche.apiKey);
  expect({ ...found, states: found.states.filter((state) => state !== "checking") }).toEqual(EXPECTED);
});

test("Deno does the same", async () => {
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

test("a page of another site does the same", async () => {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, "journey.ts")],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "journey",
  });
  const site = createServer((_request, response) =>
    response
      .setHeader("Content-Type", "text/html")
      .end("<!doctype html><title>A dapp</title><h1>A dapp</h1>"),
  );
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void site.close());
  const visitor = await createVisitor(browser);
  onTestFinished(() => visitor.close());
  await visitor.open(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  await visitor.page.addScriptTag({ content: outputFiles[0]!.text });
  const call = `journey.runJourney(${JSON.stringify(tyche.url)}, ${JSON.stringify(tyche.apiKey)})`;
  const found = await visitor.page.evaluate<typeof EXPECTED>(call);
  expect({ ...found, states: found.states.filter((state) => state !== "checking") }).toEqual(EXPECTED);
  expect(visitor.troubles).toEqual([]);
});
