#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { Command } from "commander";
import { ApiError, ConnectionError, TycheClientError } from "../client/index.ts";
import { TycheError } from "../lib/errors.ts";
import { registerBeacon } from "../cli/beaconCommand.ts";
import { registerBackup } from "../cli/backupCommands.ts";
import { registerCall } from "../cli/callCommand.ts";
import { registerClient } from "../cli/clientCommand.ts";
import { registerConsumer } from "../cli/consumerCommand.ts";
import { UnexpectedAnswerError } from "../cli/checkedClient.ts";
import { registerCompletion } from "../cli/completionCommand.ts";
import { registerConfig } from "../cli/configCommand.ts";
import { dataDirOfEnvironment, registerDapp } from "../cli/dappCommands.ts";
import { registerDatabase } from "../cli/databaseCommands.ts";
import { registerFaucet } from "../cli/faucetCommand.ts";
import { registerNetworkTools } from "../cli/networkCommands.ts";
import { registerNetwork } from "../cli/networkListCommand.ts";
import { registerOracle } from "../cli/oracleCommands.ts";
import { registerPreset } from "../cli/presetCommands.ts";
import { addExamples } from "../cli/examples.ts";
import { registerDryRuns } from "../cli/dryRunsCommand.ts";
import { registerRequests } from "../cli/requestsCommand.ts";
import { registerSchedule } from "../cli/scheduleCommand.ts";
import { registerSecret } from "../cli/secretCommand.ts";
import { registerSimulate } from "../cli/simulateCommand.ts";
import { registerStart } from "../cli/startCommand.ts";
import { describeSystemError } from "../cli/systemError.ts";
import { createTerminal, withoutControls } from "../cli/terminal.ts";
import { registerTrigger } from "../cli/triggerCommand.ts";
import { registerUsage } from "../cli/usageCommand.ts";
import { registerWebhook } from "../cli/webhookCommand.ts";
import { registerVerifier } from "../cli/verifierCommand.ts";
import { registerMcp } from "../cli/mcpCommand.ts";
import { registerVerify, type VerifyMeans } from "../cli/verifyCommand.ts";
import { version } from "../lib/version.ts";
import type { startTraced } from "./tracing.ts";

// A umask may take access from others, but not from the owner: the next command could not read the files.
process.umask(process.umask(0o077) & 0o077);

// A reader that stops early, such as `head`, is not a failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
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
const readConfigOf = async (
  file: string | undefined,
  given: Readonly<Record<string, string | undefined>> = {},
) => {
  const { readConfig } = await import("./config/readConfig.ts");
  const overrides = Object.entries(given).filter(([, value]) => value !== undefined);
  const environment = { ...process.env, ...Object.fromEntries(overrides) };
  return readConfig({ file, dataDir: dataDirOfEnvironment(), environment });
};
const traced: typeof startTraced = async (...given) => (await import("./tracing.ts")).startTraced(...given);
/** Loads what runs for long. By default V8 collects a heap with 50 MB of live objects only at 170 to 230 MB: a third of the process. */
const loadService = async <T>(modules: Promise<T>): Promise<T> => {
  const loaded = await modules;
  // Not before: under other flags V8 rejects its cached code of Node's modules and compiles them anew.
  setFlagsFromString("--heap-growing-percent=60");
  return loaded;
};

program.commandsGroup("Calls:");
registerCall(program, terminal);
registerRequests(program, terminal);
registerDryRuns(program, terminal);
registerSimulate(program, terminal);
const verify: VerifyMeans["verify"] = async (options) =>
  (await import("./tools/verifyTool.ts")).verifyWithTool(options);
registerVerify(program, terminal, {
  verify,
  readPreset: async (...result) => (await import("./tools/verifyTool.ts")).readPresetResult(...result),
});
registerVerifier(program, terminal, {
  build: async () => (await (await import("./verifierPage.ts")).getVerifierPage()).html,
});
registerMcp(program, verify);

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
const networkTools = async () => (await import("./tools/networkTools.ts")).NETWORK_TOOLS;
registerNetworkTools(registerNetwork(program, terminal), terminal, {
  readConfig: async (file) => (await readConfigOf(file)).config,
  deploy: async (options) => (await networkTools()).deploy(options),
  reconfigure: async (options) => (await networkTools()).reconfigure(options),
  secrets: async (options) => (await networkTools()).secrets(options),
  check: async (options) => (await networkTools()).check(options),
  cost: async (options) => (await networkTools()).cost(options),
  fund: async (options) => (await networkTools()).fund(options),
});
registerOracle(program, terminal, {
  readConfig: async (file) => (await readConfigOf(file)).config,
  start: async (options) =>
    traced("tyche-oracle", options, async () =>
      (await loadService(import("./startOracle.ts"))).startOracle(options),
    ),
  readKeys: async (options) => (await import("./oracle/oracleKeys.ts")).readOracleKeys(options),
  checkEvidence: async (options) => (await import("./tools/evidenceTool.ts")).checkEvidenceFile(options),
});
registerFaucet(program, terminal);
registerBeacon(program, terminal);

program.commandsGroup("The service:");
registerStart(program, {
  readConfig: ({ config, port, host }) => readConfigOf(config, { PORT: port, HOST: host }),
  start: async (options) =>
    traced("tyche", options, async () => (await loadService(import("./startTyche.ts"))).startTyche(options)),
});
registerConfig(program, terminal, {
  async read(file) {
    const { hideSecrets } = await import("./config/hideSecrets.ts");
    const { config, ...rest } = await readConfigOf(file);
    return { ...rest, config: hideSecrets(config) };
  },
  schema: async () => (await import("./config/configSchema.ts")).describeConfigSchema(),
});
registerBackup(program, terminal, {
  backUp: async (target, options) => (await import("./tools/backupTool.ts")).backUp(target, options),
  restore: async (file, location) => (await import("./tools/backupTool.ts")).restore(file, location),
});
registerDatabase(program, terminal, {
  migrate: async (location) => (await import("./tools/databaseTool.ts")).migrateDatabase(location),
  check: async (location, options) =>
    (await import("./tools/databaseTool.ts")).checkDatabase(location, options),
  compact: async (location) => (await import("./tools/databaseTool.ts")).compactDatabase(location),
  copy: async (location, options) =>
    (await import("./tools/databaseTool.ts")).copyDatabase(location, options),
});
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
