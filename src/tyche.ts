#!/usr/bin/env node
import { Command } from "commander";
import { ApiError, ConnectionError, TycheClientError } from "./client/index.ts";
import { TycheError } from "./lib/errors.ts";
import { registerBeacon } from "./cli/beaconCommand.ts";
import { registerBackup } from "./cli/backupCommands.ts";
import { registerCall } from "./cli/callCommand.ts";
import { registerClient } from "./cli/clientCommand.ts";
import { registerConsumer } from "./cli/consumerCommand.ts";
import { UnexpectedAnswerError } from "./cli/checkedClient.ts";
import { registerCompletion } from "./cli/completionCommand.ts";
import { registerConfig } from "./cli/configCommand.ts";
import { registerDapp } from "./cli/dappCommands.ts";
import { registerDatabase } from "./cli/databaseCommands.ts";
import { registerFaucet } from "./cli/faucetCommand.ts";
import { registerNetworkTools } from "./cli/networkCommands.ts";
import { registerNetwork } from "./cli/networkListCommand.ts";
import { registerOracle } from "./cli/oracleCommands.ts";
import { registerPreset } from "./cli/presetCommands.ts";
import { addExamples } from "./cli/examples.ts";
import { registerDryRuns } from "./cli/dryRunsCommand.ts";
import { registerRequests } from "./cli/requestsCommand.ts";
import { registerSchedule } from "./cli/scheduleCommand.ts";
import { registerSecret } from "./cli/secretCommand.ts";
import { registerSimulate } from "./cli/simulateCommand.ts";
import { registerStart } from "./cli/startCommand.ts";
import { describeSystemError } from "./cli/systemError.ts";
import { createTerminal, withoutControls } from "./cli/terminal.ts";
import { registerTrigger } from "./cli/triggerCommand.ts";
import { registerUsage } from "./cli/usageCommand.ts";
import { registerWebhook } from "./cli/webhookCommand.ts";
import { registerVerifier } from "./cli/verifierCommand.ts";
import { registerMcp } from "./cli/mcpCommand.ts";
import { registerVerify } from "./cli/verifyCommand.ts";
import { version } from "./lib/version.ts";

// A umask may take access from others, but not from the owner: the next command could not read the files.
process.umask(process.umask(0o077) & 0o077);

// A reader that stops early, such as `head`, is not a failure; what the command has found to be one stays one.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

// Nothing is left to say it with.
process.stderr.on("error", () => {});

const terminal = createTerminal();
const program = new Command("tyche")
  .description("Verifiable random numbers and oracle functions over HTTP.")
  .version(version, "-V, --version", "print the version")
  .showHelpAfterError("(add --help for the options and examples)")
  .configureOutput({
    // The library's sentence says less, in more words: "command-argument value '0x12' is invalid for argument 'tx'."
    outputError: (text, write) =>
      write(text.replace(/command-argument value ('.*') is invalid for argument '(.*)'\./, "invalid $2 $1.")),
  });

// Each command loads its own modules on demand: the service's take more than a second. test/cli/startUp.chain.test.ts holds what may be loaded.
program.commandsGroup("Calls:");
registerCall(program, terminal);
registerRequests(program, terminal);
registerDryRuns(program, terminal);
registerSimulate(program, terminal);
registerVerify(program, terminal);
registerVerifier(program, terminal);
registerMcp(program);

program.commandsGroup("Your dapp:");
registerDapp(program, terminal);
registerConsumer(program, terminal);
registerSecret(program, terminal);
registerSchedule(program, terminal);
registerTrigger(program, terminal);
registerWebhook(program, terminal);
registerUsage(program, terminal);
registerPreset(program, terminal);
registerClient(program, terminal);

program.commandsGroup("Networks and oracle:");
registerNetworkTools(registerNetwork(program, terminal), terminal);
registerOracle(program, terminal);
registerFaucet(program, terminal);
registerBeacon(program, terminal);

program.commandsGroup("The service:");
registerStart(program);
registerConfig(program, terminal);
registerBackup(program, terminal);
registerDatabase(program, terminal);
registerCompletion(program, terminal);
program.helpCommand(true);
addExamples(program);

try {
  await program.parseAsync();
} catch (error) {
  // What Tyche throws on purpose is a sentence for whoever typed the command; anything else is a defect, and its stack helps to find it.
  const isOfSandbox = error instanceof Error && "blame" in error;
  const isOfSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
  const isExpected = error instanceof TycheError || error instanceof TycheClientError || isOfSandbox;
  const text = isOfSystem
    ? describeSystemError(error as NodeJS.ErrnoException)
    : isExpected
      ? (error as Error).message
      : ((error as Error).stack ?? String(error));
  terminal.err(`${terminal.colors.red("error:")} ${text}`);
  // The message itself already names the first of many parameters.
  if (error instanceof ApiError)
    for (const { path, message } of error.details)
      if (!text.includes(message)) terminal.err(withoutControls(`  ${path.slice(1)}: ${message}`));
  const hint = hintFor(error);
  if (hint !== undefined) terminal.err(`  ${hint}`);
  process.exitCode = 1;
}

/** Returns what somebody at the keyboard can do, where a library's sentence can't know. */
function hintFor(error: unknown): string | undefined {
  if (error instanceof UnexpectedAnswerError) return undefined;
  if (error instanceof ConnectionError)
    return "If the service isn't running, start it with tyche start; --url or TYCHE_URL names another.";
  if (error instanceof ApiError && error.code === "unauthenticated")
    return "Set TYCHE_API_KEY to a live key, or unset it to use a key of the data directory.";
  return undefined;
}
