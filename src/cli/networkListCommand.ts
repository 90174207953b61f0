import type { Command } from "commander";
import { withTools } from "./dappCommands.ts";
import type { Terminal } from "./terminal.ts";

/** Adds `tyche network list`; returns `tyche network`. */
export function registerNetwork(program: Command, terminal: Terminal): Command {
  const network = program
    .command("network")
    .description("Lists the networks; deploys to, checks and funds external ones.");
  network
    .command("list")
    .option("--json", "print JSON")
    .description("Lists the networks with their RPC URLs and contracts, as of the service's last start.")
    .action(({ json }: { readonly json?: true }) =>
      withTools(async (tools) => {
        const networks = await tools.networks();
        if (json) terminal.out(JSON.stringify(networks, null, 2));
        else
          for (const one of networks)
            terminal.out(
              `${one.name.padEnd(16)} chain ${String(one.chainId).padEnd(9)} ${one.rpcUrl ?? (Object.keys(one.contracts).length > 0 ? "nodes of its own" : "not started yet")}`,
            );
      }),
    );
  return network;
}
