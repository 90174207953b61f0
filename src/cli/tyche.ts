#!/usr/bin/env -S node --no-node-snapshot
import { Command } from "commander";
import { TycheError } from "../lib/errors.ts";
import { registerDapp, registerNetwork } from "./dappCommands.ts";
import { registerPreset } from "./presetCommands.ts";
import { registerSimulate } from "./simulateCommand.ts";
import { registerStart } from "./startCommand.ts";
import { createTerminal } from "./terminal.ts";
import { registerVerify } from "./verifyCommand.ts";

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

const terminal = createTerminal();
const program = new Command("tyche")
  .description("Verifiable random numbers and oracle functions over HTTP.")
  .showHelpAfterError("(add --help for the options and examples)");

registerStart(program, terminal);
registerSimulate(program, terminal);
registerPreset(program, terminal);
registerDapp(program, terminal);
registerNetwork(program, terminal);
registerVerify(program, terminal);

try {
  await program.parseAsync();
} catch (error) {
  // What Tyche throws on purpose is a sentence for whoever typed the command; anything else is a defect, and its stack helps to find it.
  const isExpected = error instanceof TycheError || (error as NodeJS.ErrnoException).syscall !== undefined;
  const text = isExpected ? (error as Error).message : ((error as Error).stack ?? String(error));
  terminal.err(`${terminal.colors.red("error:")} ${text}`);
  process.exitCode = 1;
}
