import type { Command } from "commander";
import { findOutsideKey } from "../lib/outsideSecret.ts";
import { dataDirOfEnvironment } from "./environment.ts";
import type { DatabaseLocation } from "../app/tools/databaseTool.ts";
import type { TableDigest } from "../store/tableDigest.ts";
import { createProgress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

const COPY_HELP = `
Stop the service first. Everything is copied to an empty database in one transaction, which is read back and compared before it is
committed. Then the file is set aside, and the data directory records the variable. Before the next start, configure the database as
"database": {"url": {"env": "DATABASE_URL"}}. A data directory with embedded chains is refused: they need the file.`;

const CHECK_HELP = `
Reads every row, verifies the checksums of requests and transactions, and computes one over each table. With --to, it also compares the
tables with those of another database. Exit code 1 when anything is wrong.`;

type OnRows = (table: string, rows: number) => void;

/** Adds `tyche database check`, `compact` and `copy`. */
export function registerDatabase(program: Command, terminal: Terminal): void {
  const database = program
    .command("database")
    .description("Checks, compacts and copies the database of a data directory.");
  database
    .command("check")
    .option("--from <file>", "file to check (default: the data directory's database)")
    .option("--to <variable>", "environment variable with the URL of a database to compare with")
    .description("Checks the database for damage, or compares it with another one; changes nothing.")
    .addHelpText("after", CHECK_HELP)
    .action((flags: { readonly from?: string; readonly to?: string }) =>
      withProgress(terminal, async (onRows) => {
        const {
          database: name,
          tables,
          problems,
        } = await (await loadTool()).checkDatabase(location(), { ...flags, onRows });
        return () => {
          printTables(terminal, tables);
          for (const problem of problems) terminal.err(`${terminal.colors.red("✗")} ${problem}`);
          if (problems.length > 0) process.exitCode = 1;
          else
            terminal.out(
              `${name} is intact${flags.to === undefined ? "" : `, and ${flags.to} names a copy of it`}`,
            );
        };
      }),
    );
  database
    .command("compact")
    .description("Reclaims the space of deleted rows in a stopped service's database.")
    .action(async () => {
      const { database: name, before, after } = await (await loadTool()).compactDatabase(location());
      terminal.out(`${name}  ${after} bytes, ${before - after} fewer`);
    });
  database
    .command("copy")
    .requiredOption("--to <variable>", "environment variable with the URL of the target")
    .description("Copies the database of a stopped service to PostgreSQL, and compares every row.")
    .addHelpText("after", COPY_HELP)
    .action(({ to }: { readonly to: string }) =>
      withProgress(terminal, async (onRows) => {
        const { tables, setAsideAs } = await (await loadTool()).copyDatabase(location(), { to, onRows });
        return () => {
          printTables(terminal, tables);
          terminal.out(`the database is now the one that ${to} names; the earlier one is ${setAsideAs}`);
        };
      }),
    );
}

/** Shows a command's progress; calls the function that `work` returns to print the result. */
async function withProgress(
  terminal: Terminal,
  work: (onRows: OnRows) => Promise<() => void>,
): Promise<void> {
  const progress = createProgress({ isTerminal: terminal.isTerminal });
  let print: () => void;
  try {
    print = await work((table, rows) => progress.show(`${table}: ${rows.toLocaleString("en")} rows`));
  } finally {
    progress.clear();
  }
  print();
}

function printTables({ out }: Terminal, tables: readonly TableDigest[]): void {
  for (const { table, rows, sha256 } of tables)
    out(`${table.padEnd(16)} ${String(rows).padStart(10)} rows  sha256 ${sha256}`);
}

const loadTool = () => import("../app/tools/databaseTool.ts");

function location(): DatabaseLocation {
  return {
    dataDir: dataDirOfEnvironment(),
    environment: process.env,
    masterKey: findOutsideKey(process.env),
  };
}
