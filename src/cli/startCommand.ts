import { writeSync } from "node:fs";
import type { Command } from "commander";
import { pino } from "pino";
import { TycheError } from "../lib/errors.ts";
import { LOG_REDACTION, redactLine } from "../lib/logRedaction.ts";
import { startTyche, type Tyche, type TycheOptions } from "../main.ts";
import { DEFAULT_PRESETS_FOLDER } from "../presetTools.ts";
import { dataDirOfEnvironment } from "./dappCommands.ts";
import type { Terminal } from "./terminal.ts";

const DEFAULT_PORT = 3000;
const DEFAULT_HOST = "127.0.0.1";
const LOG_LEVELS: readonly string[] = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
const DEFAULT_LOG_LEVEL = "warn";

const HELP = `
Environment:
  PORT            port of the API; 0 takes a free one (default ${DEFAULT_PORT})
  HOST            address to listen on (default ${DEFAULT_HOST})
  TYCHE_DATA_DIR  folder of all state (default .tyche)
  TYCHE_ALLOW_HOSTS    hosts sources may reach although not public: 127.0.0.1:8080,… (default none)
  TYCHE_ALLOW_MODULES  modules sources may import: npm:ethers@6,https://esm.sh/,… (default none)
  TYCHE_SIGN_IN        who signs in to the application: always everybody, local all but this machine (default local;
                       always where HOST is an address that others reach)
  LOG_LEVEL       trace, debug, info, warn, error, fatal or silent (default ${DEFAULT_LOG_LEVEL})

Examples:
  $ tyche start
  $ PORT=0 TYCHE_DATA_DIR=/tmp/tyche tyche start`;

/** Adds `tyche start`. */
export function registerStart(program: Command, terminal: Terminal): void {
  program
    .command("start")
    .description("Serves the API, with embedded chains and their oracle, until SIGINT or SIGTERM.")
    .addHelpText("after", HELP)
    .action(() => start(terminal));
}

async function start(terminal: Terminal): Promise<void> {
  const began = performance.now();
  const { out, colors } = terminal;
  const { env } = process;
  const port = parsePort(env["PORT"]);
  const log = pino(
    { level: parseLogLevel(env["LOG_LEVEL"]), redact: LOG_REDACTION, hooks: { streamWrite: redactLine } },
    pino.destination({ dest: 2, sync: true }),
  );
  out(`${colors.bold("Tyche")} is starting`);
  const tyche = await startTyche({
    dataDir: dataDirOfEnvironment(),
    host: env["HOST"] || DEFAULT_HOST,
    port,
    ...parseSignIn(env["TYCHE_SIGN_IN"]),
    pluginsDir: DEFAULT_PRESETS_FOLDER,
    log,
    allowHosts: listOf(env["TYCHE_ALLOW_HOSTS"]),
    allowModules: listOf(env["TYCHE_ALLOW_MODULES"]),
    onFatal(message) {
      writeSync(
        2,
        `${message}; the service ends, and goes on from what is stored when it is started again\n`,
      );
      process.exit(1);
    },
    onNetwork({ name, rpcUrl, ms, isNew }) {
      const note = `${isNew ? "new chain" : "continued"}, ${Math.round(ms)} ms`;
      out(`  ${colors.green("✓")} ${name.padEnd(15)} ${rpcUrl}  ${colors.dim(note)}`);
    },
  });
  printWelcome(tyche, performance.now() - began, terminal);

  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    out(colors.dim(`${signal}: finishing what is in flight`));
    void tyche.close().then(() => process.exit(0));
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
}

function printWelcome(
  { url, apiKey, operatorTokenFile }: Tyche,
  ms: number,
  { out, colors }: Terminal,
): void {
  const signIn = operatorTokenFile === undefined ? "" : `; sign in with the token in ${operatorTokenFile}`;
  out(`
  Ready in ${(ms / 1000).toFixed(2)} s

  API       ${colors.cyan(url)}
  API key   ${apiKey}
  Pages     ${colors.cyan(`${url}/`)} application${signIn}
            ${colors.cyan(`${url}/explorer`)} what is on the chains
            ${colors.cyan(`${url}/docs`)} API documentation

  Try it:

    curl -X POST '${url}/api/vrfv2/presets?network=sepolia&preset=coinflip' \\
      -H 'Authorization: ${apiKey}' -H 'Content-Type: application/json' -d '{}'
`);
}

function parseSignIn(text: string | undefined): Pick<TycheOptions, "signIn"> {
  if (text === undefined || text === "") return {};
  if (text === "local" || text === "always") return { signIn: text };
  throw new TycheError(`TYCHE_SIGN_IN must be local or always, not ${JSON.stringify(text)}`, {
    code: "start_failed",
    blame: "caller",
  });
}

function parsePort(text: string | undefined): number {
  if (text === undefined || text === "") return DEFAULT_PORT;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new TycheError(`PORT must be a whole number from 0 to 65535, not ${JSON.stringify(text)}`, {
    code: "start_failed",
    blame: "caller",
  });
}

function parseLogLevel(text: string | undefined): string {
  if (text === undefined || text === "") return DEFAULT_LOG_LEVEL;
  if (LOG_LEVELS.includes(text)) return text;
  throw new TycheError(`LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}, not ${JSON.stringify(text)}`, {
    code: "start_failed",
    blame: "caller",
  });
}

function listOf(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
