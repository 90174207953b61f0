import type { Command } from "commander";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import { chooseNetwork, withNetwork, type NetworkFlag } from "./networkOption.ts";
import type { Terminal } from "./terminal.ts";

/** Adds `tyche faucet`. */
export function registerFaucet(program: Command, { out, err, colors }: Terminal): void {
  withNetwork(withService(program.command("faucet")), "embedded network")
    .description("Sends 10 coins and 100 LINK to an address on an embedded chain.")
    .argument("<address>", "address that receives them")
    .option("--json", "print JSON")
    .action(async (address: string, flags: ServiceFlags & NetworkFlag & { readonly json?: true }) => {
      const { client } = await connectService(flags);
      const network = await chooseNetwork(client, flags);
      const gift = await client.faucet({ network, address });
      if (flags.json) return out(JSON.stringify(gift));
      out(gift.transactionHashes.join("\n"));
      err(colors.dim(`sent 10 coins and 100 LINK to ${address} on ${network}`));
    });
}
