import { InvalidArgumentError, Option, type Command } from "commander";
import type { Logger } from "pino";
import { findOutsideKey, type OutsideSecret } from "../lib/outsideSecret.ts";
import { dataDirOfEnvironment } from "./dappCommands.ts";
import { parseRpcUrl } from "./parseRpcUrl.ts";
import { createLog } from "./serviceLog.ts";
import { stopOnSignals } from "./stopOnSignals.ts";
import { createServiceTerminal, type Terminal } from "./terminal.ts";
import { UsageError } from "./usageError.ts";

const HELP = `
Serves the configured networks that have rpcUrls, with one set of keys for each chain, derived from the master key in TYCHE_DATA_DIR.
The oracle of embedded networks runs in the process of \`tyche start\`. /readyz, /healthz and /metrics are on PORT.`;

/** An oracle's public identity on one chain. */
interface Identity {
  readonly chainId: number;
  readonly vrf: { readonly keyHash: string; readonly feeReceiver: string };
  readonly functions: { readonly signers: readonly string[]; readonly transmitters: readonly string[] };
}

/** A part of an oracle that several operators run. */
type OracleRole = { readonly role: "node"; readonly url: string } | { readonly role: "vrf" };

/** The public identity of one such part on one chain. */
type Card = { readonly chainId: number } & (
  | { readonly role: "node"; readonly url: string; readonly signer: string; readonly transmitter: string }
  | { readonly role: "vrf"; readonly keyHash: string; readonly feeReceiver: string }
);

/** The implementations that the program's composition provides. */
export interface OracleMeans<Config extends { readonly logLevel: string }> {
  readConfig(this: void, file: string | undefined): Promise<Config>;
  start(
    this: void,
    options: {
      readonly config: Config;
      readonly dataDir: string;
      readonly masterKey: OutsideSecret | undefined;
      readonly log: Logger;
      readonly onFatal: (message: string) => void;
    },
  ): Promise<{ readonly url: string; readonly networks: readonly string[]; close(): Promise<void> }>;
  readKeys(
    this: void,
    options: {
      readonly config: Config;
      readonly dataDir: string;
      readonly masterKey: OutsideSecret | undefined;
      readonly chainIds: readonly number[];
      readonly role: OracleRole | undefined;
    },
  ): Promise<{ readonly oracles: readonly Identity[] } | { readonly cards: readonly Card[] }>;
  checkEvidence(
    this: void,
    options: { readonly file: string; readonly rpcUrl: string | undefined },
  ): Promise<readonly { readonly isProven: boolean; readonly text: string }[]>;
}

interface KeysFlags {
  readonly config?: string;
  readonly chainId?: readonly number[];
  readonly role?: "node" | "vrf";
  readonly url?: string;
  readonly json?: true;
}

/** Adds `tyche oracle`, `tyche oracle keys` and `tyche oracle evidence`. */
export function registerOracle<Config extends { readonly logLevel: string }>(
  program: Command,
  terminal: Terminal,
  means: OracleMeans<Config>,
): void {
  const oracle = program
    .command("oracle")
    .option("--config <file>", "configuration file")
    .description("Runs the oracle of external networks until SIGINT or SIGTERM.")
    .addHelpText("after", HELP)
    .action((flags: { readonly config?: string }) => start(means, flags.config));
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
      const identities = await means.readKeys({
        config: await means.readConfig(flags.config),
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
    .action(async (file: string, flags: { readonly rpcUrl?: string }) =>
      printFindings(await means.checkEvidence({ file, rpcUrl: flags.rpcUrl }), terminal),
    );
}

function printFindings(
  findings: readonly { readonly isProven: boolean; readonly text: string }[],
  { out, colors }: Terminal,
): void {
  for (const { isProven, text } of findings) out(`${isProven ? colors.green("✓") : colors.red("✗")} ${text}`);
  if (findings.length === 0) out("there is no evidence in it");
  if (!findings.every(({ isProven }) => isProven)) process.exitCode = 1;
}

async function start<Config extends { readonly logLevel: string }>(
  means: OracleMeans<Config>,
  configFile: string | undefined,
): Promise<void> {
  const terminal = createServiceTerminal();
  const { out, err, colors } = terminal;
  const config = await means.readConfig(configFile);
  const log = await createLog(config.logLevel);
  const masterKey = findOutsideKey(process.env);
  // No child process needs it.
  delete process.env["TYCHE_MASTER_KEY"];
  const oracle = await means.start({
    config,
    dataDir: dataDirOfEnvironment(),
    masterKey,
    log,
    onFatal(message) {
      err(`${message}; the oracle stops, and continues from the chain when it is started again`);
      process.exit(1);
    },
  });
  out(`Oracle of ${oracle.networks.join(", ")}\n  State     ${colors.cyan(`${oracle.url}/readyz`)}`);
  stopOnSignals(oracle, terminal);
}

function printIdentity({ chainId, vrf, functions }: Identity, { out, colors }: Terminal): void {
  out(colors.bold(`chain ${chainId}`));
  out(`  VRF key hash   ${vrf.keyHash}`);
  out(`  fee receiver   ${vrf.feeReceiver}  (sends proofs; needs coin)`);
  for (const signer of functions.signers) out(`  signer         ${signer}`);
  for (const transmitter of functions.transmitters) out(`  transmitter    ${transmitter}  (needs coin)`);
}

function printCard(card: Card, { out, colors }: Terminal): void {
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
