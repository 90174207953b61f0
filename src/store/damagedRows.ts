import { messageOf } from "../lib/errors.ts";
import { parseRow } from "./requests.ts";
import { parseTransactionRow } from "./transactions.ts";
import { readPages, type TableRow } from "./tableDigest.ts";
import type { Queryable } from "./queryable.ts";

/** Most damaged rows reported per database; more of them add no information. */
const MAX_REPORTED = 20;

/** Tables whose rows carry checksums, each with a parser that throws on a damaged row. */
const PARSERS: Readonly<Record<"requests" | "transactions", (row: TableRow) => unknown>> = {
  requests: (row) => parseRow(row as never),
  transactions: (row) => parseTransactionRow(row as never),
};

/** Reads every request and transaction, and returns a message for each damaged one, 20 at most. */
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
