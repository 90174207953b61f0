#!/usr/bin/env -S node --no-node-snapshot
import { Command } from "commander";
import { TycheError } from "../lib/errors.ts";
import { NETWORK_NAMES } from "../networks/profiles.ts";
import { registerConfig } from "../cli/configCommand.ts";
import { dataDirOfEnvironment, registerDapp, registerNetwork } from "../cli/dappCommands.ts";
import { registerPreset } from "../cli/presetCommands.ts";
import { registerSimulate } from "../cli/simulateCommand.ts";
import { registerStart } from "../cli/startCommand.ts";
import { createTerminal } from "../cli/terminal.ts";
import { registerVerify } from "../cli/verifyCommand.ts";
import { describeConfigSchema } from "./config/configSchema.ts";
import { readConfig } from "./config/readConfig.ts";
import { startTyche } from "./startTyche.ts";
import { verifyWithTool } from "./verifyTool.ts";

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

const terminal = createTerminal();
const program = new Command("tyche")
  .description("Verifiable random numbers and oracle functions over HTTP.")
  .showHelpAfterError("(add --help for the options and examples)");

const readConfigOf = (file: string | undefined) =>
  readConfig({ file, dataDir: dataDirOfEnvironment(), environment: process.env });
registerStart(program, terminal, { readConfig: (file) => readConfigOf(file).config, start: startTyche });
registerConfig(program, terminal, { read: readConfigOf, schema: describeConfigSchema() });
registerSimulate(program, terminal);
registerPreset(program, terminal);
registerDapp(program, terminal);
registerNetwork(program, terminal);
registerVerify(program, terminal, { networks: NETWORK_NAMES, verify: verifyWithTool });

try {
  await program.parseAsync();
} catch (error) {
  // What Tyche throws on purpose is a sentence for whoever typed the command; anything else is a defect, and its stack helps to find it.
  const isOfSandbox = error instanceof Error && "blame" in error;
  const isExpected =
    error instanceof TycheError || isOfSandbox || (error as NodeJS.ErrnoException).syscall !== undefined;
  const text = isExpected ? (error as Error).message : ((error as Error).stack ?? String(error));
  terminal.err(`${terminal.colors.red("error:")} ${text}`);
  process.exitCode = 1;
}
