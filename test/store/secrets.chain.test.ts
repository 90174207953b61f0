import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertDapp } from "../../src/store/dapps.ts";
import { createPostgresDialect } from "../../src/store/postgresDialect.ts";
import {
  deleteDappSecrets,
  listSecrets,
  listSlotNames,
  listVersions,
  publishSecret,
  reserveSlot,
} from "../../src/store/secrets.ts";
import { saveSlot } from "../../src/store/secrets.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { DESK_DAPP } from "../support/pipelineWorld.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";

let folder: string;
let server: PostgresServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tyche-secrets-"));
  server = await startPostgres();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.remove();
});

const secret = (name: string, version = 1) =>
  ({
    network: "n",
    owner: "0x01",
    dappId: DESK_DAPP,
    name,
    version,
    size: 1,
    changedAt: version,
    expiresAt: null,
    allowedHosts: ["api.example.com"],
    keyHash: null,
  }) as const;

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
  afterAll(() => store.close());

  test("of versions that are set at once, one is current", async () => {
    const versions = Array.from({ length: 8 }, (_, i) => secret("KEY", i + 1));
    const done = await Promise.all(
      versions.map(async (one) => {
        const slotId = await store.write((db) => reserveSlot(db, one));
        return await store.write((db) => publishSecret(db, { ...one, slotId }, 100));
      }),
    );
    expect(done).toEqual(versions.map(() => true));
    expect(await listSecrets(store.db, DESK_DAPP)).toHaveLength(1);
    expect(await listVersions(store.db, "n", { dappId: DESK_DAPP, name: "KEY" })).toHaveLength(8);
  });

  test("names of slots come in order, a page at a time, without what has expired", async () => {
    const names = (["0x0a", "0x0a", "0x0b", "0x0c"] as const).map(
      (owner, i) => ({ owner, slotId: 12 - i, version: i }) as const,
    );
    for (const [i, name] of names.entries())
      await store.write((db) =>
        saveSlot(db, { network: "pages", ciphertext: "{}", expiresAt: i === 3 ? 5 : 9, ...name }),
      );
    const page = (after: (typeof names)[number] | undefined, limit: number) =>
      listSlotNames(store.db, { network: "pages", after, limit, now: 5 });
    expect(await page(undefined, 2)).toEqual([names[1], names[0]]);
    expect(await page(names[0], 2)).toEqual([names[2]]);
    expect(await page(names[1], 1)).toEqual([names[0]]);
  });

  test("of a deleted dapp, what is held elsewhere stays to be deleted there, and can't be set again", async () => {
    const here = { network: "n", owner: "0x01", ciphertext: "{}", expiresAt: 9, version: 1 } as const;
    const [kept, elsewhere] = await store.write(async (db) => {
      const ids = [
        await reserveSlot(db, secret("HERE")),
        await reserveSlot(db, secret("ELSEWHERE")),
      ] as const;
      await saveSlot(db, { ...here, slotId: ids[0] });
      await deleteDappSecrets(db, DESK_DAPP);
      return ids;
    });
    expect(await listSecrets(store.db, DESK_DAPP)).toEqual([]);
    const left = (await listVersions(store.db, "n", { replacedBefore: 1 })).map(({ slotId }) => slotId);
    expect(left).toContain(elsewhere);
    expect(left).not.toContain(kept);
    const late = { ...secret("ELSEWHERE"), slotId: elsewhere };
    expect(await store.write((db) => publishSecret(db, late, 100))).toBe(false);
  });
});
