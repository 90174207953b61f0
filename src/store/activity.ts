import { firstId } from "../lib/id.ts";
import type { Queryable } from "./queryable.ts";

/** Counts of the requests accepted within a time range. */
export interface RequestCounts {
  readonly requests: number;
  /** How many of them failed. */
  readonly failed: number;
}

/** Counts all dapps' requests accepted from `from` (inclusive) to `to` (exclusive), in Unix milliseconds. Counts `limit` requests at most. */
export async function countRequests(
  db: Queryable,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<RequestCounts> {
  const rows = await db
    .selectFrom((within) =>
      within
        .selectFrom("requests")
        .select("state")
        .where("id", ">=", firstId("req", from))
        .where("id", "<", firstId("req", to))
        .limit(limit)
        .as("counted"),
    )
    .select(({ fn }) => ["state", fn.countAll<number | string>().as("count")])
    .groupBy("state")
    .execute();
  const sum = (counted: typeof rows): number =>
    counted.reduce((total, { count }) => total + Number(count), 0);
  return { requests: sum(rows), failed: sum(rows.filter(({ state }) => state === "failed")) };
}
