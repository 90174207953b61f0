import { InvalidArgumentError, type Command } from "commander";
import type { ShownChange, ShownCosts, ShownEstimate } from "../app/tools/networkTools.ts";
import { ask } from "./ask.ts";
import { loadConfig } from "./environment.ts";
import { parseRpcUrl } from "./parseRpcUrl.ts";
import type { Terminal } from "./terminal.ts";
import { UsageError } from "../lib/usageError.ts";

const DEPLOY_HELP = `
The account of the network's operatorKey pays, owns the contracts and later sends the service's requests; send nothing else from it during
the deployment. An interrupted run continues where it stopped. The contracts file is the one named in the configuration; beside it,
FILE.sources holds what block explorers need to verify the sources.`;

const YES = ["--yes", "don't ask"] as const;

interface NetworkFlags {
  readonly config?: string;
}

interface SendingFlags extends NetworkFlags {
  readonly yes?: true;
}

interface DeployFlags extends SendingFlags {
  readonly oracle: readonly string[];
}

interface CostFlags extends NetworkFlags {
  readonly rpcUrl?: string;
  readonly usd?: string;
  readonly gasPrice?: string;
  readonly json?: true;
}

/** Adds `tyche network deploy`, `reconfigure`, `secrets`, `check`, `cost` and `fund` to `tyche network`. */
export function registerNetworkTools(network: Command, terminal: Terminal): void {
  registerDeploy(add(network, "deploy"), terminal);
  registerReconfigure(add(network, "reconfigure"), terminal);
  registerSecretKeys(add(network, "secrets"), terminal);
  registerCheck(add(network, "check"), terminal);
  registerCost(
    add(network, "cost", "network of the configuration, one that is known, or with --gas-price any"),
    terminal,
  );
  registerFund(add(network, "fund"), terminal);
}

function registerDeploy(command: Command, terminal: Terminal): void {
  const { out, colors } = terminal;
  command
    .requiredOption(
      "--oracle <file...>",
      "output of `tyche oracle keys --json`: one file from an oracle with all keys, or the cards of 4 to 31 nodes and of a VRF operator",
    )
    .option(...YES)
    .description("Deploys the contracts to a network for an oracle, and writes the contracts file.")
    .addHelpText("after", DEPLOY_HELP)
    .action(async (name: string, flags: DeployFlags) => {
      const { deploy } = await loadTools();
      const { end, file, total } = await deploy({
        ...(await readConfig(name, flags)),
        oracleFiles: flags.oracle,
        async confirm(estimate) {
          printEstimate(estimate, terminal);
          return await mayGoOn("Deploy?", flags, terminal);
        },
        onStep: ({ index, of, name: step, hash, cost }) =>
          out(
            `  ${colors.green("✓")} ${`${index}/${of}`.padStart(5)}  ${step.padEnd(43)} ${cost.padEnd(16)} ${colors.dim(hash)}`,
          ),
      });
      if (end === "present") out(`${name} is deployed already: ${file}`);
      else if (end !== "declined") out(`deployed for ${total}; the contracts are in ${file}`);
    });
}

function registerReconfigure(command: Command, terminal: Terminal): void {
  const { out, colors } = terminal;
  command
    .requiredOption("--oracle <card...>", "cards of all nodes of the new set, 4 to 31")
    .option("--new-key", "have the new nodes generate a key for secrets: all secrets have to be set again")
    .option(...YES)
    .description(
      "Changes a network's oracle nodes; running nodes follow without a restart. The VRF keys stay the same.",
    )
    .action(async (name: string, flags: DeployFlags & { readonly newKey?: true }) => {
      const { reconfigure } = await loadTools();
      const done = await reconfigure({
        ...(await readConfig(name, flags)),
        cards: flags.oracle,
        newKey: flags.newKey === true,
        async confirm(change) {
          printChange(change, terminal);
          return await mayGoOn("Change the nodes?", flags, terminal);
        },
      });
      if (done.end === "reconfigured")
        out(`${name} has its new nodes, for ${done.cost}  ${colors.dim(done.hash)}`);
      else if (done.end !== "declined") out(`${name} has these nodes already`);
    });
}

function registerSecretKeys(command: Command, terminal: Terminal): void {
  const { out, colors } = terminal;
  command
    .option(...YES)
    .description(
      "Publishes the key for secrets that a network's nodes of several operators have generated among themselves. Start the service again afterwards.",
    )
    .action(async (name: string, flags: SendingFlags) => {
      const { publishSecretKeys } = await loadTools();
      const done = await publishSecretKeys({
        ...(await readConfig(name, flags)),
        async confirm(cost) {
          out(`  cost       at most ${cost}`);
          return await mayGoOn("Publish the key?", flags, terminal);
        },
      });
      if (done.end === "reconfigured")
        out(`the key is published, for ${done.cost}; start the service again  ${colors.dim(done.hash)}`);
      else if (done.end !== "declined") out("this key is published already");
    });
}

function registerCheck(command: Command, { out, colors }: Terminal): void {
  command
    .description(
      "Checks a network: its nodes, contracts, accounts and LINK. Exit code 1 when anything is wrong.",
    )
    .action(async (name: string, flags: NetworkFlags) => {
      const { check } = await loadTools();
      const isFine = await check({
        ...(await readConfig(name, flags)),
        onFinding({ isOk, text, remedy }) {
          out(`${isOk ? colors.green("✓") : colors.red("✗")} ${text}`);
          if (remedy !== undefined) out(`    ${remedy}`);
        },
      });
      if (!isFine) process.exitCode = 1;
    });
}

function registerCost(command: Command, terminal: Terminal): void {
  command
    .option(
      "--rpc-url <url>",
      "node that is asked for the gas price, in place of the configuration's",
      parseRpcUrl,
    )
    .option("--gas-price <gwei>", "gas price in place of the network's", parseAmount)
    .option(
      "--usd <price>",
      "price of the network's coin in dollars: shows what calls cost in dollars",
      parseAmount,
    )
    .option("--json", "print JSON")
    .description("Shows what calls cost at the network's current gas price, also before a deployment.")
    .action(async (name: string, flags: CostFlags) => {
      const { gasPrice, rpcUrl } = flags;
      const { cost } = await loadTools();
      const usd = flags.usd === undefined ? undefined : Number(flags.usd);
      const costs = await cost({ ...(await readConfig(name, flags)), gasPrice, rpcUrl, usd });
      if (flags.json) terminal.out(JSON.stringify({ network: name, ...costs }, null, 2));
      else printCosts(name, costs, terminal);
    });
}

function registerFund(command: Command, { out, colors }: Terminal): void {
  command
    .option("--link <amount>", "target LINK balance of the reserve that funds subscriptions", parseAmount)
    .option("--coin <amount>", "target coin balance of each oracle account", parseAmount)
    .description("Tops up the LINK reserve and the oracle's accounts from the operator's account.")
    .action(async (name: string, flags: NetworkFlags & { link?: string; coin?: string }) => {
      const { link, coin } = flags;
      if (link === undefined && coin === undefined)
        throw new UsageError("name what to send: --link, --coin, or both");
      const { fund } = await loadTools();
      await fund({
        ...(await readConfig(name, flags)),
        link,
        coin,
        onTransfer: ({ what, hash }) => out(`  ${colors.green("✓")} ${what}  ${colors.dim(hash)}`),
        onEnough: (sentence) => out(`  nothing to send: ${sentence}`),
      });
    });
}

function add(network: Command, command: string, name = "network of the configuration"): Command {
  return network.command(command).argument("<name>", name).option("--config <file>", "configuration file");
}

const loadTools = () => import("../app/tools/networkTools.ts");

/** Returns the network that a command names, and the configuration that it is read from. */
async function readConfig(network: string, { config }: NetworkFlags) {
  return { network, config: (await loadConfig(config)).config };
}

/** Asks, unless `--yes` has answered; says that nothing was sent if the answer is no. */
async function mayGoOn(question: string, { yes }: SendingFlags, terminal: Terminal): Promise<boolean> {
  if (yes === true || (await ask(question, terminal))) return true;
  terminal.out("nothing was sent");
  process.exitCode = 1;
  return false;
}

function printCosts(name: string, costs: ShownCosts, { out, colors }: Terminal): void {
  const { gasPrice, gasPriceWei, coin, calls } = costs;
  const price = gasPrice === undefined ? "" : `gas costs ${gasPrice} on ${name}; `;
  out(`${price}request and answer together take`);
  const amounts = Math.max(...calls.map(({ cost = "" }) => cost.length));
  for (const { what, gas, cost = "", costUsd } of calls) {
    const dollars =
      costUsd === undefined
        ? ""
        : `  ${inDollars(costUsd).padEnd(9)}  ${inDollars(1000 * costUsd)} for 1,000`;
    out(`  ${what.padEnd(35)} ${gas.padStart(8)} gas  ${cost.padEnd(amounts)}${dollars}`.trimEnd());
  }
  if (costs.link !== undefined) {
    const { perPreset, perPresetUsd, paidTo } = costs.link;
    const dollars = perPresetUsd === undefined ? "" : ` (${inDollars(perPresetUsd)})`;
    out(
      `A preset alone also takes about ${perPreset}${dollars} from its dapp's subscription, for ${paidTo}.`,
    );
  }
  for (const note of costNotes({
    gasPriceWei,
    coin,
    isInDollars: calls.some(({ costUsd }) => costUsd !== undefined),
  }))
    out(colors.dim(note));
}

function costNotes(costs: {
  readonly gasPriceWei?: string | undefined;
  readonly coin: string;
  readonly isInDollars: boolean;
}): string[] {
  const { gasPriceWei, coin, isInDollars } = costs;
  if (gasPriceWei === undefined)
    return [
      "For what that costs, name a node with --rpc-url, which is asked for the gas price, or the price itself with --gas-price.",
    ];
  if (gasPriceWei === "0")
    return [
      "An embedded network's coins are free; --rpc-url or --gas-price shows what the public one charges.",
    ];
  const rollup = "A rollup adds what it charges for the data of transactions.";
  return isInDollars ? [rollup] : [rollup, `--usd with the price of a coin (${coin}) shows dollars.`];
}

function inDollars(amount: number): string {
  const digits = amount >= 1 ? {} : { maximumSignificantDigits: 2 };
  return amount.toLocaleString("en", { style: "currency", currency: "USD", ...digits });
}

function printEstimate(estimate: ShownEstimate, { out, colors }: Terminal): void {
  const { deployer, balance, left, steps, gas, gasPrice, cost, missing, existing, isResumed } = estimate;
  if (isResumed) out("continuing an earlier run");
  out(`  account    ${deployer}  ${balance}`);
  out(`  left       ${left} of ${steps} transactions, at most ${gas} gas at ${gasPrice}`);
  out(`  cost       at most ${cost}`);
  if (existing.length > 0) out(`  taken      ${existing.join(", ")}`);
  if (missing !== undefined) out(colors.yellow(`  the account may lack ${missing}`));
}

function printChange(change: ShownChange, { out }: Terminal): void {
  const { owner, balance, cost, added, removed, configDigest, takesOverKey } = change;
  out(`  account    ${owner}  ${balance}`);
  for (const signer of added) out(`  new        ${signer}`);
  for (const signer of removed) out(`  removed    ${signer}`);
  out(
    takesOverKey
      ? `  secrets    the new nodes take over the key; operators of the present ones let them by "handKeyOnTo": "${configDigest}"`
      : "  secrets    the new nodes generate another key; what is set now can't be read any more",
  );
  out(`  cost       at most ${cost}`);
}

function parseAmount(text: string): string {
  if (!/^(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,18})?$/.test(text))
    throw new InvalidArgumentError("It must be a decimal number, such as 0.5.");
  return text;
}
