import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { DatabaseAwayError } from "../../src/store/databaseAway.ts";
import { insertDapp, listDapps } from "../../src/store/dapps.ts";
import { createPostgresDialect } from "../../src/store/postgresDialect.ts";
import { lockPostgres } from "../../src/store/postgresLock.ts";
import { findRequest } from "../../src/store/requests.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { startPostgres, withClient, type PostgresServer } from "../support/postgres.ts";

let server: PostgresServer;
let url: string;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
});
afterAll(() => server?.remove());
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const open = async (isService = false): Promise<Store> => {
  const store = await openStore(
    createPostgresDialect(url, isService ? { claim: { held: async () => {} } } : {}),
  );
  closers.push(() => store.close());
  return store;
};
const lock = async (
  onLost: (reason: string) => void = () => {},
  waitMs = 60_000,
): Promise<() => Promise<void>> => {
  const unlock = await lockPostgres(url, { onLost, waitMs });
  closers.push(unlock);
  return unlock;
};

test("two processes don't serve from one database; the second may when the first has ended", async () => {
  const unlock = await lock();
  await expect(lock(undefined, 0)).rejects.toMatchObject({
    code: "store_unusable",
    message: expect.stringContaining("another process serves from this database") as string,
  });
  await unlock();
  await lock();
});

test("nobody serves while a connection of the process before is left; those of tools don't count", async () => {
  const [before, tool] = [await open(true), await open()];
  await expect(lock(undefined, 0)).rejects.toThrow("another process serves");
  await before.close();
  await lock();
  expect(await listDapps(tool.db)).toEqual([]);
});

test("writes at the same time are all there, and flushed even where the server's default is not to", async () => {
  await withClient(url, (client) =>
    client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`),
  );
  const store = await open();
  const { rows } = await sql`SHOW synchronous_commit`.execute(store.db);
  expect(rows).toEqual([{ synchronous_commit: "on" }]);
  const ids = Array.from({ length: 50 }, (_, i) => `dapp_${i}`);
  await Promise.all(
    ids.map((id) =>
      store.write((db) => insertDapp(db, { id, name: id, facilities: [], createdAt: 2 ** 42 })),
    ),
  );
  const dapps = await listDapps(store.db);
  expect(dapps.map(({ id }) => id)).toEqual(ids.toSorted());
  expect(dapps[0]).toMatchObject({ createdAt: 2 ** 42 });
});

test("a server that stops fails writes and is told once; the store goes on when it is back", async () => {
  const lost: string[] = [];
  await lock((reason) => lost.push(reason), 60_000);
  const store = await open(true);
  const before = (await listDapps(store.db)).length;
  const write = (id: string): Promise<void> =>
    store.write((db) => insertDapp(db, { id, name: id, facilities: [], createdAt: 1 }));
  const away = { code: "overloaded", retryable: true, details: { retryAfterMs: 1_000 } };
  await server.stop();
  await vi.waitFor(() => expect(lost).toHaveLength(1), { timeout: 60_000 });
  expect(lost[0]).toContain("the connection to it was lost");
  await expect(write("dapp_lost")).rejects.toMatchObject(away);
  await expect(listDapps(store.db)).rejects.toMatchObject(away);
  await expect(lock(undefined, 0)).rejects.toMatchObject({ code: "store_unusable" });
  await server.restart();
  await write("dapp_after");
  expect(await listDapps(store.db)).toHaveLength(before + 1);
  expect(lost).toHaveLength(1);
});

test("connections that break in the middle of a write are given up, and others made", async () => {
  const claim = { held: async () => {} };
  const dialect = createPostgresDialect(url, { claim });
  const store = await openStore(dialect);
  closers.push(() => store.close());
  const backend = async (): Promise<number> =>
    (await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(store.db)).rows[0]!.pid;
  const first = await backend();
  const write = store.write(async (db) => {
    await insertDapp(db, { id: "dapp_broken", name: "broken", facilities: [], createdAt: 1 });
    dialect.breakConnections();
  });
  await expect(write).rejects.toBeInstanceOf(DatabaseAwayError);
  expect(await backend()).not.toBe(first);
  expect((await listDapps(store.db)).map(({ id }) => id)).not.toContain("dapp_broken");
  // A statement that hangs on the server fails as well.
  const hanging = sql`SELECT pg_sleep(600)`.execute(store.db);
  const [ended] = await Promise.allSettled([
    hanging,
    vi
      .waitFor(async () => expect(await countSleeping()).toBe(1), { timeout: 60_000 })
      .then(() => dialect.breakConnections()),
  ]);
  expect(ended).toMatchObject({ status: "rejected", reason: { code: "overloaded" } });
});

test("a read and a write of a locked table fail as from a database that is away, before the lock ends", async () => {
  const store = await open(true);
  await withClient(url, async (client) => {
    await client.query("BEGIN; LOCK TABLE dapps IN ACCESS EXCLUSIVE MODE");
    const dapp = { id: "dapp_locked", name: "locked", facilities: [], createdAt: 1 };
    const away = { code: "overloaded", retryable: true, details: { retryAfterMs: 1_000 } };
    await Promise.all([
      expect(listDapps(store.db)).rejects.toMatchObject(away),
      expect(store.write((db) => insertDapp(db, dapp))).rejects.toMatchObject(away),
    ]);
    await client.query("COMMIT");
    await store.write((db) => insertDapp(db, dapp));
    expect((await listDapps(store.db)).map(({ id }) => id)).toContain(dapp.id);
  });
});

test("while the claim to serve is lost no connection is made", async () => {
  const claim = { held: () => new Promise<void>(() => {}) };
  const store = openStore(createPostgresDialect(url, { claim }));
  await expect(store).rejects.toMatchObject({ cause: { code: "overloaded" } });
});

/** Counts the statements that only sleep. */
async function countSleeping(): Promise<number> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    return rows.length;
  });
}

test.each(["mysql://user:secret@host/db", "postgres://user:secret@host:port/db", "secret"])(
  "%s names no database, and is told to nobody",
  (text) => {
    const make = (): unknown => createPostgresDialect(text);
    expect(make).toThrow(
      "the database's URL must be postgres://user:password@host:port/database; it is not shown, as it may hold the password",
    );
  },
);

test("a name with a character that no text holds is found nowhere", async () => {
  const store = await open();
  expect(await findRequest(store.db, "req_\0")).toBeUndefined();
});

test("a database in another encoding is refused", async () => {
  const latin = await withClient(url, async (client) => {
    await client.query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    return url.replace(/[^/]+$/, "latin");
  });
  await expect(openStore(createPostgresDialect(latin))).rejects.toThrow("must be UTF8");
});
