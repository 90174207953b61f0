import type { Checked } from "../../api/parameters/requestSchemas.ts";
import type { UsageDay, UsageReport } from "../../api/types.ts";
import { writeCsv } from "../../lib/csv.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import { DAY_MS } from "../../lib/time.ts";
import { REQUEST_KINDS } from "../../domain/vocabulary.ts";
import type { Queryable } from "../../store/queryable.ts";
import { dayOf, listUsage, type StoredUsage } from "../../store/usage.ts";

/** Days of a report without a first day, its last day included. */
const DEFAULT_DAYS = 30;
/** Maximum days of one report: a year and its leap day. */
const MAX_DAYS = 366;

/** Reads a dapp's usage. Throws `invalid_parameter` for invalid days, and for more than 366 of them. */
export async function readUsage(
  db: Queryable,
  dappId: string,
  { network, ...asked }: Omit<Checked<"usage">, "format">,
): Promise<UsageReport> {
  const { from, to } = readDays(asked);
  const rows = await listUsage(db, { dappId, from, to, network });
  const items = [...Map.groupBy(rows, (row) => `${row.day} ${row.network}`).values()].map(summarize);
  return { from, to, items };
}

function readDays(asked: Pick<Checked<"usage">, "from" | "to">): {
  readonly from: string;
  readonly to: string;
} {
  const toMs = asked.to === undefined ? Date.now() : readDay(asked.to, "/to");
  const fromMs = asked.from === undefined ? toMs - (DEFAULT_DAYS - 1) * DAY_MS : readDay(asked.from, "/from");
  const [from, to] = [dayOf(fromMs), dayOf(toMs)];
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1 || days > MAX_DAYS) {
    const message =
      days < 1
        ? `must not be after to, which is ${to}; got ${from}`
        : `must be at most ${MAX_DAYS} days up to ${to}; from ${from} they are ${days}`;
    throw new InvalidParameterError([{ path: "/from", message }]);
  }
  return { from, to };
}

/** Returns the start of a day as Unix time in milliseconds. */
function readDay(text: string, path: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  // `Date.parse` turns 31 February into 3 March.
  if (!Number.isNaN(ms) && dayOf(ms) === text) return ms;
  throw new InvalidParameterError([
    { path, message: `must be a day such as 2026-11-22; got ${JSON.stringify(text)}` },
  ]);
}

/** Combines the rows of one day and network into one. */
function summarize(rows: readonly StoredUsage[]): UsageDay {
  const { day, network } = rows[0]!;
  const topUp = rows.find(({ kind }) => kind === "top-up");
  const requests = Object.fromEntries(
    REQUEST_KINDS.map((kind) => [kind, rows.find((row) => row.kind === kind)?.requests ?? 0]),
  ) as UsageDay["requests"];
  const sum = (name: "fulfilled" | "failed" | "refused" | "words" | "gasUsed"): number =>
    rows.reduce((total, row) => total + row[name], 0);
  const total = (name: "linkJuels" | "coinWei"): string =>
    String(rows.reduce((total, row) => total + (row === topUp ? 0n : row[name]), 0n));
  return {
    day,
    network: network === "" ? null : network,
    requests,
    fulfilled: sum("fulfilled"),
    failed: sum("failed"),
    refused: sum("refused"),
    dryRuns: rows.find(({ kind }) => kind === "dry-run")?.requests ?? 0,
    words: sum("words"),
    gasUsed: String(sum("gasUsed")),
    linkJuels: total("linkJuels"),
    coinWei: total("coinWei"),
    toppedUpJuels: String(topUp?.linkJuels ?? 0n),
    toppedUpWei: String(topUp?.coinWei ?? 0n),
  };
}

/** Formats a report as CSV, one line per row; amounts are decimal integers. */
export function writeUsageCsv({ items }: UsageReport): string {
  return writeCsv([
    CSV_COLUMNS,
    ...items.map(({ requests, ...rest }) => {
      const row = { ...rest, ...requests };
      return CSV_COLUMNS.map((name) => row[name]);
    }),
  ]);
}

const CSV_COLUMNS = [
  "day",
  "network",
  ...REQUEST_KINDS,
  "fulfilled",
  "failed",
  "refused",
  "dryRuns",
  "words",
  "gasUsed",
  "linkJuels",
  "coinWei",
  "toppedUpJuels",
  "toppedUpWei",
] as const;
