import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { describePresets } from "../client/describePresets.ts";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import type { Terminal } from "./terminal.ts";

const NOTE = `
In your program:
  import { createClient } from "tyche/client";
  import type { Presets } from "./presets.ts";
  const tyche = createClient<Presets>({ baseUrl, apiKey });`;

/** Adds `tyche client generate`. */
export function registerClient(program: Command, terminal: Terminal): void {
  const client = program.command("client").description("Helps programs that use tyche/client.");
  withService(client.command("generate"))
    .description("Generates the types of a service's presets, for createClient<Presets>.")
    .option("--out <file>", "file to write (default: standard output)")
    .addHelpText("after", NOTE)
    .action(async (flags: ServiceFlags & { readonly out?: string }) => {
      const { client } = await connectService(flags);
      const types = describePresets(await client.presets());
      if (flags.out === undefined) terminal.out(types.trimEnd());
      else await writeFile(flags.out, types);
    });
}
