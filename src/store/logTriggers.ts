import type { Selectable } from "kysely";
import type { LogConfidence } from "../domain/vocabulary.ts";
import { fromRow, toRow, type Stored } from "./columns.ts";
import type { Queryable } from "./queryable.ts";
import type { Tables } from "./schema.ts";
import { insertRuns, type StoredRun } from "./triggerRuns.ts";

type Row = Selectable<Tables["log_triggers"]>;

/** A stored log trigger. */
export interface StoredLogTrigger extends Omit<Stored<Row>, "selection" | "action"> {
  readonly selection: object;
  readonly action: Readonly<Record<string, unknown>>;
}

/** How far a network is read. */
export interface LogCursor {
  readonly identity: string;
  readonly block: number;
  /** Number and hash of some blocks, newest first. */
  readonly heads: readonly (readonly [number, string])[];
}

/** The log that a run is due for. */
export type StoredRunLog = Selectable<Tables["run_logs"]>;

/** Rows in one statement: databases limit its parameters. */
const ROWS = 500;

/** Stores a new trigger. */
export async function insertLogTrigger(db: Queryable, trigger: StoredLogTrigger): Promise<void> {
  const { selection, action } = trigger;
  const row = { ...trigger, selection: JSON.stringify(selection), action: JSON.stringify(action) };
  await db.insertInto("log_triggers").values(toRow<Row>(row)).execute();
}

/** Returns a trigger, of a dapp if one is given, or `undefined`. */
export async function findLogTrigger(
  db: Queryable,
  id: string,
  dappId?: string,
): Promise<StoredLogTrigger | undefined> {
  let query = db.selectFrom("log_triggers").selectAll().where("id", "=", id);
  if (dappId !== undefined) query = query.where("dapp_id", "=", dappId);
  const row = await query.executeTakeFirst();
  return row && parseRow(row);
}

/** Returns triggers, oldest first: a dapp's, or those of all dapps that are not paused. */
export async function listLogTriggers(db: Queryable, dappId?: string): Promise<StoredLogTrigger[]> {
  const query = db.selectFrom("log_triggers").selectAll().orderBy("id");
  const rows =
    dappId === undefined ? query.where("paused_at", "is", null) : query.where("dapp_id", "=", dappId);
  return (await rows.execute()).map(parseRow);
}

/** Stores what its owner changes; unless that is the first block, how far it is replayed stays as its reader has stored it meanwhile. */
export async function changeLogTrigger(
  db: Queryable,
  { id, fromBlock }: Pick<StoredLogTrigger, "id" | "fromBlock">,
  changes: Pick<
    StoredLogTrigger,
    "keyId" | "name" | "action" | "actionNetwork" | "fromBlock" | "replayFrom" | "pausedAt"
  >,
): Promise<void> {
  const first = { from_block: changes.fromBlock, replay_from: changes.replayFrom };
  await db
    .updateTable("log_triggers")
    .set({
      key_id: changes.keyId,
      name: changes.name,
      action: JSON.stringify(changes.action),
      action_network: changes.actionNetwork,
      paused_at: changes.pausedAt,
      ...(changes.fromBlock === fromBlock ? {} : first),
    })
    .where("id", "=", id)
    .execute();
}

/** Notes that triggers have been shown the logs before a block, unless they were resumed meanwhile. @param next `null`: all that were read. */
export async function noteReplay(
  db: Queryable,
  triggers: readonly Pick<StoredLogTrigger, "id" | "fromBlock">[],
  next: number | null,
): Promise<void> {
  for (const { id, fromBlock } of triggers)
    await db
      .updateTable("log_triggers")
      .set({ replay_from: next })
      .where("id", "=", id)
      .where("from_block", "=", fromBlock)
      .where("replay_from", "is not", null)
      .execute();
}

/** Deletes a trigger with its runs; their requests stay. */
export async function deleteLogTrigger(db: Queryable, id: string): Promise<void> {
  await db.deleteFrom("log_triggers").where("id", "=", id).execute();
  const runs = db.selectFrom("trigger_runs").select("id").where("trigger_id", "=", id);
  await db.deleteFrom("run_logs").where("run_id", "in", runs).execute();
  await db.deleteFrom("trigger_runs").where("trigger_id", "=", id).execute();
}

/** Deletes a dapp's triggers with their runs. */
export async function deleteLogTriggersOf(db: Queryable, dappId: string): Promise<void> {
  for (const { id } of await listLogTriggers(db, dappId)) await deleteLogTrigger(db, id);
}

/** Returns how far a network is read, or `undefined`. */
export async function findLogCursor(db: Queryable, network: string): Promise<LogCursor | undefined> {
  const row = await db
    .selectFrom("log_cursors")
    .selectAll()
    .where("network", "=", network)
    .executeTakeFirst();
  return row && { ...row, heads: JSON.parse(row.heads) as LogCursor["heads"] };
}

/** Stores how far a network is read. */
export async function saveLogCursor(
  db: Queryable,
  network: string,
  { identity, block, heads }: LogCursor,
): Promise<void> {
  const row = { identity, block, heads: JSON.stringify(heads) };
  await db
    .insertInto("log_cursors")
    .values({ network, ...row })
    .onConflict((conflict) => conflict.column("network").doUpdateSet(row))
    .execute();
}

/**
 * Returns the first block of each of these triggers that is there and not paused, by id. Until the transaction ends, none is changed or
 * deleted.
 */
export async function holdActive(
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .updateTable("log_triggers")
    .set((on) => ({ name: on.ref("name") }))
    .where("id", "in", [...ids])
    .where("paused_at", "is", null)
    .returning(["id", "from_block"])
    .execute();
  return new Map(rows.map((row) => [row.id, row.from_block]));
}

/** Stores runs with their logs, except those whose key their trigger has already. @returns the ids of those that are new. */
export async function insertLogRuns(
  db: Queryable,
  runs: readonly { readonly run: StoredRun; readonly log: Omit<StoredRunLog, "run_id"> }[],
): Promise<ReadonlySet<string>> {
  const inserted = new Set<string>();
  for (let i = 0; i < runs.length; i += ROWS) {
    const some = runs.slice(i, i + ROWS);
    const fresh = await insertRuns(
      db,
      some.map(({ run }) => run),
    );
    for (const { id } of fresh) inserted.add(id);
    const logs = some
      .filter(({ run }) => inserted.has(run.id))
      .map(({ run, log }) => ({ run_id: run.id, ...log }));
    if (logs.length > 0) await db.insertInto("run_logs").values(logs).execute();
    const known = some.filter(({ run }) => !inserted.has(run.id)).map(({ run }) => run);
    if (known.length > 0) await restoreRuns(db, known);
  }
  return inserted;
}

/** Makes runs whole again whose logs a reorg removed, and another one brought back. */
async function restoreRuns(
  db: Queryable,
  runs: readonly Pick<StoredRun, "trigger_id" | "key">[],
): Promise<void> {
  const ids = db
    .selectFrom("trigger_runs")
    .select("id")
    .where("trigger_id", "in", [...new Set(runs.map(({ trigger_id }) => trigger_id))])
    .where("key", "in", [...new Set(runs.map(({ key }) => key))]);
  await db
    .updateTable("run_logs")
    .set({ reverted_at: null })
    .where("run_id", "in", ids)
    .where("reverted_at", "is not", null)
    .execute();
  await db
    .updateTable("trigger_runs")
    .set({ state: "due", reason: null, detail: null })
    .where("id", "in", ids)
    .where("reason", "=", "reverted")
    .execute();
}

/** Counts the runs of logs that wait of a dapp's triggers, except paused ones. */
export async function countWaitingRuns(db: Queryable, dappId: string): Promise<number> {
  const { count } = await db
    .selectFrom("trigger_runs as run")
    .innerJoin("log_triggers as trigger", "trigger.id", "run.trigger_id")
    .select((on) => on.fn.countAll<number | string>().as("count"))
    .where("run.state", "in", ["seen", "due"])
    .where("trigger.dapp_id", "=", dappId)
    .where("trigger.paused_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns the logs of runs. */
export async function listRunLogs(db: Queryable, runIds: readonly string[]): Promise<StoredRunLog[]> {
  if (runIds.length === 0) return [];
  return await db
    .selectFrom("run_logs")
    .selectAll()
    .where("run_id", "in", [...runIds])
    .execute();
}

/** Returns runs whose block is not known to be safe, or finalized, up to a block. */
export async function listSeenRuns(
  db: Queryable,
  network: string,
  range: { readonly confidence: LogConfidence; readonly through: number; readonly limit: number },
): Promise<Pick<StoredRunLog, "run_id" | "block_number" | "block_hash">[]> {
  return await db
    .selectFrom("trigger_runs as run")
    .innerJoin("run_logs as log", "log.run_id", "run.id")
    .innerJoin("log_triggers as trigger", "trigger.id", "run.trigger_id")
    .select(["log.run_id", "log.block_number", "log.block_hash"])
    .where("run.state", "=", "seen")
    .where("log.network", "=", network)
    .where("trigger.confidence", "=", range.confidence)
    .where("log.block_number", "<=", range.through)
    .orderBy("run.id")
    .limit(range.limit)
    .execute();
}

/** Makes seen runs due. */
export async function makeDue(db: Queryable, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  await db
    .updateTable("trigger_runs")
    .set({ state: "due" })
    .where("id", "in", [...runIds])
    .where("state", "=", "seen")
    .execute();
}

/** Deletes runs that have no request, with their logs. */
export async function deleteUnsentRuns(db: Queryable, runIds: readonly string[]): Promise<void> {
  for (let i = 0; i < runIds.length; i += ROWS) {
    const unsent = await db
      .deleteFrom("trigger_runs")
      .where("id", "in", runIds.slice(i, i + ROWS))
      .where("state", "in", ["seen", "due"])
      .returning("id")
      .execute();
    const ids = unsent.map(({ id }) => id);
    if (ids.length > 0) await db.deleteFrom("run_logs").where("run_id", "in", ids).execute();
  }
}

/** A run whose log a reorg removed. */
export interface RevertedRun extends Omit<StoredRunLog, "args"> {
  readonly state: StoredRun["state"];
  readonly requestId: string | null;
  readonly confidence: LogConfidence;
  readonly trigger: Pick<StoredLogTrigger, "id" | "dappId" | "name">;
}

/** Returns the runs of logs in a network's blocks from a number on that are not known to be reverted; or a run that is. */
export async function listRevertedRuns(
  db: Queryable,
  which: { readonly network: string; readonly from: number } | { readonly runId: string },
): Promise<RevertedRun[]> {
  const query = db
    .selectFrom("run_logs as log")
    .innerJoin("trigger_runs as run", "run.id", "log.run_id")
    .innerJoin("log_triggers as trigger", "trigger.id", "run.trigger_id")
    .select(["log.run_id", "log.network", "log.block_number", "log.block_hash", "log.transaction_hash"])
    .select(["log.log_index", "log.reverted_at"])
    .select(["run.state", "run.request_id", "trigger.id", "trigger.dapp_id", "trigger.name"])
    .select("trigger.confidence");
  const rows = await (
    "runId" in which
      ? query.where("log.run_id", "=", which.runId).where("log.reverted_at", "is not", null)
      : query
          .where("log.network", "=", which.network)
          .where("log.block_number", ">=", which.from)
          .where("log.reverted_at", "is", null)
  )
    .orderBy("log.run_id")
    .execute();
  return rows.map(({ id, dapp_id, name, request_id, ...row }) => ({
    ...row,
    requestId: request_id,
    trigger: { id, dappId: dapp_id, name },
  }));
}

/** Notes that a reorg removed the logs of runs. */
export async function noteReverted(db: Queryable, runIds: readonly string[], at: number): Promise<void> {
  for (let i = 0; i < runIds.length; i += ROWS)
    await db
      .updateTable("run_logs")
      .set({ reverted_at: at })
      .where("run_id", "in", runIds.slice(i, i + ROWS))
      .execute();
}

/** A dapp, and a network that its runs of logs act on. */
export interface RunLane {
  readonly dappId: string;
  readonly actionNetwork: string;
}

/** Returns whose runs of logs are due and not paused. */
export async function listDueLanes(db: Queryable): Promise<RunLane[]> {
  const rows = await db
    .selectFrom("trigger_runs as run")
    .innerJoin("log_triggers as trigger", "trigger.id", "run.trigger_id")
    .select(["trigger.dapp_id", "trigger.action_network"])
    .distinct()
    .where("run.state", "=", "due")
    .where("trigger.paused_at", "is", null)
    .execute();
  return rows.map(({ dapp_id, action_network }) => ({ dappId: dapp_id, actionNetwork: action_network }));
}

/** Returns runs of logs that are due and not paused, oldest first. @param except ids of triggers whose runs are left out. */
export async function listDueLogRuns(
  db: Queryable,
  { dappId, actionNetwork }: RunLane,
  limit: number,
  except: ReadonlySet<string> = new Set(),
): Promise<StoredRun[]> {
  return await db
    .selectFrom("trigger_runs as run")
    .innerJoin("log_triggers as trigger", "trigger.id", "run.trigger_id")
    .selectAll("run")
    .where("run.state", "=", "due")
    .where("trigger.dapp_id", "=", dappId)
    .where("trigger.action_network", "=", actionNetwork)
    .where("trigger.paused_at", "is", null)
    .$if(except.size > 0, (query) => query.where("run.trigger_id", "not in", [...except]))
    .orderBy("run.id")
    .limit(limit)
    .execute();
}

/** Counts, for each run of logs that is due of a range, those that are due before it. @returns the counts by run id. */
export async function countDueBefore(
  db: Queryable,
  { dappId, actionNetwork }: RunLane,
  range: { readonly from: string; readonly through: string },
): Promise<ReadonlyMap<string, number>> {
  const queue = db
    .selectFrom("trigger_runs as run")
    .innerJoin("log_triggers as trigger", "trigger.id", "run.trigger_id")
    .where("run.state", "=", "due")
    .where("trigger.dapp_id", "=", dappId)
    .where("trigger.action_network", "=", actionNetwork)
    .where("trigger.paused_at", "is", null);
  const { count } = await queue
    .select((on) => on.fn.countAll<number | string>().as("count"))
    .where("run.id", "<", range.from)
    .executeTakeFirstOrThrow();
  const rows = await queue
    .select("run.id")
    .where("run.id", ">=", range.from)
    .where("run.id", "<=", range.through)
    .orderBy("run.id")
    .execute();
  return new Map(rows.map(({ id }, i) => [id, Number(count) + i]));
}

function parseRow(row: Row): StoredLogTrigger {
  return {
    ...fromRow(row),
    selection: JSON.parse(row.selection) as object,
    action: JSON.parse(row.action) as StoredLogTrigger["action"],
  };
}
