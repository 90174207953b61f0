import { useNetworks } from "../services.tsx";
import { units } from "./format.tsx";

/** An amount of a network's own coin, given in wei. */
export function Coin({ wei, network }: { readonly wei: string; readonly network: string }) {
  const symbolOf = useSymbolOf();
  return units(wei, symbolOf(network));
}

/** Returns a function that gives the symbols of networks' own coins. */
export function useSymbolOf(): (network: string) => string {
  const { data } = useNetworks();
  return (network) => data?.find(({ name }) => name === network)?.coin ?? "coin";
}
