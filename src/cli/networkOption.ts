import type { Command } from "commander";
import type { TycheClient } from "../client/index.ts";

/** The network of commands that name none, where a service has several. */
const DEFAULT_NETWORK = "sepolia";

export interface NetworkFlag {
  readonly network?: string;
}

/** Adds the option that names the network of a command. */
export function withNetwork(command: Command, purpose: string): Command {
  return command.option(
    "--network <name>",
    `${purpose}; tyche network list names them (default: the only one, or ${DEFAULT_NETWORK})`,
  );
}

/** Returns the network of a command: the one that it names, the only one that the service has, or {@link DEFAULT_NETWORK}. */
export async function chooseNetwork(
  client: Pick<TycheClient, "networks">,
  { network }: NetworkFlag,
): Promise<string> {
  return network ?? defaultNetwork((await client.networks()).map(({ name }) => name));
}

/** Returns the network of commands that name none. */
export function defaultNetwork(served: readonly string[]): string {
  const [only = DEFAULT_NETWORK, ...others] = served;
  return others.length === 0 ? only : DEFAULT_NETWORK;
}
