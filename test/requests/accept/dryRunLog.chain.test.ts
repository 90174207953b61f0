import type { SimulateResult } from "../../../src/api/types.ts";
import type { FunctionRefusal } from "../../../src/requests/accept/runDetails.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { readDryRun, readDryRuns, recordDryRun } from "../../../src/requests/accept/dryRunLog.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import { deleteOldDryRuns, KEPT_DRY_RUNS, KEPT_PARAMS_BYTES } from "../../../src/store/dryRuns.ts";
import type { Store } from "../../../src/store/store.ts";
import { listUsage } from "../../../src/store/usage.ts";
import { DATABASES, useStore } from "../../support/databases.ts";

const DONE: SimulateResult = {
  success: true,
  result: "0x2a",
  parsedResult: "42",
  value: "42",
  err: "0x",
  console: "",
  consoleTruncated: false,
  timeMs: 1,
  memoryBytes: 1,
  httpRequests: 0,
};
const REFUSED: FunctionRefusal = {
  success: false,
  requestId: "",
  result: "0x",
  parsedResult: "",
  err: "no luck",
  url: "",
  console: "x".repeat(2_000),
  consoleTruncated: false,
  timeMs: 1.5,
  memoryBytes: 1_048_576,
  httpRequests: 2,
  details: [{ path: "/source", message: "y".repeat(2_000) }],
  line: 2,
  column: 7,
};

describe.each(DATABASES)("on %s", (_name, create) => {
  let store: Store;
  useStore(create, (opened) => {
    store = opened;
  });
  beforeEach(async () => {
    for (const id of ["dapp_a", "dapp_b"])
      await insertDapp(store.db, { id, name: id, facilities: [], createdAt: 1 });
  });

  test("dry runs and refusals are listed, newest first, cut, counted, and for their dapp alone", async () => {
    const source = "\n  return Functions.encodeUint256(42n)\n// secret";
    await recordDryRun(store, { dappId: "dapp_a", kind: "dry-run", source, result: DONE });
    const refusal = { dappId: "dapp_a", network: "fuji", kind: "preset", preset: "loot" } as const;
    await recordDryRun(store, { ...refusal, result: REFUSED });
    const [second, first, ...others] = (await readDryRuns(store.db, "dapp_a")).items;
    expect(first).toMatchObject({ kind: "dry-run", network: null, success: true, parsedResult: "42" });
    expect(first!.title).toBe("return Functions.encodeUint256(42n)");
    expect(second).toMatchObject({ kind: "preset", network: "fuji", title: "loot", err: "no luck", line: 2 });
    expect(second!.console).toHaveLength(1_000);
    expect(others).toEqual([]);
    expect((await readDryRuns(store.db, "dapp_b")).items).toEqual([]);
    const days = { dappId: "dapp_a", from: "2000-01-01", to: "9999-01-01" };
    expect(await listUsage(store.db, days)).toMatchObject([
      { network: "", kind: "dry-run", requests: 1, refused: 0 },
      { network: "fuji", kind: "preset", requests: 0, refused: 1 },
    ]);
  });

  test("only the newest are kept, of each dapp", async () => {
    await recordDryRun(store, { dappId: "dapp_b", kind: "dry-run", source: "kept", result: DONE });
    for (let i = 0; i < KEPT_DRY_RUNS + 3; i += 1)
      await recordDryRun(store, { dappId: "dapp_a", kind: "dry-run", source: `run ${i}`, result: DONE });
    const runs = (await readDryRuns(store.db, "dapp_a")).items;
    expect(runs).toHaveLength(KEPT_DRY_RUNS);
    expect([runs[0]!.title, runs.at(-1)!.title]).toEqual([`run ${KEPT_DRY_RUNS + 2}`, "run 3"]);
    expect(await store.db.selectFrom("dry_runs").select("id").execute()).toHaveLength(KEPT_DRY_RUNS + 1);
    expect((await readDryRuns(store.db, "dapp_b")).items).toHaveLength(1);
  });

  test("pages go on where the last one ended, and hold only what was asked for", async () => {
    for (const [i, network] of ["fuji", "sepolia", "fuji", undefined, "fuji"].entries())
      await recordDryRun(store, {
        dappId: "dapp_a",
        network,
        kind: "dry-run",
        source: `run ${i}`,
        result: DONE,
      });
    const refusal = { dappId: "dapp_a", network: "fuji", kind: "preset", preset: "loot" } as const;
    await recordDryRun(store, { ...refusal, result: REFUSED });
    const titles: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await readDryRuns(store.db, "dapp_a", { limit: 4, ...(cursor && { cursor }) });
      titles.push(page.items.map(({ title }) => title));
      cursor = page.nextCursor;
    }
    expect(titles).toEqual([
      ["loot", "run 4", "run 3", "run 2"],
      ["run 1", "run 0"],
    ]);
    const some = await readDryRuns(store.db, "dapp_a", { limit: 3, network: "fuji", kind: "dry-run" });
    expect(some.items.map(({ title }) => title)).toEqual(["run 4", "run 2", "run 0"]);
    expect(some.nextCursor).toBeNull();
    await expect(readDryRuns(store.db, "dapp_a", { cursor: "req_1" })).rejects.toMatchObject({
      code: "invalid_parameter",
      details: [{ path: "/cursor" }],
    });
  });

  test("one run is read with what it took, and what a refused call asked for", async () => {
    const params = { source: "return 1", args: ["é"], secrets: ["API_KEY"], returnType: "string" };
    const refusal = { dappId: "dapp_a", network: "fuji", kind: "function", source: "return 1" } as const;
    const id = await recordDryRun(store, { ...refusal, params, result: REFUSED });
    const [listed] = (await readDryRuns(store.db, "dapp_a")).items;
    const read = await readDryRun(store.db, "dapp_a", id);
    expect(listed).not.toHaveProperty("params");
    expect(read).toEqual({ ...listed, params });
    expect(read).toMatchObject({ timeMs: 1.5, memoryBytes: 1_048_576, httpRequests: 2 });
    expect(read.details![0]!.message).toHaveLength(1_000);
    await expect(readDryRun(store.db, "dapp_b", id)).rejects.toMatchObject({ code: "not_found" });
    const asked = await recordDryRun(store, { dappId: "dapp_a", kind: "dry-run", source: "x", result: DONE });
    expect(await readDryRun(store.db, "dapp_a", asked)).not.toHaveProperty("params");
  });

  test("of refused calls, as much is kept as has room, the newest first, of each dapp", async () => {
    const refuse = (dappId: string, bytes: number): Promise<string> =>
      recordDryRun(store, {
        dappId,
        kind: "function",
        params: { source: "é".repeat(bytes / 2) },
        result: REFUSED,
      });
    const [other, ...ids] = [
      await refuse("dapp_b", KEPT_PARAMS_BYTES - 100),
      await refuse("dapp_a", 600_000),
      await refuse("dapp_a", 300_000),
      await refuse("dapp_a", 300_000),
      await refuse("dapp_a", 300_000),
    ];
    const has = async (dappId: string, id: string) =>
      (await readDryRun(store.db, dappId, id)).params !== undefined;
    expect(await Promise.all(ids.map((id) => has("dapp_a", id)))).toEqual([false, true, true, true]);
    expect(await has("dapp_b", other)).toBe(true);
    const large = await refuse("dapp_a", KEPT_PARAMS_BYTES - 100);
    expect(await Promise.all([...ids, large].map((id) => has("dapp_a", id)))).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  test("retention deletes those of its network, and those of none", async () => {
    for (const network of ["fuji", "sepolia", undefined])
      await recordDryRun(store, { dappId: "dapp_a", network, kind: "dry-run", source: "x", result: DONE });
    await deleteOldDryRuns(store.db, { network: "fuji", before: Date.now() - 60_000 });
    expect((await readDryRuns(store.db, "dapp_a")).items).toHaveLength(3);
    await deleteOldDryRuns(store.db, { network: "fuji", before: Date.now() + 60_000 });
    expect((await readDryRuns(store.db, "dapp_a")).items.map(({ network }) => network)).toEqual(["sepolia"]);
  });
});
