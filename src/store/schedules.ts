import type { Selectable } from "kysely";
import type { Queryable } from "./queryable.ts";
import type { Tables } from "./schema.ts";

/** A stored schedule. Times are Unix milliseconds. */
export interface StoredSchedule {
  readonly id: string;
  readonly dappId: string;
  /** Key that it acts with; `null` if the operator set it up. */
  readonly keyId: string | null;
  readonly name: string;
  /** What each tick requests. */
  readonly command: { readonly kind: string; readonly network: string };
  readonly timing: object;
  readonly catchUp: "skip" | "one" | "all";
  readonly windowMs: number;
  readonly overlap: "skip" | "allow";
  readonly until: number | null;
  readonly pausedAt: number | null;
  readonly createdAt: number;
  /** The first tick that is not stored yet; `null` while it is paused, and after the last one. */
  readonly nextAt: number | null;
}

/** Stores a new schedule. */
export async function insertSchedule(db: Queryable, schedule: StoredSchedule): Promise<void> {
  await db
    .insertInto("schedules")
    .values({ id: schedule.id, ...toRow(schedule) })
    .execute();
}

/** Returns a schedule, of a dapp if one is given, or `undefined`. */
export async function findSchedule(
  db: Queryable,
  id: string,
  dappId?: string,
): Promise<StoredSchedule | undefined> {
  let query = db.selectFrom("schedules").selectAll().where("id", "=", id);
  if (dappId !== undefined) query = query.where("dapp_id", "=", dappId);
  const row = await query.executeTakeFirst();
  return row && parseRow(row);
}

/** Returns a dapp's schedules, oldest first. */
export async function listSchedules(db: Queryable, dappId: string): Promise<StoredSchedule[]> {
  const rows = await db
    .selectFrom("schedules")
    .selectAll()
    .where("dapp_id", "=", dappId)
    .orderBy("id")
    .execute();
  return rows.map(parseRow);
}

/** Replaces what is stored of a schedule. */
export async function saveSchedule(db: Queryable, schedule: StoredSchedule): Promise<void> {
  await db.updateTable("schedules").set(toRow(schedule)).where("id", "=", schedule.id).execute();
}

/** Deletes a schedule with its runs; their requests stay. */
export async function deleteSchedule(db: Queryable, id: string): Promise<void> {
  await db.deleteFrom("schedules").where("id", "=", id).execute();
  await db.deleteFrom("trigger_runs").where("trigger_id", "=", id).execute();
}

/** Deletes a dapp's schedules with their runs. */
export async function deleteSchedulesOf(db: Queryable, dappId: string): Promise<void> {
  for (const { id } of await listSchedules(db, dappId)) await deleteSchedule(db, id);
}

/** Returns schedules whose next tick is due, those that wait longest first. */
export async function listDueSchedules(db: Queryable, now: number, limit: number): Promise<StoredSchedule[]> {
  const rows = await db
    .selectFrom("schedules")
    .selectAll()
    .where("next_at", "<=", now)
    .orderBy("next_at")
    .limit(limit)
    .execute();
  return rows.map(parseRow);
}

/** Returns the schedules that are not paused. */
export async function listActiveSchedules(db: Queryable): Promise<StoredSchedule[]> {
  const rows = await db.selectFrom("schedules").selectAll().where("paused_at", "is", null).execute();
  return rows.map(parseRow);
}

/** Returns when the first tick of all schedules is due. */
export async function findFirstTick(db: Queryable): Promise<number | undefined> {
  const row = await db
    .selectFrom("schedules")
    .select("next_at")
    .where("next_at", ">", 0)
    .orderBy("next_at")
    .limit(1)
    .executeTakeFirst();
  return row?.next_at ?? undefined;
}

/** Moves a schedule to its next tick, unless it was moved or paused since. @returns whether it was moved. */
export async function moveSchedule(
  db: Queryable,
  { id, nextAt }: Pick<StoredSchedule, "id" | "nextAt">,
  to: number | null,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("schedules")
    .set({ next_at: to })
    .where("id", "=", id)
    .where("paused_at", "is", null)
    .where("next_at", nextAt === null ? "is" : "=", nextAt)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

function toRow(schedule: StoredSchedule): Omit<Selectable<Tables["schedules"]>, "id"> {
  return {
    dapp_id: schedule.dappId,
    key_id: schedule.keyId,
    name: schedule.name,
    command: JSON.stringify(schedule.command),
    timing: JSON.stringify(schedule.timing),
    catch_up: schedule.catchUp,
    window_ms: schedule.windowMs,
    overlap: schedule.overlap,
    until: schedule.until,
    paused_at: schedule.pausedAt,
    created_at: schedule.createdAt,
    next_at: schedule.nextAt,
  };
}

function parseRow(row: Selectable<Tables["schedules"]>): StoredSchedule {
  return {
    id: row.id,
    dappId: row.dapp_id,
    keyId: row.key_id,
    name: row.name,
    command: JSON.parse(row.command) as StoredSchedule["command"],
    timing: JSON.parse(row.timing) as object,
    catchUp: row.catch_up,
    windowMs: row.window_ms,
    overlap: row.overlap,
    until: row.until,
    pausedAt: row.paused_at,
    createdAt: row.created_at,
    nextAt: row.next_at,
  };
}
