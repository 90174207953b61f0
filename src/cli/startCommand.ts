import type { Command } from "commander";
import type { Tyche, TycheOptions } from "../app/startTyche.ts";
import { findOutsideKey, findOutsideToken } from "../lib/outsideSecret.ts";
import { describeMigrated } from "./describeMigrated.ts";
import { dataDirOfEnvironment, loadConfig, loadService } from "./environment.ts";
import { createLog } from "./serviceLog.ts";
import { stopOnSignals } from "./stopOnSignals.ts";
import { createServiceTerminal, oneLine, type Terminal } from "./terminal.ts";
import { quoteForShell } from "../lib/quoteForShell.ts";

/** How long the process may keep closing after a failed start. */
const FAILED_START_LIMIT_MS = 3_000;

const HELP = `
Environment, over what the configuration file says (tyche config check):
  TYCHE_CONFIG    configuration file (default tyche.json in the data directory, if it is there)
  PORT            port of the API; 0 takes a free one (default 3000)
  HOST            address to listen on (default 127.0.0.1)
  TYCHE_DATA_DIR  folder that holds all state (default .tyche)
  TYCHE_MASTER_KEY_FILE  file with the master key, 64 hex digits, so that no backup of the folder holds it (default: in the
                         folder); TYCHE_MASTER_KEY holds the key itself
  TYCHE_OPERATOR_TOKEN_FILE  file with the token that signs in to the application, at least 32 characters (default: in the
                         folder); TYCHE_OPERATOR_TOKEN holds the token itself
  TYCHE_ACCEPT_CHAINS  networks whose chain may be newer than the database: after a mixed restore, for one start
  TYCHE_ALLOW_HOSTS    non-public hosts that sources may reach: 127.0.0.1:8080,… (default none)
  TYCHE_ALLOW_MODULES  modules sources may import: npm:ethers@6,https://esm.sh/,… (default none)
  TYCHE_RPC_ORIGINS    origins of pages that may use the chains' RPC ports: https://app.example.org,… (default: this machine's)
  TYCHE_HOSTS          host names under which a reverse proxy serves this, if HOST is a loopback address (default none)
  TYCHE_PUBLIC_URL     address under which callers reach this, such as https://tyche.example.org: links in results start with it, and
                       TYCHE_HOSTS need not list its host name (default: the address listened on)
  TYCHE_TRUST_PROXY    true: a reverse proxy says in X-Forwarded-For whose call it is; only where all callers come through it (default false)
  TYCHE_ACCEPT_MISSING  layers of the sandbox that may be missing: system-calls,user (default none)
  LOG_LEVEL       trace, debug, info, warn, error, fatal or silent (default warn)`;

/** Flags of the command: they override the environment, which overrides the file. */
export interface StartFlags {
  readonly config?: string;
  readonly port?: string;
  readonly host?: string;
}

/** Adds `tyche start`. */
export function registerStart(program: Command): void {
  program
    .command("start")
    .option("--port <number>", "port of the API; 0 takes a free one (default 3000)")
    .option("--host <address>", "address to listen on (default 127.0.0.1)")
    .option("--config <file>", "configuration file")
    .description("Serves the API, with embedded chains and their oracle, until SIGINT or SIGTERM.")
    .addHelpText("after", HELP)
    .action((flags: StartFlags) => start(flags));
}

async function start(flags: StartFlags): Promise<void> {
  const began = performance.now();
  const terminal = createServiceTerminal();
  const { out, err, colors } = terminal;
  const { env } = process;
  const { config, unknownVariables } = await loadConfig(flags.config, { PORT: flags.port, HOST: flags.host });
  const log = await createLog(config.logLevel, terminal);
  for (const variable of unknownVariables)
    log.warn({ variable }, "nothing reads this environment variable; is it misspelt?");
  const masterKey = findOutsideKey(env);
  const operatorToken = findOutsideToken(env);
  // No child process needs them.
  delete env["TYCHE_MASTER_KEY"];
  delete env["TYCHE_OPERATOR_TOKEN"];
  out(`${colors.bold("Tyche")} is starting`);
  const dataDir = dataDirOfEnvironment();
  const takenPorts: number[] = [];
  const options: TycheOptions = {
    config,
    dataDir,
    masterKey,
    operatorToken,
    log,
    acceptChains: listOf(env["TYCHE_ACCEPT_CHAINS"]),
    onFatal(message) {
      err(`${message}; the service stops, and continues from its stored state when it is started again`);
      process.exit(1);
    },
    onMigrated: (migrated) => out(`  ${colors.green("✓")} ${describeMigrated(migrated)}`),
    onNetwork({ name, rpcUrl, ms, isNew, takenPort, findings }) {
      if (takenPort !== undefined) takenPorts.push(takenPort);
      const note = `${isNew ? "new chain" : "continued"}, ${Math.round(ms)} ms`;
      out(
        `  ${colors.green("✓")} ${name.padEnd(15)} ${rpcUrl ?? "the nodes configured for it"}  ${colors.dim(note)}`,
      );
      for (const finding of findings) out(`  ${colors.yellow("!")} ${oneLine(finding)}`);
    },
    onDown: (name) => out(`  ${colors.red("✗")} ${name.padEnd(15)} down`),
  };
  const { startTraced } = await import("../app/tracing.ts");
  const tyche = await startTraced("tyche", options, async () =>
    (await loadService(import("../app/startTyche.ts"))).startTyche(options),
  ).catch((error: unknown) => {
    // The leftovers of a failed start must not keep the process alive, and with it the lock on the data directory. Chains die
    // with the process.
    setTimeout(() => process.exit(1), FAILED_START_LIMIT_MS).unref();
    throw error;
  });
  if (takenPorts.length > 0) out(`  ${colors.yellow("!")} ${describeTaken(takenPorts)}`);
  // Whoever reads that it is ready may send a signal at once.
  stopOnSignals(tyche, terminal);
  printWelcome({ ...tyche, dataDir }, performance.now() - began, terminal);
}

/** Says in a line that chains couldn't have their usual ports; the lines of the networks have those that they got. */
export function describeTaken(ports: readonly number[]): string {
  const all = ports.toSorted((a, b) => a - b).join(", ");
  return ports.length === 1
    ? `port ${all} is taken by another program or not permitted, so an RPC URL above is new: change it in wallets and tools, or free the port and restart`
    : `ports ${all} are taken by other programs or not permitted, so RPC URLs above are new: change them in wallets and tools, or free the ports and restart`;
}

function listOf(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

/** What to tell people after a start: `dataDir` is absolute, because commands are given in other folders, too. */
export type Welcome = Omit<Tyche, "close"> & { readonly dataDir: string };

/**
 * Prints where to reach the service and how to use it. Shows key and sign-in link only to a person; if a file or a program reads the
 * output, such as a log, it names the files that hold the secrets instead.
 */
export function printWelcome(welcome: Welcome, ms: number, { out, colors, isTerminal }: Terminal): void {
  const { url, localUrl, apiKey, apiKeyFile, signInLink, operatorTokenAt, dataDir, networks, down } = welcome;
  const example = networks.find(({ name }) => name === "sepolia") ?? networks[0] ?? down.networks[0];
  const place = apiKeyFile === undefined ? "shown by `npx tyche dapp config`" : `in ${apiKeyFile}`;
  const inShell =
    apiKeyFile === undefined
      ? `"$(npx tyche dapp config --env | sed -n s/^TYCHE_API_KEY=//p)"`
      : `"$(cat ${quoteForShell(apiKeyFile)})"`;
  const signIn = isTerminal
    ? `sign in once with ${colors.cyan(signInLink)}\n            or with the token in ${operatorTokenAt}`
    : `sign in with the token in ${operatorTokenAt}`;
  out(`
  Ready in ${(ms / 1000).toFixed(2)} s${down.networks.length === 0 ? "" : colors.red(`, but ${down.networks.map(({ name }) => name).join(", ")} can't serve: see below`)}

  API       ${colors.cyan(url)}
  API key   ${isTerminal ? apiKey : place}
  Pages     ${colors.cyan(`${url}/`)} application; ${signIn}
            ${colors.cyan(`${url}/explorer`)} activity on the chains
            ${colors.cyan(`${url}/docs`)} API documentation

  In another terminal:

    export TYCHE_URL=${localUrl}
    export TYCHE_DATA_DIR=${quoteForShell(dataDir)}
    export TYCHE_API_KEY=${isTerminal ? apiKey : inShell}
    curl -X POST "$TYCHE_URL/api/vrfv2/presets?network=${example?.name}&preset=coinflip" \\
      -H "Authorization: $TYCHE_API_KEY" -H 'Content-Type: application/json' -d '{}'
`);
  printDown(down, { out, colors });
}

/** Prints, as the last lines of a start, what is down and what to do. */
function printDown(
  { networks, remedies }: Welcome["down"],
  { out, colors }: Pick<Terminal, "out" | "colors">,
) {
  if (networks.length === 0) return;
  for (const { name, why } of networks) out(`  ${colors.red("✗")} ${name.padEnd(15)} ${oneLine(why)}`);
  for (const remedy of remedies) out(`\n  ${remedy}.`);
  const rest = networks.filter(({ isTriedAgain }) => !isTriedAgain).map(({ name }) => name);
  if (rest.length === 0) out("");
  else out(`\n  Then restart the service: it doesn't try ${rest.join(", ")} again by itself.\n`);
}
