/**
 * How long do a dapp's request lists take when it has a million requests?
 *
 * Question: `GET /api/requests` over HTTP with every combination of its filters (state, kind, network), 100 a page: the first page and one
 * from the middle, and the same lists as pages of the web interface. Networks were used one after the other and few requests failed, so
 * most combinations are rare and many are empty: a filter without matches must not scan all rows. Also, the start of a service with that
 * many rows. The bound: no list takes longer than 50 ms. Each page is checked against its filter, once. Left out: concurrent writes, and
 * the chain data of the rows.
 *
 * Run: `node bench/requestLists.ts [--requests 1000000] [--json FILE]`
 */
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { openDappTools } from "../src/app/tools/dappTools.ts";
import { createId } from "../src/domain/id.ts";
import {
  REQUEST_KINDS,
  REQUEST_STATES,
  type RequestKind,
  type RequestState,
} from "../src/domain/vocabulary.ts";
import { insertRequests, type StoredRequest } from "../src/store/requests.ts";
import { createSqliteDialect } from "../src/store/sqliteDialect.ts";
import { openStore } from "../src/store/store.ts";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../test/support/tyche.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { formatTable, parseReportTarget, writeReport } from "./support/report.ts";

const { values } = parseArgs({
  options: { requests: { type: "string", default: "1000000" }, json: { type: "string" } },
});
const count = Number(values.requests);
const BOUND_MS = 50;
const ROUNDS = 3;
const ROWS_AT_ONCE = 1_000;
const NETWORKS = ["fantom_testnet", "polygon_mumbai", "sepolia", "fuji"] as const;
const MIDDLE_OF_NETWORKS = NETWORKS.length / 2;
/** One request in this many failed, all of them functions on the network used first. */
const FAILED_EVERY = 500;
const HASH = `0x${"ab".repeat(32)}` as const;

interface Filter {
  readonly state?: RequestState;
  readonly kind?: RequestKind;
  readonly network?: string;
}

interface Timing {
  readonly list: string;
  readonly rows: number;
  /** Median of the rounds. */
  readonly ms: number;
}

/** Returns the request at a position, oldest first. */
function requestAt(place: number, dappId: string): StoredRequest {
  const createdAt = Date.now() - (count - place) * 100;
  const network = NETWORKS[Math.floor((place / count) * NETWORKS.length)]!;
  const hasFailed = network === NETWORKS[0] && place % FAILED_EVERY === 0;
  const kind = hasFailed ? "function" : (["preset", "function", "random"] as const)[place % 3]!;
  const state = hasFailed ? "failed" : "fulfilled";
  const timeline = ["received", "submitted", "executing", state].map((each, i) => ({
    seq: i + 1,
    state: each as RequestState,
    at: createdAt + i * 5,
    ...(i === 0 ? {} : { transactionHash: HASH }),
  }));
  const run = { transactionHash: HASH, requestId: HASH, result: HASH, parsedResult: "7", err: "0x" };
  return {
    id: createId("req", createdAt),
    dappId,
    kind,
    network,
    params: PARAMS[kind],
    idempotencyKey: null,
    bodyHash: null,
    createdAt,
    state,
    why: null,
    timeline,
    progress: {
      transactionHashes: [HASH],
      nonce: place,
      ...(kind === "preset" ? { sourceHash: HASH, args: ["1", "9"] } : {}),
      returnType: "string",
    },
    outcome: hasFailed
      ? null
      : kind === "random"
        ? { transactionHash: HASH, requestId: HASH, words: ["7", "8"] }
        : run,
    error: hasFailed ? { code: "request_failed", message: "the request's transaction reverted" } : null,
    endedIn: null,
    version: 1,
    updatedAt: createdAt + 15,
  };
}

const PARAMS = {
  preset: { preset: "range", min: "1", max: "9" },
  function: { source: "return Functions.encodeString(args[0])", args: ["7"], returnType: "string" },
  random: { numWords: 2, confirmations: 1, keyHash: HASH },
} as const;

/** Fills the database of a stopped service and returns the id of the request in the middle. */
async function fill(dataDir: string, dappId: string): Promise<string> {
  const file = path.join(dataDir, "tyche.sqlite");
  const store = await openStore(createSqliteDialect(file), { file });
  let middle = "";
  try {
    for (let place = 0; place < count; place += ROWS_AT_ONCE) {
      const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, count - place) }, (_, i) =>
        requestAt(place + i, dappId),
      );
      if (place * NETWORKS.length <= MIDDLE_OF_NETWORKS * count) middle = rows[0]!.id;
      await store.db.transaction().execute(async (db) => await insertRequests(db, rows));
    }
  } finally {
    await store.close();
  }
  return middle;
}

function filters(): Filter[] {
  const orNone = <T>(all: readonly T[]): readonly (T | undefined)[] => [undefined, ...all];
  return orNone(REQUEST_STATES).flatMap((state) =>
    orNone(REQUEST_KINDS).flatMap((kind) =>
      orNone(NETWORKS).map((network) => ({
        ...(state === undefined ? {} : { state }),
        ...(kind === undefined ? {} : { kind }),
        ...(network === undefined ? {} : { network }),
      })),
    ),
  );
}

async function timed(action: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    await action();
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
}

async function timeList(tyche: TycheProcess, filter: Filter, cursor: string | undefined): Promise<Timing> {
  const query = new URLSearchParams({ ...filter, ...(cursor === undefined ? {} : { cursor }) }).toString();
  let items: readonly Filter[] = [];
  const ms = await timed(async () => {
    const { status, data } = await tyche.call("GET", `/api/requests?limit=100&${query}`);
    if (status !== 200) throw new Error(`${query} was answered ${status}: ${data.err}`);
    items = data.items;
  });
  for (const [name, value] of Object.entries(filter))
    if (items.some((item) => item[name as keyof Filter] !== value))
      throw new Error(`${query} lists a request whose ${name} is another`);
  const list = Object.values(filter).join(" ") || "all";
  return { list: cursor === undefined ? list : `${list}, from the middle`, rows: items.length, ms };
}

async function timePage(tyche: TycheProcess, dappId: string, filter: Filter): Promise<Timing> {
  const query = new URLSearchParams({ ...filter }).toString();
  const ms = await timed(async () => {
    const response = await fetch(`${tyche.url}/dapps/${dappId}/requests?${query}`);
    if (!response.ok) throw new Error(`the page of ${query} was answered ${response.status}`);
    await response.text();
  });
  return { list: `page: ${Object.values(filter).join(" ") || "all"}`, rows: 25, ms };
}

const machine = readMachine();
const dataDir = makeDataDir();
try {
  const first = await startTycheProcess({ dataDir });
  const made = await first.call("POST", "/api/vrfv2/presets?network=fuji", {
    body: { preset: "coinflip" },
  });
  if (made.status !== 200) throw new Error(`the first preset was answered ${made.status}`);
  await first.stop();
  const tools = await openDappTools(dataDir);
  const dappId = (await tools.dapps.list())[0]!.id;
  await tools.close();
  const middle = await fill(dataDir, dappId);

  const began = performance.now();
  const tyche = await startTycheProcess({ dataDir });
  const startMs = performance.now() - began;
  const timings: Timing[] = [];
  try {
    for (const filter of filters())
      for (const cursor of [undefined, middle]) timings.push(await timeList(tyche, filter, cursor));
    for (const filter of filters()) timings.push(await timePage(tyche, dappId, filter));
  } finally {
    await tyche.stop();
  }
  const bytes = readdirSync(dataDir)
    .filter((name) => name.startsWith("tyche.sqlite"))
    .reduce((sum, name) => sum + statSync(path.join(dataDir, name)).size, 0);
  const slowest = timings.toSorted((a, b) => b.ms - a.ms);
  const over = timings.filter(({ ms }) => ms > BOUND_MS).length;
  const text = [
    describeMachine(machine),
    `${count.toLocaleString("en")} requests, ${(bytes / 2 ** 20).toFixed(0)} MiB; ready ${(startMs / 1000).toFixed(1)} s after its start`,
    `${timings.length} lists: median ${slowest[Math.floor(slowest.length / 2)]!.ms.toFixed(1)} ms; ${over} above ${BOUND_MS} ms. The slowest:`,
    formatTable(
      ["List", "Rows", "ms"],
      slowest.slice(0, 12).map(({ list, rows, ms }) => [list, String(rows), ms.toFixed(1)]),
    ),
  ].join("\n");
  writeReport(parseReportTarget(process.argv.slice(2)), { text, data: { machine, startMs, timings } });
  process.exitCode = over === 0 ? 0 : 1;
} finally {
  removeDataDir(dataDir);
}
