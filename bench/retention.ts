/**
 * How much space do ended requests take in the database, and how much remains after each kind of `keep`?
 *
 * Question: a SQLite database with old requests, a third each of presets, functions with a source of 1 KB, and random words; five of them per
 * transaction. Measured: the used part of the file (pages that aren't free) and the size of the compacted file, at first and after payloads, spent
 * transactions and requests have been removed; also, how many rows are removed per second with no other load, how long one write takes including its
 * flush, and how long the thread is blocked. Each row count is checked once. Left out: concurrent traffic, PostgreSQL, and the chains' own folders.
 *
 * Run: `node bench/retention.ts [--requests 100000] [--json FILE]`
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { firstId } from "../src/domain/id.ts";
import { createRetention } from "../src/requests/keep/retention.ts";
import type { Keep } from "../src/store/retention.ts";
import { insertDapp } from "../src/store/dapps.ts";
import { insertRequests, type StoredRequest } from "../src/store/requests.ts";
import { createSqliteDialect } from "../src/store/sqliteDialect.ts";
import { openStore, type Store } from "../src/store/store.ts";
import { endTransaction, insertTransaction } from "../src/store/transactions.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { formatTable, parseReportTarget, writeReport } from "./support/report.ts";

const { values } = parseArgs({
  options: { requests: { type: "string", default: "100000" }, json: { type: "string" } },
});
const count = Number(values.requests);
const DAY_MS = 86_400_000;
const BEGAN = Date.now() - 60 * DAY_MS;
const KEPT_DAYS = 30;
const ROWS_AT_ONCE = 1_000;
const REQUESTS_OF_TRANSACTION = 5;
/** Signed calldata of five such requests, as hex. */
const RAW = `0x${"5a".repeat(3_000)}` as const;
const HASH = `0x${"ab".repeat(32)}` as const;
const OPERATOR = `0x${"cd".repeat(20)}` as const;
const NETWORK = "sepolia";
const RUN = { transactionHash: HASH, requestId: HASH, result: HASH, parsedResult: "7", err: "0x" };

const PARTS = [
  {
    kind: "preset",
    params: { preset: "range", min: "1", max: "9" },
    progress: { sourceHash: HASH, args: ["1", "9"], returnType: "uint256" },
    outcome: { ...RUN, vrfTransactionHash: HASH },
  },
  {
    kind: "function",
    params: { source: "//".padEnd(1_024, "x"), args: ["7", "8"], returnType: "string" },
    progress: { returnType: "string" },
    outcome: RUN,
  },
  {
    kind: "random",
    params: { numWords: 2, confirmations: 1, keyHash: HASH },
    progress: {},
    outcome: { transactionHash: HASH, requestId: HASH, words: ["7".repeat(77), "8".repeat(77)] },
  },
] as const;

function requestAt(place: number): StoredRequest {
  const createdAt = BEGAN + place;
  const { kind, params, progress, outcome } = PARTS[place % PARTS.length]!;
  const states = ["received", "submitted", "randomness", "executing", "fulfilled"] as const;
  return {
    id: firstId("req", createdAt),
    dappId: "dapp_a",
    kind,
    network: NETWORK,
    params,
    idempotencyKey: null,
    bodyHash: HASH,
    createdAt,
    updatedAt: createdAt,
    state: "fulfilled",
    why: null,
    timeline: states.map((state, i) => ({ seq: i + 1, state, at: createdAt + i, transactionHash: HASH })),
    progress: { ...progress, transactionHashes: [HASH], nonce: place, entry: 0, item: 0, vrfRequestId: HASH },
    outcome,
    error: null,
    endedIn: { number: 1 + Math.floor(place / REQUESTS_OF_TRANSACTION), hash: HASH },
    version: 1,
  };
}

async function fill(store: Store): Promise<void> {
  await insertDapp(store.db, { id: "dapp_a", name: "a", facilities: [], createdAt: 1 });
  for (let place = 0; place < count; place += ROWS_AT_ONCE) {
    const requests = Array.from({ length: Math.min(ROWS_AT_ONCE, count - place) }, (_, i) =>
      requestAt(place + i),
    );
    await store.db.transaction().execute(async (db) => {
      await insertRequests(db, requests);
      for (let i = 0; i < requests.length; i += REQUESTS_OF_TRANSACTION) {
        const carried = requests.slice(i, i + REQUESTS_OF_TRANSACTION).map(({ id }) => id);
        const nonce = (place + i) / REQUESTS_OF_TRANSACTION;
        const hash = `0x${nonce.toString(16).padStart(64, "0")}` as const;
        const payload = { kind: "submit", entries: [carried] };
        const signed = { hash, network: NETWORK, sender: OPERATOR, nonce, raw: RAW, payload };
        await insertTransaction(db, { ...signed, createdAt: BEGAN + place });
        await endTransaction(db, hash, "mined");
      }
    });
  }
}

interface Room {
  /** Bytes of the pages in use. */
  readonly used: number;
  /** Size of the compacted file, in bytes. */
  readonly compacted: number;
}

async function readRoom(store: Store): Promise<Room> {
  const read = async (name: string): Promise<number> => {
    const { rows } = await sql<Record<string, number>>`PRAGMA ${sql.raw(name)}`.execute(store.db);
    return rows[0]![name]!;
  };
  const used = ((await read("page_count")) - (await read("freelist_count"))) * (await read("page_size"));
  const copy = path.join(folder, "compacted");
  await sql`VACUUM INTO ${sql.lit(copy)}`.execute(store.db);
  const compacted = statSync(copy).size;
  rmSync(copy);
  return { used, compacted };
}

interface Pass {
  readonly kept: string;
  readonly room: Room;
  readonly rowsPerSecond: number;
  readonly writeMs: { readonly p50: number; readonly p99: number };
  readonly heldMs: { readonly p99: number; readonly max: number };
}

async function measurePass(store: Store, kept: string, keep: Keep, rows: number): Promise<Pass> {
  const writes: number[] = [];
  const timed: Store = {
    ...store,
    async write(work) {
      const began = performance.now();
      const result = await store.write(work);
      writes.push(performance.now() - began);
      return result;
    },
  };
  const delay = monitorEventLoopDelay({ resolution: 1 });
  // The pauses of a pass don't keep the process alive.
  const alive = setInterval(() => {}, DAY_MS);
  delay.enable();
  const began = performance.now();
  await createRetention({
    network: NETWORK,
    store: timed,
    operator: OPERATOR,
    keep,
    finalNumber: async () => BigInt(count),
  }).pass();
  const seconds = (performance.now() - began) / 1_000;
  delay.disable();
  clearInterval(alive);
  const sorted = writes.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)]!;
  return {
    kept,
    room: await readRoom(store),
    rowsPerSecond: rows / seconds,
    writeMs: { p50: at(0.5), p99: at(0.99) },
    heldMs: { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 },
  };
}

async function countRows(store: Store, table: "requests" | "transactions"): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.table(table)}`.execute(store.db);
  return rows[0]!.n;
}

const machine = readMachine();
const folder = mkdtempSync(path.join(tmpdir(), "tyche-retention-"));
const file = path.join(folder, "tyche.sqlite");
const store = await openStore(createSqliteDialect(file), { file });
try {
  await fill(store);
  const before = await readRoom(store);
  const transactions = await countRows(store, "transactions");
  const sent = Math.ceil((count * 2) / 3);
  const passes = [
    await measurePass(store, "without payloads", { payloadDays: KEPT_DAYS }, sent),
    await measurePass(store, "nor spent transactions", { transactionDays: KEPT_DAYS }, transactions),
    await measurePass(store, "nor requests", { requestDays: KEPT_DAYS }, count),
  ];
  if ((await countRows(store, "requests")) !== 0) throw new Error("requests are left");
  if ((await countRows(store, "transactions")) > 1_001) throw new Error("transactions are left");
  const each = (bytes: number): string => String(Math.round(bytes / count));
  const text = [
    describeMachine(machine),
    `${count.toLocaleString("en")} requests and ${transactions.toLocaleString("en")} transactions on SQLite`,
    formatTable(
      ["Bytes a request", "in use", "compacted", "rows/s", "write p50", "p99", "held p99", "max ms"],
      [
        ["everything", each(before.used), each(before.compacted), "", "", "", "", ""],
        ...passes.map(({ kept, room, rowsPerSecond, writeMs, heldMs }) => [
          kept,
          each(room.used),
          each(room.compacted),
          rowsPerSecond.toFixed(0),
          writeMs.p50.toFixed(1),
          writeMs.p99.toFixed(1),
          heldMs.p99.toFixed(1),
          heldMs.max.toFixed(1),
        ]),
      ],
    ),
  ].join("\n");
  writeReport(parseReportTarget(process.argv.slice(2)), { text, data: { machine, count, before, passes } });
} finally {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}
