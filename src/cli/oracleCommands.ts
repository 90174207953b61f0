import { InvalidArgumentError, Option, type Command } from "commander";
import type { OracleRole } from "../app/oracle/oracleRole.ts";
import type { EvidenceFinding } from "../app/tools/evidenceTool.ts";
import type { OracleCard } from "../networks/external/oracleCards.ts";
import type { OracleIdentity } from "../networks/external/oracleIdentity.ts";
import { findOutsideKey } from "../lib/outsideSecret.ts";
import type { Migrated } from "../store/store.ts";
import { describeMigrated } from "./describeMigrated.ts";
import { dataDirOfEnvironment, loadConfig, loadService } from "./environment.ts";
import { parseRpcUrl } from "./parseRpcUrl.ts";
import { createLog } from "./serviceLog.ts";
import { stopOnSignals } from "./stopOnSignals.ts";
import { createServiceTerminal, type Terminal } from "./terminal.ts";
import { UsageError } from "../lib/usageError.ts";

const HELP = `
Serves the configured networks that have rpcUrls, with one set of keys for each chain, derived from the master key in TYCHE_DATA_DIR.
The oracle of embedded networks runs in the process of \`tyche start\`. /readyz, /healthz and /metrics are on PORT.`;

interface KeysFlags {
  readonly config?: string;
  readonly chainId?: readonly number[];
  readonly role?: "node" | "vrf";
  readonly url?: string;
  readonly json?: true;
}

/** Adds `tyche oracle`, `tyche oracle keys` and `tyche oracle evidence`. */
export function registerOracle(program: Command, terminal: Terminal): void {
  const oracle = program
    .command("oracle")
    .option("--config <file>", "configuration file")
    .description("Runs the oracle of external networks until SIGINT or SIGTERM.")
    .addHelpText("after", HELP)
    .action((flags: { readonly config?: string }) => start(flags.config));
  oracle
    .command("keys")
    .option("--config <file>", "configuration file")
    .option("--chain-id <id...>", "chain to add to those of the configuration", collectChainId)
    .addOption(
      new Option("--role <role>", "run only this part of an oracle, from this data directory").choices([
        "node",
        "vrf",
      ]),
    )
    .option("--url <url>", "URL at which the other nodes reach this one; with --role node")
    .option("--json", "print the JSON that `tyche network deploy` takes")
    .description("Prints the oracle's public identity; its first use creates the keys.")
    .action(async (_: object, command: Command) => {
      const flags: KeysFlags = command.optsWithGlobals();
      const { config } = await loadConfig(flags.config);
      const { readOracleKeys } = await import("../app/oracle/oracleKeys.ts");
      const identities = readOracleKeys({
        config,
        dataDir: dataDirOfEnvironment(),
        masterKey: findOutsideKey(process.env),
        chainIds: flags.chainId ?? [],
        role: parseRole(flags),
      });
      if (flags.json) terminal.out(JSON.stringify(identities, null, 2));
      else if ("cards" in identities) for (const card of identities.cards) printCard(card, terminal);
      else for (const identity of identities.oracles) printIdentity(identity, terminal);
    });
  oracle
    .command("evidence")
    .argument("<file>", "a node's answer to GET /evidence")
    .option(
      "--rpc-url <url>",
      "node of the chain, to check that the coordinator had these oracle nodes",
      parseRpcUrl,
    )
    .description("Checks evidence against oracle nodes. Exit code 1 when any of it proves nothing.")
    .action(async (file: string, { rpcUrl }: { readonly rpcUrl?: string }) => {
      const { checkEvidenceFile } = await import("../app/tools/evidenceTool.ts");
      printFindings(await checkEvidenceFile({ file, rpcUrl }), terminal);
    });
}

function printFindings(findings: readonly EvidenceFinding[], { out, colors }: Terminal): void {
  for (const { isProven, text } of findings) out(`${isProven ? colors.green("✓") : colors.red("✗")} ${text}`);
  if (findings.length === 0) out("there is no evidence in it");
  if (!findings.every(({ isProven }) => isProven)) process.exitCode = 1;
}

async function start(configFile: string | undefined): Promise<void> {
  const terminal = createServiceTerminal();
  const { out, err, colors } = terminal;
  const { config } = await loadConfig(configFile);
  const log = await createLog(config.logLevel);
  const masterKey = findOutsideKey(process.env);
  // No child process needs it.
  delete process.env["TYCHE_MASTER_KEY"];
  const options = {
    config,
    dataDir: dataDirOfEnvironment(),
    masterKey,
    log,
    onFatal(message: string) {
      err(`${message}; the oracle stops, and continues from the chain when it is started again`);
      process.exit(1);
    },
    onMigrated: (migrated: Migrated) => out(describeMigrated(migrated)),
  };
  const { startTraced } = await import("../app/tracing.ts");
  const oracle = await startTraced("tyche-oracle", options, async () =>
    (await loadService(import("../app/startOracle.ts"))).startOracle(options),
  );
  stopOnSignals(oracle, terminal);
  out(`Oracle of ${oracle.networks.join(", ")}\n  State     ${colors.cyan(`${oracle.url}/readyz`)}`);
}

function printIdentity({ chainId, vrf, functions }: OracleIdentity, { out, colors }: Terminal): void {
  out(colors.bold(`chain ${chainId}`));
  out(`  VRF key hash   ${vrf.keyHash}`);
  out(`  fee receiver   ${vrf.feeReceiver}  (sends proofs; needs coin)`);
  for (const signer of functions.signers) out(`  signer         ${signer}`);
  for (const transmitter of functions.transmitters) out(`  transmitter    ${transmitter}  (needs coin)`);
}

function printCard(card: OracleCard, { out, colors }: Terminal): void {
  out(colors.bold(`chain ${card.chainId}, ${card.role === "node" ? "oracle node" : "VRF"}`));
  if (card.role === "node") {
    out(`  URL            ${card.url}`);
    out(`  signer         ${card.signer}`);
    out(`  transmitter    ${card.transmitter}  (needs coin)`);
  } else {
    out(`  VRF key hash   ${card.keyHash}`);
    out(`  fee receiver   ${card.feeReceiver}  (sends proofs; needs coin)`);
  }
}

function parseRole({ role, url }: KeysFlags): OracleRole | undefined {
  if (role === "node") {
    if (url !== undefined) return { role, url };
    throw new UsageError("--role node needs --url, at which the other nodes reach this one");
  }
  if (url !== undefined) throw new UsageError("--url is for --role node");
  return role === undefined ? undefined : { role };
}

function collectChainId(text: string, before: readonly number[] | undefined): readonly number[] {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) throw new InvalidArgumentError("It must be a chain id.");
  return [...(before ?? []), Number(text)];
}
