import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue } from "node:sqlite";
import { Kysely, type CompiledQuery, type Dialect } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  countDueBefore,
  countWaitingRuns,
  deleteLogTrigger,
  deleteUnsentRuns,
  findLogCursor,
  listDueLanes,
  listDueLogRuns,
  listLogTriggers,
  listRevertedRuns,
  listRunLogs,
  listSeenRuns,
  makeDue,
  noteReverted,
} from "../../src/store/logTriggers.ts";
import { listRequests, listRequestsByOracleIds, listRequestsOnChain } from "../../src/store/requestLists.ts";
import {
  addEvents,
  countDaysTried,
  countUndelivered,
  deleteOldEvents,
  listAttempts,
  listDueDeliveries,
  replayDeliveries,
  saveAttempt,
} from "../../src/store/outbox.ts";
import { createPostgresDialect } from "../../src/store/postgresDialect.ts";
import {
  findRequestByKey,
  listEndedBlocks,
  listOpenRequests,
  listNotFinalRequests,
} from "../../src/store/requests.ts";
import { listOldRequests, listOldTransactions } from "../../src/store/retention.ts";
import {
  deleteSchedule,
  findFirstTick,
  listDueSchedules,
  listSchedules,
  moveSchedule,
} from "../../src/store/schedules.ts";
import type { Tables } from "../../src/store/schema.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import { openStore } from "../../src/store/store.ts";
import type { Queryable } from "../../src/store/queryable.ts";
import { findLastNonce, listOpenTransactions, listTransactionsFrom } from "../../src/store/transactions.ts";
import {
  countDueRunsBefore,
  deleteEarlyRuns,
  deleteOldRuns,
  endRun,
  findOpenRequestOf,
  listDueRuns,
  listDueScheduleIds,
  listRuns,
  noteWait,
} from "../../src/store/triggerRuns.ts";
import { changeWebhook, listWebhooks, noteFailure, noteSuccess } from "../../src/store/webhooks.ts";
import { withPostgres } from "../support/databases.ts";

const network = "sepolia";
const dappId = "dapp_a";
const lane = { dappId, actionNetwork: network };
const attempt = {
  id: "att_1",
  webhook_id: "wh_1",
  event_id: "evt_1",
  at: 1,
  duration_ms: 1,
  status: 200,
  error: null,
  answer: "",
  answer_headers: null,
  next_at: null,
};

const QUERIES: Readonly<Record<string, (on: Queryable) => Promise<unknown>>> = {
  listOpenRequests: (on) => listOpenRequests(on, network),
  listNotFinalRequests: (on) => listNotFinalRequests(on, network, { head: 5, depth: 5 }),
  listEndedBlocks: (on) => listEndedBlocks(on, network, { before: 5, limit: 5 }),
  findRequestByKey: (on) => findRequestByKey(on, dappId, "key"),
  listRequests: (on) => listRequests(on, { dappId, limit: 5, state: "failed" }),
  listRequestsOnChain: (on) => listRequestsOnChain(on, { networks: [network], limit: 5, before: "req_1" }),
  listRequestsByOracleIds: (on) => listRequestsByOracleIds(on, { network, oracleIds: ["0xa", "0xb"] }),
  listOldRequests: (on) => listOldRequests(on, { dappId, network, after: "", before: "z", limit: 5 }),
  listOpenTransactions: (on) => listOpenTransactions(on, network),
  listTransactionsFrom: (on) => listTransactionsFrom(on, { network, sender: "0xa", nonce: 5 }),
  listOldTransactions: (on) =>
    listOldTransactions(on, { network, sender: "0xa", from: 0, before: 5, limit: 5 }),
  findLastNonce: (on) => findLastNonce(on, network, "0xa"),
  addEvents: (on) =>
    addEvents(on, [{ id: "evt_1", dappId, type: "none", subject: null, at: 1, write: () => "{}" }]),
  listDueDeliveries: (on) => listDueDeliveries(on, { webhookId: "wh_1", isPaused: false, now: 5, limit: 5 }),
  saveAttempt: (on) => saveAttempt(on, attempt, { state: "delivered", attempts: 1 }),
  listAttempts: (on) => listAttempts(on, { webhookId: "wh_1", limit: 5, before: "att_1" }),
  listAttemptsOfEvent: (on) => listAttempts(on, { webhookId: "wh_1", limit: 5, eventId: "evt_1" }),
  countDaysTried: (on) => countDaysTried(on, "wh_1", 5),
  countUndelivered: (on) => countUndelivered(on, ["wh_1"]),
  replayOne: (on) => replayDeliveries(on, "wh_1", { eventId: "evt_1" }, 5),
  replaySince: (on) => replayDeliveries(on, "wh_1", { fromId: "evt_1" }, 5),
  deleteOldEvents: (on) => deleteOldEvents(on, { eventId: "evt_1", attemptId: "att_1" }),
  listWebhooks: (on) => listWebhooks(on, dappId),
  changeWebhook: (on) => changeWebhook(on, "wh_1", { description: "" }),
  noteSuccess: (on) => noteSuccess(on, "wh_1", 1),
  noteFailure: (on) => noteFailure(on, "wh_1", 1),
  listSchedules: (on) => listSchedules(on, dappId),
  listDueSchedules: (on) => listDueSchedules(on, 5, 5),
  deleteEarlyRuns: (on) => deleteEarlyRuns(on, "sch_1", 5),
  findFirstTick: (on) => findFirstTick(on),
  moveSchedule: (on) => moveSchedule(on, { id: "sch_1", nextAt: 5 }, 6),
  deleteSchedule: (on) => deleteSchedule(on, "sch_1"),
  listDueScheduleIds: (on) => listDueScheduleIds(on),
  listDueRuns: (on) => listDueRuns(on, "sch_1", 5),
  countDueRunsBefore: (on) => countDueRunsBefore(on, { id: "run_1", trigger_id: "sch_1" }),
  noteWait: (on) => noteWait(on, "run_1", ""),
  endRun: (on) => endRun(on, "run_1", { state: "skipped", reason: "key", detail: "", request_id: null }),
  findOpenRequestOf: (on) => findOpenRequestOf(on, "sch_1"),
  listRuns: (on) => listRuns(on, { triggerId: "sch_1", limit: 5, before: "run_1" }),
  deleteOldRuns: (on) => deleteOldRuns(on, "run_1"),
  listLogTriggers: (on) => listLogTriggers(on, dappId),
  deleteLogTrigger: (on) => deleteLogTrigger(on, "trg_1"),
  findLogCursor: (on) => findLogCursor(on, network),
  countWaitingRuns: (on) => countWaitingRuns(on, dappId),
  listRunLogs: (on) => listRunLogs(on, ["run_1"]),
  listSeenRuns: (on) => listSeenRuns(on, network, { confidence: "safe", through: 5, limit: 5 }),
  makeDue: (on) => makeDue(on, ["run_1"]),
  deleteUnsentRuns: (on) => deleteUnsentRuns(on, ["run_1"]),
  listRevertedRuns: (on) => listRevertedRuns(on, { network, from: 5 }),
  findRevertedRun: (on) => listRevertedRuns(on, { runId: "run_1" }),
  noteReverted: (on) => noteReverted(on, ["run_1"], 5),
  listDueLanes: (on) => listDueLanes(on),
  listDueLogRuns: (on) => listDueLogRuns(on, lane, 5),
  countDueBefore: (on) => countDueBefore(on, lane, { from: "run_1", through: "run_2" }),
};

/** Runs each query, and expects `findScans` to find nothing in its statements. */
function testQueries(
  open: () => {
    readonly dialect: Dialect;
    readonly findScans: (query: CompiledQuery) => Promise<readonly unknown[]>;
  },
): void {
  test.each(Object.keys(QUERIES))("%s looks through no table, however many rows it has", async (name) => {
    const { dialect, findScans } = open();
    const queries: CompiledQuery[] = [];
    const db = new Kysely<Tables>({ dialect, log: ({ query }) => void queries.push(query) });
    await QUERIES[name]!(db);
    await db.destroy();
    const statements = queries.filter(({ sql }) => /^(select|insert|update|delete)/i.test(sql));
    expect(statements.length).toBeGreaterThan(0);
    for (const one of statements) expect(await findScans(one)).toEqual([]);
  });
}

describe("on SQLite", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-plans-"));
  const file = path.join(folder, "tyche.sqlite");
  let plans: DatabaseSync | undefined;
  beforeAll(async () => {
    await (await openStore(createSqliteDialect(file), { file })).close();
    plans = new DatabaseSync(file);
  });
  afterAll(() => {
    plans?.close();
    rmSync(folder, { recursive: true });
  });
  testQueries(() => ({
    dialect: createSqliteDialect(file),
    async findScans({ sql, parameters }) {
      const steps = plans!.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters as SQLInputValue[]));
      return steps.map(({ detail }) => detail).filter((detail) => String(detail).startsWith("SCAN"));
    },
  }));
});

describe("on PostgreSQL", () => {
  let url: string;
  let plans: Client | undefined;
  withPostgres.beforeAll(async ({ postgres }) => {
    url = await postgres.createDatabase();
    await (await openStore(createPostgresDialect(url))).close();
    plans = new Client({ connectionString: url });
    await plans.connect();
    // An empty table is looked through by choice; without this one only where no index helps.
    await plans.query("SET enable_seqscan = off");
  });
  afterAll(() => plans?.end());
  testQueries(() => ({
    dialect: createPostgresDialect(url),
    async findScans({ sql, parameters }) {
      const { rows } = await plans!.query(`EXPLAIN (FORMAT JSON) ${sql}`, [...parameters]);
      return scansOf(rows[0]["QUERY PLAN"][0].Plan);
    },
  }));
});

interface PlanNode {
  readonly "Node Type": string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Returns the steps of a plan that read a table, or an index from end to end. */
function scansOf(node: PlanNode): readonly PlanNode[] {
  const isScan = /^(Seq|Index|Index Only|Bitmap Index) Scan$/.test(node["Node Type"]);
  const own = isScan && node["Index Cond"] === undefined ? [node] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)];
}
