import { keep, readKept } from "../../kept.ts";

const KEY = "tyche.network";
/** The same as the command line's. */
const DEFAULT_NETWORK = "sepolia";

/** Returns the network to begin a form with: the one that was chosen last, else the default, else the first; empty if there is none. */
export function findChosenNetwork(networks: readonly { readonly name: string }[]): string {
  const wanted = [readKept(KEY), DEFAULT_NETWORK];
  const known = wanted.find((name) => networks.some((network) => network.name === name));
  return known ?? networks[0]?.name ?? "";
}

/** Keeps a choice for the forms that are opened later, in this browser. */
export function keepChosenNetwork(name: string): void {
  keep(KEY, name);
}
