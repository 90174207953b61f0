import type { ExplorerNetwork } from "../../../client/index.ts";

/** What the contracts of a network are called, by their names in the API. */
export const CONTRACT_NAMES: Readonly<Record<string, string>> = {
  link: "LINK token",
  vrfCoordinator: "VRF coordinator",
  functionsRouter: "Functions router",
  functionsCoordinator: "Functions coordinator",
  presetConsumer: "PresetConsumer",
  subscriptionOwner: "SubscriptionOwner",
};

/** Returns what the contract at an address of a network is called; `undefined` for any other. */
export function nameContract(network: ExplorerNetwork | undefined, address: string): string | undefined {
  const own = Object.entries(network?.contracts ?? {});
  const [name] = own.find(([, one]) => one.toLowerCase() === address.toLowerCase()) ?? [];
  return name === undefined ? undefined : (CONTRACT_NAMES[name] ?? name);
}
