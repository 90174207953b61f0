import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { openServer } from "../../src/store/openDatabase.ts";
import { openPostgresBus, type Bus, type BusMessage } from "../../src/store/bus.ts";
import { openDataDirectory } from "../../src/store/dataDirectory.ts";
import { createLeaseKeeper, type LeaseKeeper } from "../../src/store/leaseKeeper.ts";
import {
  assertLeaseHeld,
  fenceWrites,
  findLease,
  giveLeaseBack,
  renewLease,
  takeLease,
  type Fence,
} from "../../src/store/leases.ts";
import { createPostgresDialect } from "../../src/store/postgresDialect.ts";
import { lockPostgres } from "../../src/store/postgresLock.ts";
import type { Queryable } from "../../src/store/queryable.ts";
import { joinReplicas } from "../../src/store/replicaLock.ts";
import { findSetting, saveSetting } from "../../src/store/settings.ts";
import { assertTables, openStore, type Store } from "../../src/store/store.ts";
import { StoreError } from "../../src/store/storeErrors.ts";
import { startPostgres, withClient, type PostgresServer } from "../support/postgres.ts";

const NETWORK = "sepolia";
const LONG_MS = 600_000;

let server: PostgresServer;
let url: string;
let store: Store;
let other: Store;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
  store = await openStore(createPostgresDialect(url));
  other = await openStore(createPostgresDialect(url));
});
beforeEach(async () => {
  await store.db.deleteFrom("leases").execute();
  await store.db.deleteFrom("settings").execute();
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0).toReversed()) await close();
});
afterAll(async () => {
  await Promise.all([store?.close(), other?.close()]);
  await server?.remove();
});

const take = (holder: string, lastsMs = LONG_MS) =>
  takeLease(store.db, { network: NETWORK, holder, lastsMs });

test("a lease is one replica's until it runs out or is given back, and its token grows", async () => {
  const first = await take("a");
  expect(first).toEqual({ network: NETWORK, holder: "a", token: 1 });
  expect(await take("b")).toBeUndefined();
  expect(await findLease(store.db, NETWORK)).toMatchObject({ ...first, isLive: true });
  await giveLeaseBack(store.db, first!);
  expect(await findLease(store.db, NETWORK)).toMatchObject({ isLive: false });
  expect(await take("b", 0)).toMatchObject({ holder: "b", token: 2 });
  expect(await take("a")).toMatchObject({ holder: "a", token: 3 });
});

test("of many that try at once one takes it", async () => {
  const taken = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      takeLease((i % 2 === 0 ? store : other).db, { network: NETWORK, holder: `${i}`, lastsMs: LONG_MS }),
    ),
  );
  expect(taken.filter((one) => one !== undefined)).toHaveLength(1);
});

test("a lease is renewed by its token alone, also after it has run out", async () => {
  const first = (await take("a", 0))!;
  expect(await renewLease(store.db, first, LONG_MS)).toBe(true);
  expect(await take("b")).toBeUndefined();
  await giveLeaseBack(store.db, first);
  const second = (await take("b"))!;
  expect(await renewLease(store.db, first, LONG_MS)).toBe(false);
  expect(await renewLease(store.db, second, LONG_MS)).toBe(true);
});

test("a write under an old token is refused, and nothing of it stored", async () => {
  const first = (await take("a", 0))!;
  await take("b");
  const write = store.write(async (db) => {
    await saveSetting(db, "written", "under the old token");
    await assertLeaseHeld(db, first);
  });
  await expect(write).rejects.toMatchObject({ code: "store_conflict", retryable: true });
  expect(await findSetting(store.db, "written")).toBeUndefined();
});

test("a take-over waits for the write under way, a renewal doesn't", async () => {
  const first = (await take("a", 0))!;
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const { promise: isFenced, resolve: fenced } = Promise.withResolvers<void>();
  let isTaken = false;
  const write = store.write(async (db) => {
    await assertLeaseHeld(db, first);
    fenced();
    await mayCommit;
  });
  await isFenced;
  expect(await renewLease(other.db, first, 0)).toBe(true);
  const takeOver = takeLease(other.db, { network: NETWORK, holder: "b", lastsMs: LONG_MS }).then((lease) => {
    isTaken = true;
    return lease;
  });
  await vi.waitFor(async () => expect(await countWaiting()).toBe(1), { timeout: 60_000 });
  expect(isTaken).toBe(false);
  commit();
  await write;
  expect(await takeOver).toMatchObject({ holder: "b", token: 2 });
});

test("a process that stands still in the middle of a write keeps nobody from the lease", async () => {
  const first = (await take("a", 0))!;
  const service = await openStore(createPostgresDialect(url, { claim: { held: async () => {} } }));
  closers.push(() => service.close());
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: isFenced, resolve: fenced } = Promise.withResolvers<void>();
  const [written, taken] = await Promise.allSettled([
    service.write(async (db) => {
      await assertLeaseHeld(db, first);
      await saveSetting(db, "written", "before the standstill");
      fenced();
      await goesOn;
    }),
    // Takes as long as the server lets a transaction stay idle.
    isFenced.then(() => take("b")).finally(goOn),
  ]);
  expect(taken).toMatchObject({ status: "fulfilled", value: { holder: "b", token: 2 } });
  expect(written).toMatchObject({ status: "rejected", reason: { code: "overloaded" } });
  expect(await findSetting(store.db, "written")).toBeUndefined();
});

test("the keeper takes a free lease, and gives it back when it is closed", async () => {
  const [a, b] = [keep("a"), keep("b")];
  await a.keeper.look();
  await b.keeper.look();
  expect([a.keeper.state(), b.keeper.state()]).toEqual([
    { isHere: true, holder: "a" },
    { isHere: false, holder: "a" },
  ]);
  await a.keeper.close();
  expect(a.events).toEqual(["taken", "left", "given back"]);
  await b.keeper.look();
  expect(b.keeper.state()).toEqual({ isHere: true, holder: "b" });
});

test("a keeper takes the lease once it hears that it is free, but not before it first looks", async () => {
  let hear: (message: BusMessage) => void = () => {};
  const listen: Bus["listen"] = (listener) => {
    hear = listener;
    return () => {};
  };
  const idle = keep("b", undefined, listen);
  hear({ kind: "free", network: NETWORK });
  await idle.keeper.close();
  expect(idle.events).toEqual([]);
  const first = (await take("a", 3_600_000))!;
  const b = keep("b", undefined, listen);
  await b.keeper.look();
  await giveLeaseBack(store.db, first);
  hear({ kind: "free", network: "fuji" });
  hear({ kind: "free", network: NETWORK });
  await vi.waitFor(() => expect(b.events).toEqual(["taken"]), { timeout: 60_000 });
});

test("a keeper whose lease another one has taken writes nothing more, and stands down", async () => {
  const [a, b] = [keep("a"), keep("b")];
  await a.keeper.look();
  await vi.waitFor(async () => {
    // The first keeper may renew it right after.
    await expireLease();
    await b.keeper.look();
    expect(b.events).toEqual(["taken"]);
  });
  const fenced = fenceWrites(store, a.fence());
  const save = (db: Queryable): Promise<void> => saveSetting(db, "written", "by a");
  await expect(fenced.write(save)).rejects.toMatchObject({ code: "store_conflict" });
  await expect(fenced.writeSoon(save)).rejects.toMatchObject({ code: "store_conflict" });
  await vi.waitFor(() => expect(a.events).toEqual(["taken", "lost"]), { timeout: 60_000 });
  expect(() => a.fence().assertLive()).toThrow("another replica dispatches on sepolia now");
  expect(await findSetting(store.db, "written")).toBeUndefined();
  await fenceWrites(store, b.fence()).write((db) => saveSetting(db, "written", "by b"));
  expect(await findSetting(store.db, "written")).toBe("by b");
});

test("a process that was stopped for longer than its lease sends nothing, whoever holds it", async () => {
  const a = keep("a");
  await a.keeper.look();
  a.fence().assertLive();
  // The clocks advance, but no timer runs.
  const [wall, monotonic] = [Date.now(), performance.now()];
  vi.spyOn(Date, "now").mockReturnValue(wall);
  vi.spyOn(performance, "now").mockReturnValue(monotonic + LONG_MS);
  expect(() => a.fence().assertLive()).toThrow("another replica dispatches");
  vi.restoreAllMocks();
  await vi.waitFor(() => expect(a.events).toContain("lost"), { timeout: 60_000 });
});

test("a dead holder's lease is taken though the database's clock was set back an hour, a renewed one is not", async () => {
  const a = (await take("a", 3_600_000))!;
  const b = keep("b");
  const monotonic = performance.now();
  const clock = vi.spyOn(performance, "now").mockReturnValue(monotonic);
  await b.keeper.look();
  // The keeper also looks by itself at any of these moments.
  clock.mockReturnValue(monotonic + 0.9 * LONG_MS);
  expect(await renewLease(store.db, a, 3_600_000)).toBe(true);
  await b.keeper.look();
  clock.mockReturnValue(monotonic + 1.8 * LONG_MS);
  await b.keeper.look();
  expect(b.events).toEqual([]);
  clock.mockReturnValue(monotonic + 4 * LONG_MS);
  await b.keeper.look();
  expect(b.events).toEqual(["taken"]);
  expect(await findLease(store.db, NETWORK)).toMatchObject({ holder: "b", token: 2 });
});

test.each([
  { jumpMs: 3_600_000, isLive: false },
  { jumpMs: -3_600_000, isLive: true },
])("a wall clock that jumps by $jumpMs ms leaves one keeper with the lease", async ({ jumpMs, isLive }) => {
  const [a, b] = [keep("a"), keep("b")];
  await a.keeper.look();
  const wall = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => wall + jumpMs);
  // The machine may have been suspended for an hour, so the lease may have passed on.
  expect(isHeld(a.fence())).toBe(isLive);
  await b.keeper.look();
  expect(b.events).toEqual([]);
  await expireLease();
  await vi.waitFor(
    async () => {
      await b.keeper.look();
      const { holder } = (await findLease(store.db, NETWORK))!;
      const live = [a, b].filter(({ keeper }) => keeper.state().isHere);
      expect(live).toHaveLength(1);
      expect(live[0]!.keeper.state().holder).toBe(holder);
    },
    { timeout: 60_000 },
  );
});

test("a lease is given back where its holder can't begin", async () => {
  const a = keep("a", () => Promise.reject(new Error("the chain is down")));
  await expect(a.keeper.look()).rejects.toThrow("the chain is down");
  await vi.waitFor(() => expect(a.events).toEqual(["given back", "lost"].toSorted()), { timeout: 60_000 });
  // The pause before the next attempt doesn't depend on the wall clock.
  const [wall, monotonic] = [Date.now(), performance.now()];
  vi.spyOn(Date, "now").mockReturnValue(wall - 3_600_000);
  vi.spyOn(performance, "now").mockReturnValue(monotonic + 3_000);
  await expect(a.keeper.look()).rejects.toThrow("the chain is down");
  await vi.waitFor(() => expect(a.events).toHaveLength(4), { timeout: 60_000 });
  const b = keep("b");
  await b.keeper.look();
  expect(b.events).toEqual(["taken"]);
});

test("a keeper that can't tell what was stored gives its lease back once it has stood down, and takes it anew", async () => {
  const a = keep("a");
  await a.keeper.look();
  const first = a.fence();
  first.abandon();
  expect(() => first.assertLive()).toThrow("another replica dispatches");
  first.abandon();
  await vi.waitFor(() => expect(a.events.slice(0, 3)).toEqual(["taken", "lost", "given back"]), {
    timeout: 60_000,
  });
  await vi.waitFor(() => expect(a.events).toEqual(["taken", "lost", "given back", "taken"]), {
    timeout: 60_000,
  });
  expect(await findLease(store.db, NETWORK)).toMatchObject({ holder: "a", token: 2, isLive: true });
  a.fence().assertLive();
});

test("a message reaches the other replicas, also after the connection was cut", async () => {
  const [a, b] = [openBus("a"), openBus("b")];
  const heard: Record<string, BusMessage[]> = { a: [], b: [] };
  a.listen((message) => void heard["a"]!.push(message));
  b.listen((message) => void heard["b"]!.push(message));
  const ids = Array.from({ length: 400 }, (_, i) => `req_${i}`);
  await tellUntilHeard(ids);
  await withClient(url, (client) =>
    client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND (query LIKE 'LISTEN%' OR query LIKE '%pg_notify%')",
    ),
  );
  await tellUntilHeard(["req_after"]);
  a.tell({ kind: "because", question: "que_1", why: "x".repeat(10_000) });
  await vi.waitFor(() => expect(heard["b"]!.some(({ kind }) => kind === "because")).toBe(true), {
    timeout: 60_000,
  });
  expect(heard["a"]).toEqual([]);

  /** Repeats the messages, as the first ones may be sent before the other replica listens. */
  async function tellUntilHeard(wanted: readonly string[]): Promise<void> {
    await vi.waitFor(
      () => {
        const told = heard["b"]!.flatMap((message) => (message.kind === "changed" ? message.ids : []));
        if (wanted.every((id) => told.includes(id))) return;
        a.tell({ kind: "changed", network: NETWORK, ids: wanted });
        throw new Error(`${told.length} ids were heard`);
      },
      { timeout: 60_000, interval: 100 },
    );
  }
});

test("the first replica is alone until it shares; whoever needs the database alone waits for all", async () => {
  const join = async () => {
    const lock = await joinReplicas(url, { onLost: () => {}, waitMs: 0 });
    closers.push(() => lock.unlock());
    return lock;
  };
  const first = await join();
  expect(first.isAlone).toBe(true);
  await expect(join()).rejects.toMatchObject({ code: "store_unusable" });
  await first.share();
  const second = await join();
  expect(second.isAlone).toBe(false);
  await first.unlock();
  await expect(lockPostgres(url, { onLost: () => {}, waitMs: 0 })).rejects.toThrow("another process serves");
  await second.unlock();
  const unlock = await lockPostgres(url, { onLost: () => {}, waitMs: 60_000 });
  await expect(join()).rejects.toThrow("another process serves");
  await unlock();
});

test("a replica takes its claim again when its connection was cut, and when the server was stopped", async () => {
  const events: string[] = [];
  const lock = await joinReplicas(url, {
    onLost: (reason) => events.push(reason),
    onAway: () => events.push("away"),
    onBack: () => events.push("back"),
    assertTables: () => assertTables(createPostgresDialect(url)),
    waitMs: 60_000,
  });
  closers.push(() => lock.unlock());
  await lock.share();
  await cutLocks();
  await lock.held();
  await vi.waitFor(() => expect(events).toEqual(["away", "back"]), { timeout: 60_000 });
  await expect(lockPostgres(url, { onLost: () => {}, waitMs: 0 })).rejects.toThrow("another process serves");
  await server.stop();
  await vi.waitFor(() => expect(lock.isHeld()).toBe(false), { timeout: 60_000 });
  await server.restart();
  await lock.held();
  expect(events).toEqual(["away", "back", "away", "back"]);
  await expect(lockPostgres(url, { onLost: () => {}, waitMs: 0 })).rejects.toThrow("another process serves");
});

test("a database whose tables are locked does not answer a process that waits to write", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tyche-locked-"));
  const directory = openDataDirectory(folder, { exclusive: true });
  closers.push(async () => {
    directory.close();
    rmSync(folder, { recursive: true });
  });
  const opened = await openServer(directory, { url, variable: "DATABASE_URL" }, () => {});
  closers.push(() => opened.store.close());
  await withClient(url, async (client) => {
    await client.query("BEGIN; LOCK TABLE settings IN ACCESS EXCLUSIVE MODE");
    const write = opened.store.write((db) => saveSetting(db, "written", "late"));
    await vi.waitFor(async () => expect(await countWaiting()).toBe(1), { timeout: 60_000 });
    expect(opened.replicas!.isHere()).toBe(true);
    const monotonic = performance.now();
    vi.spyOn(performance, "now").mockReturnValue(monotonic + 5_000);
    expect(opened.replicas!.isHere()).toBe(false);
    await client.query("COMMIT");
    await write;
    expect(opened.replicas!.isHere()).toBe(true);
  });
});

test("a claim that was lost is not taken again while another process has the database alone, or where it has other tables", async () => {
  const events: string[] = [];
  let isAlone = false;
  const lock = await joinReplicas(url, {
    onLost: (reason) => events.push(reason),
    async assertTables() {
      events.push(isAlone ? "looked beside another" : "looked");
      if (events.length === 1) throw new Error("can't be told");
      throw new StoreError("its tables are others");
    },
    waitMs: 60_000,
  });
  closers.push(() => lock.unlock());
  await lock.share();
  await withClient(url, async (client) => {
    // First in the queue for the lock that the replica holds.
    const alone = client.query("SELECT pg_advisory_lock(classid::int, 1) FROM pg_locks WHERE objid = 1");
    await vi.waitFor(async () => expect(await countWaiting()).toBe(1), { timeout: 60_000 });
    await cutLocks();
    await alone;
    isAlone = true;
    // The news of the cut connection arrives by another route than the lock.
    await vi.waitFor(() => expect(lock.isHeld()).toBe(false), { timeout: 60_000 });
    isAlone = false;
  });
  await vi.waitFor(() => expect(events).toEqual(["looked", "looked", "its tables are others"]), {
    timeout: 60_000,
  });
  expect(lock.isHeld()).toBe(false);
});

/** Terminates the connections that hold the claim. */
async function cutLocks(): Promise<void> {
  await withClient(url, (client) =>
    client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND granted",
    ),
  );
}

/** Creates a keeper that records its events. */
function keep(
  replica: string,
  begin: () => Promise<void> = async () => {},
  listen: Bus["listen"] = () => () => {},
): { readonly keeper: LeaseKeeper; readonly events: string[]; readonly fence: () => Fence } {
  const events: string[] = [];
  let fence: Fence | undefined;
  const keeper = createLeaseKeeper({
    db: (replica === "a" ? store : other).db,
    network: NETWORK,
    replica: { id: replica, bus: { listen, tell: () => void events.push("given back") } },
    async onTaken(its) {
      fence = its;
      await begin();
      events.push("taken");
    },
    onLost: async () => void events.push("lost"),
    onLeave: async () => void events.push("left"),
    onError: () => {},
    lastsMs: LONG_MS,
  });
  closers.push(() => keeper.close());
  return { keeper, events, fence: () => fence! };
}

function openBus(replica: string): Bus {
  const bus = openPostgresBus(url, { replica, onError: () => {} });
  closers.push(() => bus.close());
  return bus;
}

/** Whether a fence lets its holder broadcast. */
function isHeld(fence: Fence): boolean {
  try {
    fence.assertLive();
    return true;
  } catch {
    return false;
  }
}

/** Expires the lease, as if its holder didn't renew it. */
async function expireLease(): Promise<void> {
  await store.db.updateTable("leases").set({ expires_at: 1 }).execute();
}

/** Counts the statements that wait for a lock. */
async function countWaiting(): Promise<number> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    return rows.length;
  });
}
