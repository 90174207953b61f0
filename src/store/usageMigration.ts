import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";

/** Rows read at once. */
const PAGE_ROWS = 1_000;

/**
 * Counts the stored requests, so that later changes have a base. Their costs were not read from the chain and count as 0. Reads in pages
 * and sums here, because the databases share no JSON functions.
 */
export async function countRequests(db: Kysely<Tables>): Promise<void> {
  const sums = new Map<string, Pick<Tables["usage"], "dapp_id" | "network" | "day" | "kind"> & Counts>();
  for (let last = ""; ;) {
    const rows = await db
      .selectFrom("requests")
      .select(["id", "dapp_id", "network", "kind", "state", "created_at", "progress", "outcome"])
      .where("id", ">", last)
      .orderBy("id")
      .limit(PAGE_ROWS)
      .execute();
    for (const { dapp_id, network, kind, created_at, ...row } of rows) {
      const day = new Date(created_at).toISOString().slice(0, 10);
      const name = `${dapp_id} ${network} ${day} ${kind}`;
      const sum = sums.get(name) ?? {
        dapp_id,
        network,
        day,
        kind,
        requests: 0,
        fulfilled: 0,
        failed: 0,
        words: 0,
      };
      sum.requests += 1;
      if (row.state === "fulfilled") sum.fulfilled += 1;
      if (row.state === "failed") sum.failed += 1;
      sum.words += countWords(kind, row);
      sums.set(name, sum);
    }
    if (rows.length < PAGE_ROWS) break;
    last = rows.at(-1)!.id;
  }
  const nothing = { refused: 0, gas_used: 0, link_high: 0, link_low: 0, coin_high: 0, coin_low: 0 };
  for (const sum of sums.values())
    await db
      .insertInto("usage")
      .values({ ...nothing, ...sum })
      .execute();
}

type Counts = Pick<Tables["usage"], "requests" | "fulfilled" | "failed" | "words">;

/** Returns the number of random words of an ended request; 0 if its record is damaged, which is reported elsewhere. */
function countWords(
  kind: string,
  { state, progress, outcome }: Pick<Tables["requests"], "state" | "progress" | "outcome">,
): number {
  if (state !== "fulfilled" && state !== "failed") return 0;
  try {
    if (kind === "preset") return JSON.parse(progress).wordBlock === undefined ? 0 : 1;
    const words: unknown = kind === "random" && outcome !== null ? JSON.parse(outcome).words : undefined;
    return Array.isArray(words) ? words.length : 0;
  } catch {
    return 0;
  }
}
