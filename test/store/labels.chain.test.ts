import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { insertDapp } from "../../src/store/dapps.ts";
import { claimLabel } from "../../src/store/labels.ts";
import { createPostgresDialect } from "../../src/store/postgresDialect.ts";
import { insertRequests, saveRequests } from "../../src/store/requests.ts";
import { deletePayloads, deleteRequests } from "../../src/store/retention.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { DESK_DAPP, makeRequest } from "../support/pipelineWorld.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";

let folder: string;
let server: PostgresServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tyche-labels-"));
  server = await startPostgres();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.remove();
});

describe.each(["SQLite", "PostgreSQL"])("%s", (kind) => {
  let store: Store;
  beforeAll(async () => {
    store = await openStore(
      kind === "SQLite"
        ? createSqliteDialect(join(folder, "db"))
        : createPostgresDialect(await server.createDatabase()),
    );
    await insertDapp(store.db, { id: DESK_DAPP, name: "one", facilities: [], createdAt: 1 });
  });
  afterEach(async () => {
    await store.db.deleteFrom("labels").execute();
    await store.db.deleteFrom("requests").execute();
  });
  afterAll(() => store.close());

  /** Stores a request with a label. */
  const add = (id: string, { isOnce = false, network = "n", change = {} } = {}): Promise<void> =>
    store.write(async (db) => {
      await insertRequests(db, [{ ...makeRequest("random", "0x"), id, ...change }]);
      await claimLabel(db, { dappId: DESK_DAPP, network, label: "raffle", requestId: id, isOnce });
    });
  const TAKEN = { code: "label_taken", details: { id: "a" } };

  test("a label may be used again, unless one of the two must be the only one", async () => {
    await add("a");
    await add("b");
    await expect(add("c", { isOnce: true })).rejects.toMatchObject({
      ...TAKEN,
      message: expect.stringMatching(
        /^the label "raffle" has a draw, .* request a: one with once is impossible/,
      ),
    });
    await add("d", { isOnce: true, network: "another" });
    expect(await store.db.selectFrom("requests").select("id").orderBy("id").execute()).toEqual([
      { id: "a" },
      { id: "b" },
      { id: "d" },
    ]);
  });

  test("once there is a request that must be the only one, there is no second", async () => {
    await add("a", { isOnce: true });
    await expect(add("b")).rejects.toMatchObject({
      ...TAKEN,
      message: expect.stringMatching(/^the label "raffle" was drawn with once, .* request a: no second draw/),
    });
    await expect(add("c", { isOnce: true })).rejects.toMatchObject(TAKEN);
  });

  test("of many at once, one is the only one", async () => {
    const ended = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => add(`${i}`, { isOnce: true })),
    );
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("a request that failed before anything was sent gives up its label; one that was sent doesn't", async () => {
    await add("a", { isOnce: true, change: { state: "failed", progress: {} } });
    await add("b", { isOnce: true });
    await expect(add("c")).rejects.toMatchObject({ details: { id: "b" } });
    await store.db.deleteFrom("labels").execute();
    await add("d", { isOnce: true, change: { state: "failed", progress: { transactionHashes: ["0x1"] } } });
    await expect(add("e", { isOnce: true })).rejects.toMatchObject({ details: { id: "d" } });
  });

  test.each([
    ["payload and then the request are", true],
    ["request is", false],
  ])("a label that was given up is free after the %s deleted", async (_, isPayloadFirst) => {
    const params = { preset: "coinflip", label: "raffle" };
    await add("a", {
      isOnce: true,
      change: { kind: "preset", network: "n", state: "failed", params, progress: {} },
    });
    await store.write(async (db) => {
      if (isPayloadFirst) await deletePayloads(db, ["a"], 1);
      await deleteRequests(db, ["a"]);
    });
    await expect(add("b", { isOnce: true })).resolves.toBeUndefined();
  });

  test("an earlier request that was sent keeps the label, whichever failed before it was sent", async () => {
    const sent = { state: "fulfilled", progress: { transactionHashes: ["0x1"] } } as const;
    const first = { ...makeRequest("random", "0x"), id: "a" };
    await add("a", { change: first });
    await add("b", { change: sent });
    await store.write((db) => saveRequests(db, [{ ...first, state: "failed", version: 2 }]));
    await expect(add("c", { isOnce: true })).rejects.toMatchObject({ details: { id: "b" } });
    await add("d");
    expect(await store.db.selectFrom("labels").select("request_id").execute()).toEqual([{ request_id: "b" }]);
    // No longer stored, it keeps the label.
    await store.db.deleteFrom("requests").execute();
    await expect(add("c", { isOnce: true })).rejects.toMatchObject({ details: { id: "b" } });
  });
});
