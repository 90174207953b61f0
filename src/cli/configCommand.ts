import type { Command } from "commander";
import type { Terminal } from "./terminal.ts";

const HELP = `
The file is the one named by --config, else by TYCHE_CONFIG, else tyche.json in the data directory; without a file, every member has its
default. Environment variables take precedence over the file. TYCHE_ACCEPT_CHAINS and TYCHE_ACCEPT_MISSING, which the file can't set, are
checked as well.`;

/** What the commands print; a configuration never contains secrets. */
export interface ConfigSource {
  read(file: string | undefined): Promise<{
    readonly config: object;
    readonly file?: string;
    readonly variables: readonly string[];
    readonly unknownVariables: readonly string[];
  }>;
  schema(): Promise<object>;
}

/** Adds `tyche config check` and `tyche config schema`. */
export function registerConfig(program: Command, terminal: Terminal, source: ConfigSource): void {
  const config = program
    .command("config")
    .description("Checks the configuration, and prints its JSON Schema.");
  config
    .command("check")
    .option("--config <file>", "configuration file")
    .description("Prints the effective configuration, or everything that is wrong with it.")
    .addHelpText("after", HELP)
    .action(async (flags: { readonly config?: string }) => {
      const { config: inForce, file, variables, unknownVariables } = await source.read(flags.config);
      terminal.err(`file: ${file ?? "none; every member has its default"}`);
      if (variables.length > 0) terminal.err(`from the environment: ${variables.join(", ")}`);
      for (const variable of unknownVariables)
        terminal.err(`${variable} is set, but nothing reads it; is it misspelt?`);
      terminal.out(JSON.stringify(inForce, null, 2));
    });
  config
    .command("schema")
    .description("Prints the JSON Schema of the file, for editors.")
    .action(async () => terminal.out(JSON.stringify(await source.schema(), null, 2)));
}
