import type { Selectable } from "kysely";
import type { Queryable } from "./queryable.ts";
import type { Tables } from "./schema.ts";

/** One time that a trigger was due: its request, or why there is none. */
export type StoredRun = Selectable<Tables["trigger_runs"]>;

/** Key of a run that its owner asked for; ticks have their time. */
export const ASKED = "now ";
/** How many of a trigger's newest requests are looked at for one that has not ended. */
const LOOKED_AT = 20;

/** Stores runs, except those whose key their trigger has already. @returns those that are new. */
export async function insertRuns(db: Queryable, runs: readonly StoredRun[]): Promise<StoredRun[]> {
  if (runs.length === 0) return [];
  return await db
    .insertInto("trigger_runs")
    .values([...runs])
    .onConflict((conflict) => conflict.columns(["trigger_id", "key"]).doNothing())
    .returningAll()
    .execute();
}

/** Returns the ids of schedules with runs that are due. */
export async function listDueScheduleIds(db: Queryable): Promise<string[]> {
  const rows = await db
    .selectFrom("trigger_runs")
    .select("trigger_id")
    .distinct()
    .where("state", "=", "due")
    .where("trigger_id", "like", "sch%")
    .execute();
  return rows.map(({ trigger_id }) => trigger_id);
}

/** Returns a trigger's runs that are due, oldest first. */
export async function listDueRuns(db: Queryable, triggerId: string, limit: number): Promise<StoredRun[]> {
  return await db
    .selectFrom("trigger_runs")
    .selectAll()
    .where("state", "=", "due")
    .where("trigger_id", "=", triggerId)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Returns when a schedule's newest tick was due of those that are still due, in Unix ms; −Infinity without one. */
export async function findNewestDueTick(db: Queryable, scheduleId: string): Promise<number> {
  const row = await db
    .selectFrom("trigger_runs")
    .select((on) => on.fn.max("at").as("at"))
    .where("state", "=", "due")
    .where("trigger_id", "=", scheduleId)
    .where("key", "not like", `${ASKED}%`)
    .executeTakeFirst();
  return row?.at ?? -Infinity;
}

/** Counts a trigger's runs that are due before one. */
export async function countDueRunsBefore(
  db: Queryable,
  { id, trigger_id }: Pick<StoredRun, "id" | "trigger_id">,
): Promise<number> {
  const { count } = await db
    .selectFrom("trigger_runs")
    .select((on) => on.fn.countAll<number | string>().as("count"))
    .where("state", "=", "due")
    .where("trigger_id", "=", trigger_id)
    .where("id", "<", id)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Stores what a run that is due waits for. */
export async function noteWait(db: Queryable, id: string, detail: string): Promise<void> {
  await db
    .updateTable("trigger_runs")
    .set({ detail })
    .where("id", "=", id)
    .where("state", "=", "due")
    .where((on) => on.or([on("detail", "is", null), on("detail", "!=", detail)]))
    .execute();
}

/** Stores what became of a run that was due, or that it has a request after all. @returns whether it was stored. */
export async function endRun(
  db: Queryable,
  id: string,
  end: Pick<StoredRun, "state" | "reason" | "detail" | "request_id">,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("trigger_runs")
    .set(end)
    .where("id", "=", id)
    .where("state", "in", end.state === "requested" ? ["due", "skipped"] : ["due"])
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the id of a request of a trigger's tick or log that has not ended, if there is one among the newest. */
export async function findOpenRequestOf(db: Queryable, triggerId: string): Promise<string | undefined> {
  const rows = await db
    .selectFrom("trigger_runs as run")
    .leftJoin("requests as request", "request.id", "run.request_id")
    .select(["request.id", "request.state"])
    .where("run.state", "=", "requested")
    .where("run.trigger_id", "=", triggerId)
    .orderBy("run.id", "desc")
    .limit(LOOKED_AT)
    .execute();
  return (
    rows.find(({ state }) => state !== null && state !== "fulfilled" && state !== "failed")?.id ?? undefined
  );
}

/** Returns a trigger's runs, newest first. @param page.before returns only those older than the one with this id. */
export async function listRuns(
  db: Queryable,
  page: { readonly triggerId: string; readonly limit: number; readonly before?: string | undefined },
): Promise<StoredRun[]> {
  let query = db.selectFrom("trigger_runs").selectAll().where("trigger_id", "=", page.triggerId);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  return await query.orderBy("id", "desc").limit(page.limit).execute();
}

/** Deletes a schedule's runs of ticks after a time that have made no request. */
export async function deleteEarlyRuns(db: Queryable, scheduleId: string, after: number): Promise<void> {
  await db
    .deleteFrom("trigger_runs")
    .where("trigger_id", "=", scheduleId)
    .where("at", ">", after)
    .where("request_id", "is", null)
    .where("key", "not like", `${ASKED}%`)
    .execute();
}

/** Deletes runs from before a time that have ended, with their logs. */
export async function deleteOldRuns(db: Queryable, before: string): Promise<void> {
  const old = db
    .selectFrom("trigger_runs")
    .select("id")
    .where("id", "<", before)
    .where("state", "in", ["requested", "skipped"]);
  await db.deleteFrom("run_logs").where("run_id", "in", old).execute();
  await db.deleteFrom("trigger_runs").where("id", "in", old).execute();
}

/** Returns a run, or `undefined`. */
export async function findRun(db: Queryable, id: string): Promise<StoredRun | undefined> {
  return await db.selectFrom("trigger_runs").selectAll().where("id", "=", id).executeTakeFirst();
}
