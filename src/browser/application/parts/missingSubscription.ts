import type { ExplorerNetwork } from "../../../client/index.ts";

/** Why a page lacks a dapp's subscriptions on a network, or their balances, in a few words. */
export function describeMissingSubscription(options: {
  /** Whether the subscriptions are known to exist. */
  readonly isCreated: boolean;
  /** The network's; absent if it isn't known yet. */
  readonly status: ExplorerNetwork["status"] | undefined;
}): string {
  if (options.isCreated) return "can't be read now";
  const isServing = options.status === undefined || options.status === "serving";
  return isServing ? "not created yet" : "created once the network is serving";
}
