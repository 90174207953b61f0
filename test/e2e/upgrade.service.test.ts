import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDataDir, removeDataDir, startTycheProcess } from "../support/tyche.ts";
import type { TycheProcess } from "../support/tyche.ts";

/** The data directory of commit `f0f5211` with one network, after four calls: keys `one` and `two` for a range, `three` for words, `four` for a function. */
const FIRST = path.join(import.meta.dirname, "dataDirectories", "2026-11.tar.gz");

let dataDir: string;
let tyche: TycheProcess;
beforeEach(async () => {
  dataDir = makeDataDir();
  execFileSync("tar", ["-xzf", FIRST, "-C", dataDir, "--no-same-owner"]);
  writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify({ networks: { fuji: "embedded" } }));
  tyche = await startTycheProcess({ dataDir });
});
afterEach(async () => {
  await tyche.stop("SIGKILL");
  removeDataDir(dataDir);
});

const range = (key: string) =>
  tyche.call("POST", "/api/vrfv2/presets?network=fuji&preset=range", {
    body: {},
    headers: { "idempotency-key": key },
  });

test("the start says from which migration to which it brought the database, the next one nothing", async () => {
  const migrated = /✓ the database was migrated from \d{4}_\w+ to \d{4}_\w+ in \d+\.\d\d s/;
  expect(tyche.output()).toMatch(migrated);
  await tyche.stop();
  tyche = await startTycheProcess({ dataDir });
  expect(tyche.output()).not.toContain("was migrated");
});

test("a data directory of the first version opens, answers repeated calls from it, and goes on", async () => {
  expect(tyche.output()).toContain("held a chain with contracts of an earlier version of Tyche");
  expect((await range("one")).data).toMatchObject({
    success: true,
    parsedResult: "7",
    requestId: "0x75c1656ce9a6d0b8f92b6e6e406e1f3930a6f263df6bd664f9d6ac48935f2f98",
  });
  expect((await range("two")).data).toMatchObject({ success: true, parsedResult: "1" });
  const { items } = (await tyche.call("GET", "/api/requests")).data;
  expect(items.map(({ kind, state }: { kind: string; state: string }) => `${kind} ${state}`)).toEqual([
    "function fulfilled",
    "random fulfilled",
    "preset fulfilled",
    "preset fulfilled",
  ]);
  const usage = (await tyche.call("GET", "/api/usage?from=2026-01-01&to=2026-12-31")).data.items;
  expect(
    usage.map(({ requests, fulfilled }: { requests: object; fulfilled: number }) => ({
      ...requests,
      fulfilled,
    })),
  ).toEqual([{ preset: 2, function: 1, random: 1, consumer: 0, unlink: 0, fulfilled: 4 }]);
  expect(usage[0]).toMatchObject({ network: "fuji", linkJuels: "0", gasUsed: "0" });
  expect((await range("five")).data).toMatchObject({ success: true, err: "0x" });
});
