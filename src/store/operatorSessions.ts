import type { Queryable } from "./queryable.ts";
import type { Store } from "./store.ts";

/** Stores a session that ends at `endsAt` (ms). If that makes more than `most`, those that end first are removed; so are those that are over. */
export async function openOperatorSession(
  store: Pick<Store, "write">,
  session: { readonly id: string; readonly endsAt: number },
  { now, most }: { readonly now: number; readonly most: number },
): Promise<void> {
  await store.write(async (db) => {
    const kept = db
      .selectFrom("operator_sessions")
      .select("id")
      .where("ends_at", ">", now)
      .orderBy("ends_at", "desc")
      .limit(most - 1);
    await db.deleteFrom("operator_sessions").where("id", "not in", kept).execute();
    await db.insertInto("operator_sessions").values({ id: session.id, ends_at: session.endsAt }).execute();
  });
}

/** Whether there is a session that is not over at `now` (ms). */
export async function hasOperatorSession(db: Queryable, id: string, now: number): Promise<boolean> {
  const query = db.selectFrom("operator_sessions").select("id").where("id", "=", id);
  return (await query.where("ends_at", ">", now).executeTakeFirst()) !== undefined;
}

/** Ends a session. */
export async function endOperatorSession(db: Queryable, id: string): Promise<void> {
  await db.deleteFrom("operator_sessions").where("id", "=", id).execute();
}
