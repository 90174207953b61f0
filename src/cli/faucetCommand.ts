import type { Command } from "commander";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import type { Terminal } from "./terminal.ts";

const EXAMPLES = `
Examples:
  $ tyche faucet 0x5FbDB2315678afecb367f032d93F642f64180aa3 --network sepolia`;

/** Adds `tyche faucet`. */
export function registerFaucet(program: Command, { out }: Terminal): void {
  withService(program.command("faucet"))
    .description("Sends 10 coins and 100 LINK to an address on an embedded chain.")
    .argument("<address>", "who gets them")
    .requiredOption("--network <name>", "network whose coin it is")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(
      async (address: string, flags: ServiceFlags & { readonly network: string; readonly json?: true }) => {
        const { client } = await connectService(flags);
        const gift = await client.faucet({ network: flags.network, address });
        out(flags.json ? JSON.stringify(gift) : gift.transactionHashes.join("\n"));
      },
    );
}
