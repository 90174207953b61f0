import type { Command } from "commander";
import type { NetworkSummary } from "../app/tools/dappTools.ts";
import { withTools } from "./dappCommands.ts";
import type { Terminal } from "./terminal.ts";

/** How long an embedded chain on this machine may take to answer. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Adds `tyche network list`; returns `tyche network`. */
export function registerNetwork(program: Command, terminal: Terminal): Command {
  const network = program
    .command("network")
    .description("Lists the networks; deploys to, checks and funds external ones.");
  network
    .command("list")
    .option("--json", "print JSON")
    .description(
      "Lists the networks with their RPC URLs and contracts, as of the service's last start, and whether those of this machine answer.",
    )
    .action(({ json }: { readonly json?: true }) =>
      withTools(async (tools) => {
        const networks = await Promise.all(
          (await tools.networks()).map(async (one): Promise<ListedNetwork> =>
            one.rpcUrl === undefined ? one : { ...one, answers: await isAnswering(one.rpcUrl, one.chainId) },
          ),
        );
        if (json) return terminal.out(JSON.stringify(networks, null, 2));
        if (networks.length === 0)
          terminal.err("no network has been started yet; start them with tyche start");
        for (const one of networks) terminal.out(describe(one, terminal));
        if (networks.some(({ answers }) => answers === false))
          terminal.err(
            terminal.colors.dim(
              "An embedded chain answers while the service runs; start it with tyche start.",
            ),
          );
      }),
    );
  return network;
}

/** A network; `answers` only where it has an RPC URL. */
type ListedNetwork = NetworkSummary & { readonly answers?: boolean };

function describe(network: ListedNetwork, { colors }: Terminal): string {
  const { name, chainId, rpcUrl, answers } = network;
  // The URLs of external nodes may hold keys: they stay in the configuration.
  const note = answers === false ? `  ${colors.yellow("doesn't answer")}` : "";
  return `${name.padEnd(16)} chain ${String(chainId).padEnd(9)} ${rpcUrl ?? "nodes of its own"}${note}`;
}

/** Whether the chain with this id answers at the URL; another service may have taken its port. */
async function isAnswering(rpcUrl: string, chainId: number): Promise<boolean> {
  try {
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const { result } = (await response.json()) as { readonly result?: unknown };
    return Number(result) === chainId;
  } catch {
    return false;
  }
}
