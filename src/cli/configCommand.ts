import type { Command } from "commander";
import { loadConfig } from "./environment.ts";
import type { Terminal } from "./terminal.ts";

const HELP = `
The file is the one named by --config, else by TYCHE_CONFIG, else tyche.json in the data directory; without a file, every member has its
default. Environment variables take precedence over the file. TYCHE_ACCEPT_CHAINS and TYCHE_ACCEPT_MISSING, which the file can't set, are
checked as well.`;

/** Adds `tyche config check` and `tyche config schema`. */
export function registerConfig(program: Command, terminal: Terminal): void {
  const config = program
    .command("config")
    .description("Checks the configuration, and prints its JSON Schema.");
  config
    .command("check")
    .option("--config <file>", "configuration file")
    .description("Prints the effective configuration, or everything that is wrong with it.")
    .addHelpText("after", HELP)
    .action(async (flags: { readonly config?: string }) => {
      const { hideSecrets } = await import("../config/hideSecrets.ts");
      const { config: inForce, file, variables, unknownVariables } = await loadConfig(flags.config);
      terminal.err(`file: ${file ?? "none; every member has its default"}`);
      if (variables.length > 0) terminal.err(`from the environment: ${variables.join(", ")}`);
      for (const variable of unknownVariables)
        terminal.err(`${variable} is set, but nothing reads it; is it misspelt?`);
      terminal.out(JSON.stringify(hideSecrets(inForce), null, 2));
    });
  config
    .command("schema")
    .description("Prints the JSON Schema of the file, for editors.")
    .action(async () => {
      const { describeConfigSchema } = await import("../config/configSchema.ts");
      terminal.out(JSON.stringify(describeConfigSchema(), null, 2));
    });
}
