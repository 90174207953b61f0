import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
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
  readonly result?: { readonly requestId: string };
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

test("a backup of a running service, restored after a crash under load, answers what it knows and sends nothing twice", async () => {
  const file = path.join(elsewhere, "backup");
  const early = await Promise.all(keys("early").map(send));
  const [backup] = await Promise.all([runTyche(["backup", file], env), ...keys("late").map(send)]);
  expect(backup).toEqual({ code: 0, output: expect.stringMatching(/backup {2}\d+ bytes\n$/) });
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
  const outcomes = new Map(before.map(({ id, result }) => [id, result]));
  for (const { id, state, result } of after.filter((one) => one.state === "fulfilled"))
    expect({ id, state, result }).toEqual({ id, state, result: outcomes.get(id) });
  // Repeated calls that the backup knows create no request.
  const again = await Promise.all(keys("early").map(send));
  const idOf = ({ headers }: Answer): string | null => headers.get("tyche-request-id");
  expect(again.map(idOf)).toEqual(early.map(idOf));
  expect(early.map(idOf)).not.toContain(null);
  expect(await list()).toHaveLength(known);
  expect((await send("new")).status).toBe(202);
  await allEnded(known + 1);
});
