import { firstId } from "../lib/id.ts";
import type { Queryable } from "./store.ts";

/** Requests that were accepted in some time. */
export interface RequestCounts {
  readonly requests: number;
  /** Of these, how many have failed. */
  readonly failed: number;
}

/** Counts the requests of all dapps that were accepted from one time to another (Unix, in milliseconds); of more than `limit` only so many. */
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
