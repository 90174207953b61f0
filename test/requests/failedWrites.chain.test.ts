import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { parseStoredRequest, type OpenRequest } from "../../src/requests/openRequest.ts";
import { type Change, createRequestBook, type RequestBook } from "../../src/requests/requestBook.ts";
import { DatabaseAwayError } from "../../src/store/databaseAway.ts";
import { insertDapp } from "../../src/store/dapps.ts";
import { findRequest } from "../../src/store/requests.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import {
  DESK_DAPP,
  DESK_NETWORK,
  makeRequest,
  startPipelineWorld,
  type OpenPipeline,
  type PipelineWorld,
} from "../support/pipelineWorld.ts";
import { isEnded } from "../../src/domain/vocabulary.ts";

/** Compares every request in memory with its row, and every open row with memory. */
async function expectMemoryIsTable(book: RequestBook, store: Store): Promise<void> {
  const inMemory = new Map(
    [...book.open(DESK_NETWORK), ...book.notFinal(DESK_NETWORK)].map((request) => [request.id, request]),
  );
  const ids = await store.db.selectFrom("requests").select("id").execute();
  const rows = await Promise.all(
    ids.map(async ({ id }) => parseStoredRequest((await findRequest(store.db, id))!)),
  );
  const expected = rows.filter(({ id, state }) => inMemory.has(id) || !isEnded(state));
  const byId = (one: OpenRequest, other: OpenRequest): number => (one.id < other.id ? -1 : 1);
  expect([...inMemory.values()].sort(byId)).toEqual(expected.sort(byId));
}

/** Returns the messages of an error and its causes. */
function causes(error: unknown): string {
  return error instanceof Error ? `${error.message}; ${causes(error.cause)}` : String(error);
}

/** Returns a write whose connection is lost before the answer arrives. */
function loseAnswer(write: Store["write"]): Store["write"] {
  return async (work) => {
    await write(work);
    throw new DatabaseAwayError(new Error("Connection terminated unexpectedly"));
  };
}

/** Returns a database whose queries all fail the same way. */
function failing(query: () => Promise<never>): Store["db"] {
  const chain: unknown = new Proxy(query, {
    get: (_, name) => (name === "execute" || name === "executeTakeFirst" ? query : () => chain),
  });
  return chain as Store["db"];
}

describe("the book", () => {
  let folder: string;
  let store: Store;
  let broken: Store;
  let failsAfterCommit: boolean;
  let book: RequestBook;
  let request: OpenRequest;
  let other: OpenRequest;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tyche-failed-writes-"));
    store = await openStore(createSqliteDialect(join(folder, "tyche.db")));
    failsAfterCommit = false;
    const write: Store["write"] = async (work) => {
      const result = await store.write(work);
      if (failsAfterCommit) throw new Error("the answer failed");
      return result;
    };
    broken = { ...store, write, writeSoon: write };
    await insertDapp(store.db, { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1 });
    book = createRequestBook(broken);
    [request, other] = [makeRequest("random", "0x"), makeRequest("random", "0x")];
    await book.add(request);
    await book.add(other);
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const trigger = (on: string): Promise<unknown> =>
    sql
      .raw(`CREATE TRIGGER refusal BEFORE ${on} BEGIN SELECT RAISE(ABORT, 'refused by a trigger'); END`)
      .execute(store.db);
  const end = (of: OpenRequest): Change => ({
    request: of,
    state: "fulfilled",
    outcome: { transactionHash: "0x1", requestId: "0x2", words: ["1"] },
    endedIn: { number: 7, hash: "0x7" },
  });

  /** Ways to make the next write fail, and a text that the error contains. */
  const FAULTS: Readonly<Record<string, { readonly text: string; readonly begin: () => Promise<unknown> }>> =
    {
      "in its first statement": {
        text: "refused by a trigger",
        begin: () => trigger(`UPDATE ON requests WHEN NEW.id = '${request.id}'`),
      },
      "in a later statement": {
        text: "refused by a trigger",
        begin: () => trigger(`UPDATE ON requests WHEN NEW.id = '${other.id}'`),
      },
      "with a disk that is full": {
        text: "full",
        begin: async () => {
          const { rows } = await sql<{ page_count: number }>`PRAGMA page_count`.execute(store.db);
          await sql.raw(`PRAGMA max_page_count = ${rows[0]!.page_count}`).execute(store.db);
        },
      },
      "when it is committed": {
        text: "FOREIGN KEY",
        begin: async () => {
          const violation =
            "INSERT INTO consumers VALUES ('dapp_of_nobody', 'sepolia', NEW.id, '0x', 1, 1)".replace(
              ", 1)",
              ")",
            );
          await sql
            .raw(
              `CREATE TRIGGER refusal AFTER UPDATE ON requests WHEN NEW.id = '${request.id}' BEGIN ${violation}; END`,
            )
            .execute(store.db);
        },
      },
    };
  const also = (db: Store["db"]): Promise<unknown> => sql`PRAGMA defer_foreign_keys = ON`.execute(db);
  /** Large enough to need pages that a full disk lacks. */
  const long = (of: OpenRequest): Change => ({ ...end(of), detail: "x".repeat(100_000) });

  test.each(Object.keys(FAULTS))("a write that fails %s changes nothing, and works later", async (name) => {
    const { text, begin } = FAULTS[name]!;
    await begin();
    const before = structuredClone([request, other]);
    const told: string[] = [];
    for (const { id } of before) book.listen(id, (one) => told.push(one.id));
    const write = () =>
      book.change(
        () => [long(request), long(other)],
        async (db) => void (await also(db)),
      );
    await expect(write()).rejects.toThrow(text);
    expect([request, other]).toEqual(before);
    expect(told).toEqual([]);
    await expectMemoryIsTable(book, store);

    await sql`DROP TRIGGER IF EXISTS refusal`.execute(store.db);
    await sql`PRAGMA max_page_count = 1000000`.execute(store.db);
    await write();
    expect(told).toEqual([request.id, other.id]);
    expect(request).toMatchObject({ state: "fulfilled", version: 2 });
    await expectMemoryIsTable(book, store);
  });

  test("a write that fails after it was committed is in memory, too", async () => {
    failsAfterCommit = true;
    await expect(book.change(() => [end(request)])).rejects.toThrow("the answer failed");
    expect(request.state).toBe("fulfilled");
    await expectMemoryIsTable(book, store);
    failsAfterCommit = false;
    await book.change(() => [{ request, state: "submitted" }]);
    await expectMemoryIsTable(book, store);
  });

  test("a new request that can't be stored is nowhere", async () => {
    await trigger("INSERT ON requests");
    await expect(book.add(makeRequest("random", "0x"))).rejects.toThrow("refused by a trigger");
    expect(book.openCount()).toBe(2);
    await expectMemoryIsTable(book, store);
  });

  test("a new request whose storing fails after it was committed is in work", async () => {
    failsAfterCommit = true;
    await expect(book.add(makeRequest("random", "0x"))).rejects.toThrow("the answer failed");
    expect(book.openCount()).toBe(3);
    await expectMemoryIsTable(book, store);
  });

  test("a new request whose answer was lost with the connection is found, and stored once", async () => {
    const reads = vi.fn<() => Promise<never>>(() =>
      Promise.reject(new DatabaseAwayError(new Error("connect ECONNREFUSED"))),
    );
    const away = { ...store, writeSoon: loseAnswer((work) => store.write(work)) };
    Object.defineProperty(away, "db", {
      get: () => (reads.mock.calls.length < 2 ? failing(reads) : store.db),
    });
    const [lost, together] = [makeRequest("random", "0x"), makeRequest("random", "0x")];
    book = createRequestBook(away);
    await Promise.all([book.add(lost), book.add(together)]);
    expect(reads).toHaveBeenCalledTimes(2);
    expect(book.openCount()).toBe(2);
    const again = createRequestBook({ ...store, writeSoon: loseAnswer(async () => undefined as never) });
    await expect(again.add(makeRequest("random", "0x"))).rejects.toThrow(DatabaseAwayError);
    expect(again.openCount()).toBe(0);
  });

  test("a change of an older version is refused by the database, and memory takes the newer one", async () => {
    const second = createRequestBook(store);
    const same = (await second.find(request.id))!;
    second.restore([same]);
    await second.change(() => [{ request: same, state: "submitted", transactionHash: "0x5" }]);
    await expect(book.change(() => [end(request)])).rejects.toMatchObject({ code: "store_conflict" });
    expect(request).toEqual(same);
    await expectMemoryIsTable(book, store);
    await book.change(() => [end(request)]);
    expect(request.timeline.map(({ state }) => state)).toEqual(["received", "submitted", "fulfilled"]);
    await expectMemoryIsTable(book, store);
  });

  test("what to change is decided when its turn comes", async () => {
    const late = (): Change[] =>
      isEnded(request.state) ? [] : [{ request, state: "failed", error: { code: "late", message: "" } }];
    await Promise.all([book.change(() => [end(request)]), book.change(late)]);
    expect(request).toMatchObject({ state: "fulfilled", error: null });
    await expectMemoryIsTable(book, store);
  });
});

describe("a pipeline", () => {
  let world: PipelineWorld;
  let pipeline: OpenPipeline;
  beforeAll(async () => {
    world = await startPipelineWorld();
    pipeline = await world.open();
    await world.storeSource(pipeline.pipeline);
  });
  afterAll(async () => {
    await pipeline.close();
    await world.close();
  });

  const STEPS = {
    "the signed transaction": "INSERT ON transactions",
    "the state submitted": "UPDATE ON requests WHEN NEW.state = 'submitted'",
    "word and result": "UPDATE ON requests WHEN NEW.state = 'fulfilled'",
  };

  test.each(Object.entries(STEPS))(
    "%s can't be stored, memory stays as the table, and the request ends once that is over",
    async (_name, on) => {
      const { store, book } = pipeline;
      await sql
        .raw(`CREATE TRIGGER refusal BEFORE ${on} BEGIN SELECT RAISE(ABORT, 'refused by a trigger'); END`)
        .execute(store.db);
      const errors = world.errors.length;
      const { id } = await pipeline.accept("preset");
      await vi.waitFor(
        () => expect(world.errors.slice(errors).map(causes).join()).toContain("refused by a trigger"),
        { interval: 10 },
      );
      // What is written in turn, such as why a request waits, is in the table before it is in memory.
      await book.change(
        () => [],
        (db) => expectMemoryIsTable(book, { ...store, db }),
      );
      await sql`DROP TRIGGER refusal`.execute(store.db);
      const ended = await pipeline.ended(id);
      expect(ended).toMatchObject({ state: "fulfilled", error: null });
      expect(ended.timeline.map(({ state }) => state)).toEqual([
        "received",
        "submitted",
        "randomness",
        "fulfilled",
      ]);
    },
  );
});
