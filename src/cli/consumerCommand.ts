import type { Command } from "commander";
import { TycheError } from "../lib/errors.ts";
import { connectService, findDappOfKey, withService, type ServiceFlags } from "./connectService.ts";
import type { Terminal } from "./terminal.ts";

interface ConsumerFlags extends ServiceFlags {
  readonly network: string;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ tyche consumer add 0x5FbDB2315678afecb367f032d93F642f64180aa3 --network sepolia
  $ tyche consumer remove 0x5FbDB2315678afecb367f032d93F642f64180aa3 --network sepolia`;

/** Adds `tyche consumer add` and `remove`. */
export function registerConsumer(program: Command, terminal: Terminal): void {
  const consumer = program
    .command("consumer")
    .description("Links contracts to a dapp's subscriptions, and unlinks them.")
    .addHelpText("after", EXAMPLES);

  withConsumer(consumer.command("add"))
    .description("Links a contract, so that it can request words and functions itself.")
    .action(async (address: string, flags: ConsumerFlags) => {
      const { client, dappId = await findDappOfKey() } = await connectService(flags);
      if (dappId === undefined)
        throw new TycheError("with TYCHE_API_KEY, name its dapp in --dapp", {
          code: "invalid_parameter",
          blame: "caller",
        });
      const linked = await client.addConsumer({ dappId, network: flags.network, consumer: address });
      print(linked, flags, terminal);
      if (!flags.json) terminal.err(terminal.colors.dim(`linked ${address} on ${flags.network}`));
    });

  withConsumer(consumer.command("remove"))
    .description("Unlinks a contract, once no request of the dapp is under way on the network.")
    .action(async (address: string, flags: ConsumerFlags) => {
      const { client } = await connectService(flags);
      const unlinked = await client.removeConsumer({ network: flags.network, consumer: address });
      print(unlinked, flags, terminal);
      if (!flags.json) terminal.err(terminal.colors.dim(`unlinked ${address} on ${flags.network}`));
    });
}

function withConsumer(command: Command): Command {
  return withService(command)
    .argument("<address>", "address of the contract")
    .requiredOption(
      "--network <name>",
      "network where it is deployed, such as sepolia; tyche network list names them",
    )
    .option("--json", "print JSON");
}

function print(
  result: { readonly transactionHash: string },
  { json }: ConsumerFlags,
  { out }: Terminal,
): void {
  out(json ? JSON.stringify(result) : result.transactionHash);
}
