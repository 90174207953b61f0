import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { backupDatabase } from "../../src/store/backup.ts";
import { makeDataDir, removeDataDir, runTyche, startTycheProcess } from "../support/tyche.ts";
import type { Answer, TycheProcess } from "../support/tyche.ts";

let dataDir: string;
let elsewhere: string;
let env: Readonly<Record<string, string>>;
let tyche: TycheProcess;
beforeEach(async () => {
  [dataDir, elsewhere] = [makeDataDir(), makeDataDir()];
  const config = path.join(elsewhere, "tyche.json");
  writeFileSync(config, JSON.stringify({ networks: { fuji: "embedded" } }));
  env = { TYCHE_CONFIG: config, TYCHE_DATA_DIR: dataDir };
  tyche = await startTycheProcess({ dataDir, env });
});
afterEach(async () => {
  await tyche.stop("SIGKILL");
  removeDataDir(dataDir);
  removeDataDir(elsewhere);
});

const send = (key: string) =>
  tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=fuji", {
    headers: { "idempotency-key": key, prefer: "respond-async" },
  });
interface Item {
  readonly id: string;
  readonly state: string;
  readonly why: string | null;
  readonly outcome: { readonly requestId: string } | null;
}
const list = async (): Promise<Item[]> => (await tyche.call("GET", "/api/requests?limit=100")).data.items;
const allEnded = (count: number) =>
  vi.waitFor(
    async () => {
      const items = await list();
      const open = items.filter(({ state }) => state !== "fulfilled" && state !== "failed");
      expect(open.map(({ id, state, why }) => ({ id, state, why }))).toEqual([]);
      expect(items).toHaveLength(count);
      return items;
    },
    { interval: 100 },
  );
const keys = (prefix: string): string[] => Array.from({ length: 20 }, (_, i) => `${prefix}-${i}`);

test("a backup of a running service, restored after a crash under load, brings database and chain back, and everything ends", async () => {
  const early = await Promise.all(keys("early").map(send));
  const before = await allEnded(20);
  const [backup] = await Promise.all([
    runTyche(["backup", elsewhere, "--keep", "1"], env),
    ...keys("late").map(send),
  ]);
  const file = path.join(
    elsewhere,
    readdirSync(elsewhere).find((name) => name.endsWith("Z.tar.gz"))!,
  );
  expect(backup).toEqual({
    code: 0,
    output: expect.stringMatching(
      /tar\.gz {2}\d+ bytes: the database, with the chains fuji\n.*\/master-key /,
    ),
  });
  await Promise.all(keys("unknown").map(send));
  await allEnded(60);
  await Promise.all(keys("last").map(send));
  await tyche.stop("SIGKILL");

  expect(await runTyche(["restore", file], env)).toEqual({
    code: 0,
    output: expect.stringMatching(
      /^restored the database whose newest request changed at .*, with the chains fuji\n(?:set aside as .*\n){2}$/,
    ),
  });
  tyche = await startTycheProcess({ dataDir, env });
  const known = (await list()).length;
  expect(known).toBeGreaterThanOrEqual(early.length);
  const after = new Map((await allEnded(known)).map((one) => [one.id, one]));
  for (const { id, state, outcome } of before)
    expect(after.get(id)).toMatchObject({ state, outcome: { requestId: outcome!.requestId } });
  expect((await send("new")).status).toBe(202);
  await allEnded(known + 1);
});

test("on a new machine, the master key and the backup are all that a restore needs", async () => {
  const file = path.join(elsewhere, "backup.tar.gz");
  await Promise.all(keys("early").map(send));
  const before = await allEnded(20);
  expect(await runTyche(["backup", file], env)).toMatchObject({ code: 0 });
  const apiKey = readFileSync(path.join(dataDir, "api-key"), "utf8");
  await tyche.stop();
  const machine = path.join(elsewhere, "machine");
  mkdirSync(machine);
  const there = { ...env, TYCHE_DATA_DIR: machine };
  expect(await runTyche(["restore", file], there)).toEqual({
    code: 1,
    output: expect.stringContaining("master-key is missing"),
  });
  expect(existsSync(path.join(machine, "tyche.sqlite"))).toBe(false);
  writeFileSync(path.join(machine, "master-key"), readFileSync(path.join(dataDir, "master-key")));
  expect(await runTyche(["restore", file], there)).toMatchObject({ code: 0 });
  tyche = await startTycheProcess({ dataDir: machine, env: there });
  expect(readFileSync(path.join(machine, "api-key"), "utf8")).toBe(apiKey);
  const shown = ({ id, outcome }: Item) => ({ id, requestId: outcome!.requestId });
  expect((await list()).map(shown)).toEqual(before.map(shown));
  expect((await send("new")).status).toBe(202);
  await allEnded(21);
});

test("an earlier version's backup, a database alone, answers what it knows and sends nothing twice", async () => {
  const file = path.join(elsewhere, "backup");
  const early = await Promise.all(keys("early").map(send));
  await Promise.all([backupDatabase(path.join(dataDir, "tyche.sqlite"), file), ...keys("late").map(send)]);
  expect(await runTyche(["restore", file], env)).toEqual({
    code: 1,
    output: expect.stringContaining("another process serves"),
  });
  await allEnded(40);
  // What the backup can't know: mined transactions, and requests in flight at the crash.
  await Promise.all(keys("unknown").map(send));
  const before = await allEnded(60);
  await Promise.all(keys("last").map(send));
  await tyche.stop("SIGKILL");

  const restored = await runTyche(["restore", file], env);
  expect(restored).toEqual({
    code: 0,
    output: expect.stringMatching(/set-aside[^]*start once with TYCHE_ACCEPT_CHAINS=fuji\n$/),
  });
  // The chain is newer than the backup, so the only network serves nothing until the operator accepts that.
  const refused = await startTycheProcess({ dataDir, env }).then(
    (running) => running.stop("SIGKILL"),
    (error: Error) => error,
  );
  expect(refused).toMatchObject({ message: expect.stringContaining("TYCHE_ACCEPT_CHAINS=fuji") });

  tyche = await startTycheProcess({ dataDir, env: { ...env, TYCHE_ACCEPT_CHAINS: "fuji" } });
  const known = (await list()).length;
  expect(known).toBeGreaterThanOrEqual(early.length);
  const after = await allEnded(known);
  const requestIds = new Map(before.map(({ id, outcome }) => [id, outcome?.requestId]));
  for (const { id, outcome } of after.filter((one) => one.state === "fulfilled"))
    expect({ id, requestId: outcome!.requestId }).toEqual({ id, requestId: requestIds.get(id) });
  // Repeated calls that the backup knows create no request.
  const again = await Promise.all(keys("early").map(send));
  const idOf = ({ headers }: Answer): string | null => headers.get("tyche-request-id");
  expect(again.map(idOf)).toEqual(early.map(idOf));
  expect(early.map(idOf)).not.toContain(null);
  expect(await list()).toHaveLength(known);
  expect((await send("new")).status).toBe(202);
  await allEnded(known + 1);
});
