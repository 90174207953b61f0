import type { Command } from "commander";
import { findOutsideKey, type OutsideSecret } from "../lib/outsideSecret.ts";
import { dataDirOfEnvironment } from "./dappCommands.ts";
import type { Terminal } from "./terminal.ts";

const BACKUP_HELP = `
The file holds the database: dapps, requests, signed transactions. It holds neither the master key, without which it is of no use (the file
master-key of the data directory; keep a copy elsewhere), nor the embedded chains. Stop the service and copy the whole folder to keep those.`;

const RESTORE_HELP = `
Stop the service first. The existing database is set aside, not deleted. If the service has sent transactions on a network that the backup
doesn't know, the network takes no requests after the next start until you accept that with TYCHE_ACCEPT_CHAINS.`;

interface StateLocation {
  readonly dataDir: string;
  readonly masterKey?: OutsideSecret | undefined;
}

/** The implementation of the commands; see `src/app/tools/backupTool.ts`. */
export interface BackupTool {
  backUp(file: string, location: { readonly dataDir: string }): Promise<{ readonly bytes: number }>;
  restore(
    file: string,
    location: StateLocation,
  ): Promise<{
    readonly changedAt?: number;
    readonly setAsideAs?: string;
    readonly chains: readonly string[];
  }>;
}

/** Adds `tyche backup` and `tyche restore`. */
export function registerBackup(program: Command, terminal: Terminal, tool: BackupTool): void {
  program
    .command("backup")
    .argument("<file>", "new file for the copy")
    .description("Copies a consistent snapshot of the database to a file, even while the service runs.")
    .addHelpText("after", BACKUP_HELP)
    .action(async (file: string) => {
      const { bytes } = await tool.backUp(file, { dataDir: dataDirOfEnvironment() });
      terminal.out(`${file}  ${bytes} bytes`);
    });
  program
    .command("restore")
    .argument("<file>", "file written by tyche backup")
    .description("Replaces the database of a stopped service with a backup.")
    .addHelpText("after", RESTORE_HELP)
    .action(async (file: string) => {
      const { changedAt, setAsideAs, chains } = await tool.restore(file, {
        dataDir: dataDirOfEnvironment(),
        masterKey: findOutsideKey(process.env),
      });
      const when =
        changedAt === undefined ? "without requests" : `as of ${new Date(changedAt).toISOString()}`;
      terminal.out(`restored the database ${when}`);
      if (setAsideAs !== undefined) terminal.out(`the earlier one is ${setAsideAs}`);
      if (chains.length > 0)
        terminal.out(
          `its embedded chains stay as they are: if /readyz says that the database is older than one, start once with TYCHE_ACCEPT_CHAINS=${chains.join(",")}`,
        );
    });
}
