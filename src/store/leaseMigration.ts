import type { Kysely } from "kysely";

/** Creates the table that says which replica dispatches on which network. */
export async function createLeases(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("leases")
    .addColumn("network", "text", (c) => c.primaryKey())
    .addColumn("holder", "text", (c) => c.notNull())
    .addColumn("token", "integer", (c) => c.notNull())
    .addColumn("expires_at", "integer", (c) => c.notNull())
    // Makes the token part of a key: a takeover then waits for transactions that hold the row with FOR KEY SHARE, a renewal doesn't.
    .addUniqueConstraint("leases_token", ["network", "token"])
    .execute();
}
