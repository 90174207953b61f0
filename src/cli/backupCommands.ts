import type { Command } from "commander";
import { findOutsideKey } from "../lib/outsideSecret.ts";
import { dataDirOfEnvironment } from "./environment.ts";
import { wholeNumber } from "./parseNumber.ts";
import type { Terminal } from "./terminal.ts";

const BACKUP_HELP = `
The archive (.tar.gz) holds everything of the data directory that a service continues from: the database, the embedded chains, and tyche.json
if it is there. It does not hold the master key (the file master-key, or what TYCHE_MASTER_KEY_FILE names), without which nobody can use it: keep
one copy of that key elsewhere. In a folder, the archive is named for the time, such as tyche-20261122T210000Z.tar.gz.`;

const RESTORE_HELP = `
Stop the service first. On a new machine, put the master key into the data directory before (or name it in TYCHE_MASTER_KEY_FILE). The existing
database and chains are set aside, not deleted. A public network is always newer than a backup: if the service has sent transactions there
that the backup doesn't know, the next start says what to do.`;

/** Adds `tyche backup` and `tyche restore`. */
export function registerBackup(program: Command, terminal: Terminal): void {
  program
    .command("backup")
    .argument(
      "<target>",
      "new file, or a folder (with a slash, it is created) in which the file is named for the time",
    )
    .option(
      "--keep <number>",
      "delete all but so many of the folder's backups (default: none)",
      wholeNumber(1),
    )
    .description("Copies database and embedded chains to an archive, even while the service runs.")
    .addHelpText("after", BACKUP_HELP)
    .action(async (target: string, { keep }: { readonly keep?: number }) => {
      const { backUp } = await import("../app/tools/backupTool.ts");
      const done = await backUp(target, { dataDir: dataDirOfEnvironment(), keep });
      terminal.out(`${done.file}  ${done.bytes} bytes: the database${withChains(done.chains)}`);
      terminal.out(
        `the master key is not in it: keep a copy of ${done.masterKeyFile ?? "it"} elsewhere, as a restore needs it`,
      );
      for (const file of done.deleted) terminal.out(`deleted ${file}`);
    });
  program
    .command("restore")
    .argument("<file>", "file written by tyche backup")
    .description("Replaces database and embedded chains of a stopped service with a backup.")
    .addHelpText("after", RESTORE_HELP)
    .action(async (file: string) => {
      const { restore } = await import("../app/tools/backupTool.ts");
      const { changedAt, setAside, chains, keptChains } = await restore(file, {
        dataDir: dataDirOfEnvironment(),
        masterKey: findOutsideKey(process.env),
      });
      const when =
        changedAt === undefined
          ? "without requests"
          : `whose newest request changed at ${new Date(changedAt).toISOString()}`;
      terminal.out(`restored the database ${when}${withChains(chains)}`);
      for (const earlier of setAside) terminal.out(`set aside as ${earlier}`);
      if (keptChains.length > 0)
        terminal.out(
          `this backup holds no embedded chains, so they stay as they are: if the next start says that the database is older than one, start once with TYCHE_ACCEPT_CHAINS=${keptChains.join(",")}`,
        );
    });
}

function withChains(names: readonly string[]): string {
  return names.length === 0 ? "" : `, with the chains ${names.join(", ")}`;
}
