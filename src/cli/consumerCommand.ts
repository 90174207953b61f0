import { setTimeout as pause } from "node:timers/promises";
import { Option, type Command } from "commander";
import { awaitContractRequest } from "../client/awaitContractRequest.ts";
import {
  TycheClientError,
  type ContractRequestView,
  type LinkedConsumer,
  type TycheExplorer,
} from "../client/index.ts";
import { cut } from "../lib/cut.ts";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import { chooseNetwork, withNetwork, type NetworkFlag } from "./networkOption.ts";
import { nextPage } from "./nextPage.ts";
import { withoutControls, type Terminal } from "./terminal.ts";

interface ConsumerFlags extends ServiceFlags, NetworkFlag {
  readonly json?: true;
}

interface WaitFlags extends ConsumerFlags {
  readonly kind: ContractRequestView["kind"];
}

interface RequestsFlags extends ConsumerFlags {
  readonly before?: string;
}

/** Between two looks for a transaction's block. */
const LOOK_MS = 100;

/** Longest result to show in a line, in characters. */
const MAX_SHOWN = 60;

/** Adds `tyche consumer list`, `add`, `remove`, `requests` and `wait`. */
export function registerConsumer(program: Command, terminal: Terminal): void {
  const consumer = program
    .command("consumer")
    .description("Lists, links and unlinks a dapp's consumer contracts, and lists their requests.");

  withService(consumer.command("list"))
    .description("Lists the linked contracts, as the chains have them.")
    .option("--network <name>", "only those on this network")
    .option("--json", "print JSON")
    .action(async (flags: ServiceFlags & { readonly network?: string; readonly json?: true }) => {
      const { client } = await connectService(flags);
      const list = await client.consumers({ network: flags.network });
      if (flags.json) return terminal.out(JSON.stringify(list, null, 2));
      for (const one of list.linked) terminal.out(describeConsumer(one, terminal));
      if (list.linked.length === 0) terminal.err("no contracts; link one with tyche consumer add");
    });

  withConsumer(consumer.command("add"))
    .description("Links a contract, so that it can request random words and functions itself.")
    .action(async (address: string, flags: ConsumerFlags) => {
      const { client, dappId } = await connectService(flags);
      const network = await chooseNetwork(client, flags);
      const linked = await client.addConsumer({
        ...(dappId === undefined ? {} : { dappId }),
        network,
        consumer: address,
      });
      print(linked, flags, terminal);
      if (!flags.json) terminal.err(terminal.colors.dim(`linked ${address} on ${network}`));
    });

  withConsumer(consumer.command("remove"))
    .description("Unlinks a contract once the dapp has no requests in progress on the network.")
    .action(async (address: string, flags: ConsumerFlags) => {
      const { client } = await connectService(flags);
      const network = await chooseNetwork(client, flags);
      const unlinked = await client.removeConsumer({ network, consumer: address });
      print(unlinked, flags, terminal);
      if (!flags.json) terminal.err(terminal.colors.dim(`unlinked ${address} on ${network}`));
    });

  withNetwork(withService(consumer.command("requests")), "network of the contracts")
    .description("Lists the requests that the contracts made on chain, newest first.")
    .option("--before <cursor>", "cursor printed with the previous page")
    .option("--json", "print JSON")
    .action(async (flags: RequestsFlags, command: Command) => {
      const { client } = await connectService(flags);
      const network = await chooseNetwork(client, flags);
      const page = await client.contractRequests({ network, before: flags.before });
      if (flags.json) return terminal.out(JSON.stringify(page, null, 2));
      for (const request of page.items) terminal.out(describeRequest(request, terminal));
      if (page.items.length === 0)
        terminal.err(
          page.older === null
            ? "no requests"
            : `no requests in blocks ${page.searched!.from} to ${page.searched!.to}`,
        );
      if (page.older === null) return;
      const more = nextPage(command, { flag: "--before", value: page.older });
      terminal.err(terminal.colors.dim(`more: ${more}`));
    });

  withNetwork(withService(consumer.command("wait")), "network of the transaction")
    .description(
      "Waits for what a contract requested in a transaction. Exit code: 0 when it has come, 1 otherwise.",
    )
    .argument("<transaction>", "hash of the transaction")
    .addOption(
      new Option("--kind <kind>", "what to wait for").choices(["random", "function"]).default("random"),
    )
    .option("--json", "print the request as JSON")
    .action(async (transactionHash: string, flags: WaitFlags) => {
      const { client, explorer } = await connectService(flags);
      const network = await chooseNetwork(client, flags);
      const block = await findBlock(explorer, network, transactionHash);
      const sought = { network, transactionHash, kind: flags.kind, block };
      const request = await awaitContractRequest(client, explorer, sought);
      if (flags.json) terminal.out(JSON.stringify(request));
      else for (const value of request.words ?? [request.response ?? "0x"]) terminal.out(value);
    });
}

/** Returns the number of a transaction's block, once it is mined. */
async function findBlock(
  explorer: Pick<TycheExplorer, "transaction">,
  network: string,
  hash: string,
): Promise<bigint> {
  for (;;) {
    const { status, block, revertReason } = await explorer.transaction(network, hash);
    if (status === "reverted")
      throw new TycheClientError("request_failed", `${hash} reverted: ${revertReason ?? "no reason given"}`);
    if (block !== null) return BigInt(block.number);
    await pause(LOOK_MS);
  }
}

function describeConsumer(consumer: LinkedConsumer, { colors }: Terminal): string {
  const { address, network, linkedAt = "", onChain } = consumer;
  return [address, network.padEnd(14), linkedAt.slice(0, 19).padEnd(19), describeLink(onChain, colors)].join(
    "  ",
  );
}

function describeLink(onChain: LinkedConsumer["onChain"], colors: Terminal["colors"]): string {
  if (onChain === null) return colors.yellow("unknown: the network doesn't answer");
  const { vrf, functions } = onChain;
  if (vrf && functions) return colors.green("linked");
  const what = vrf ? "random words only" : functions ? "functions only" : "not on the chain";
  return colors.red(`${what}: link it again`);
}

function describeRequest(request: ContractRequestView, { colors }: Terminal): string {
  const { at = "", kind, state, consumer, transactionHash, error, waitsFor, words, numWords } = request;
  const { response = "", readings } = request;
  const color = { fulfilled: colors.green, failed: colors.red, waiting: colors.yellow }[state] ?? String;
  const more = numWords !== undefined && numWords > 1 ? ` and ${numWords - 1} more` : "";
  const result =
    words === undefined ? (readings?.text ?? readings?.uint256 ?? response) : `${words[0]}${more}`;
  const shown = withoutControls(error ?? waitsFor ?? result).replaceAll(/\s+/g, " ");
  return [
    transactionHash,
    at.slice(0, 19).padEnd(19),
    kind.padEnd(8),
    color(state.padEnd(9)),
    consumer.address,
    cut(shown, MAX_SHOWN),
  ].join("  ");
}

function withConsumer(command: Command): Command {
  return withNetwork(withService(command), "network where it is deployed")
    .argument("<address>", "address of the contract")
    .option("--json", "print JSON");
}

function print(
  result: { readonly transactionHash: string },
  { json }: ConsumerFlags,
  { out }: Terminal,
): void {
  out(json ? JSON.stringify(result) : result.transactionHash);
}
