import type { Queryable } from "./queryable.ts";

/** Returns the setting with a name, or `undefined`. */
export async function findSetting(db: Queryable, name: string): Promise<string | undefined> {
  const row = await db.selectFrom("settings").select("value").where("name", "=", name).executeTakeFirst();
  return row?.value;
}

/** Stores a setting, replacing its earlier value. */
export async function saveSetting(db: Queryable, name: string, value: string): Promise<void> {
  await db
    .insertInto("settings")
    .values({ name, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}
