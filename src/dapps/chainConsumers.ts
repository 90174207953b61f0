import type { Hex } from "viem";
import { withDeadline } from "../lib/deadline.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** A page shows what has arrived by then, whichever chain hangs. */
const DEADLINE_MS = 1_500;

/** A network on which dapps have subscriptions with consumers. */
export interface ConsumerNetwork {
  /** `undefined` until the network serves. */
  pipeline(): { readonly subscriptions: Pick<Subscriptions, "find" | "readConsumers"> } | undefined;
}

/** Which of a dapp's two subscriptions list a contract as consumer on chain. */
export interface ChainConsumer {
  readonly isOnVrf: boolean;
  readonly isOnFunctions: boolean;
}

/**
 * Reads from the chains which contracts are consumers of a dapp's subscriptions, by network and checksummed address, including our
 * PresetConsumer. A network is absent while it doesn't serve or can't be reached, or until the subscriptions exist.
 */
export async function readChainConsumers(
  networks: ReadonlyMap<string, ConsumerNetwork>,
  dappId: string,
): Promise<ReadonlyMap<string, ReadonlyMap<Hex, ChainConsumer>>> {
  const entries = await Promise.all(
    [...networks].map(async ([name, network]) => {
      const subscriptions = network.pipeline()?.subscriptions;
      const subscription = subscriptions?.find(dappId);
      const lists =
        subscription &&
        (await withDeadline(subscriptions!.readConsumers(subscription), DEADLINE_MS).catch(() => undefined));
      if (lists === undefined) return [];
      const consumers = [...new Set([...lists.vrf, ...lists.functions])].map(
        (address) =>
          [
            address,
            { isOnVrf: lists.vrf.includes(address), isOnFunctions: lists.functions.includes(address) },
          ] as const,
      );
      return [[name, new Map(consumers)] as const];
    }),
  );
  return new Map(entries.flat());
}
