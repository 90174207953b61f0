import { messageOf } from "../lib/errors.ts";
import { parseRow } from "./requestRows.ts";
import { parseTransactionRow } from "./transactions.ts";
import { readPages } from "./tableDigest.ts";
import type { TableRow } from "./tableDigest.ts";
import type { Queryable } from "./store.ts";

/** Reported of one database: more of them say nothing new. */
const MAX_REPORTED = 20;

/** Tables whose rows have checksums of their own, each with what throws for a damaged row. */
const PARSERS: Readonly<Record<"requests" | "transactions", (row: TableRow) => unknown>> = {
  requests: (row) => parseRow(row as never),
  transactions: (row) => parseTransactionRow(row as never),
};

/** Reads every request and transaction; says which ones are not what was written, 20 at most. */
export async function findDamagedRows(db: Queryable): Promise<string[]> {
  const damaged: string[] = [];
  for (const [table, parse] of Object.entries(PARSERS))
    for await (const rows of readPages(db, table as keyof typeof PARSERS))
      for (const row of rows) {
        try {
          parse(row);
        } catch (error) {
          damaged.push(messageOf(error));
          if (damaged.length === MAX_REPORTED) return damaged;
        }
      }
  return damaged;
}
