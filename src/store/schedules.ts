import type { Selectable } from "kysely";
import { fromRow, toRow, type Stored } from "./columns.ts";
import type { Queryable } from "./queryable.ts";
import type { Tables } from "./schema.ts";

type Row = Selectable<Tables["schedules"]>;

/** A stored schedule. */
export interface StoredSchedule extends Omit<Stored<Row>, "command" | "timing"> {
  readonly command: { readonly kind: string; readonly network: string };
  readonly timing: object;
}

/** Stores a new schedule. */
export async function insertSchedule(db: Queryable, schedule: StoredSchedule): Promise<void> {
  await db.insertInto("schedules").values(rowOf(schedule)).execute();
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
  await db.updateTable("schedules").set(rowOf(schedule)).where("id", "=", schedule.id).execute();
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

function rowOf(schedule: StoredSchedule): Row {
  const { command, timing } = schedule;
  return toRow<Row>({ ...schedule, command: JSON.stringify(command), timing: JSON.stringify(timing) });
}

function parseRow(row: Row): StoredSchedule {
  return {
    ...fromRow(row),
    command: JSON.parse(row.command) as StoredSchedule["command"],
    timing: JSON.parse(row.timing) as object,
  };
}
