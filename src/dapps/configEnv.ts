import { isUsableKey } from "../domain/usableKey.ts";
import type { ConfigVars, NetworkConfigVars } from "./configVars.ts";

/** Formats config vars as an `.env` file: a live API key, then each network's part; values that don't exist yet are left out. */
export function formatEnv({ keys, networks }: ConfigVars): string {
  const key = keys.find((one) => isUsableKey(one) && one.access === "full");
  const lines = key === undefined ? [] : [`TYCHE_API_KEY=${key.apiKey}`];
  return [...lines, ...networks.map(formatNetworkEnv)].filter((text) => text !== "").join("\n");
}

/** Formats a network's part as lines of an `.env` file, with the values for deploying a consumer contract. */
export function formatNetworkEnv(vars: NetworkConfigVars): string {
  const { network, contracts } = vars;
  const entries = {
    CHAIN_ID: vars.chainId,
    RPC_URL: vars.rpcUrl,
    VRF_SUBSCRIPTION_ID: vars.vrfSubscriptionId,
    VRF_COORDINATOR: contracts.vrfCoordinator,
    VRF_KEY_HASH: vars.keyHash,
    FUNCTIONS_SUBSCRIPTION_ID: vars.functionsSubscriptionId,
    FUNCTIONS_ROUTER: contracts.functionsRouter,
    FUNCTIONS_DON_ID: vars.donId,
    FUNCTIONS_DON_ID_BYTES32: vars.donIdBytes32,
    LINK_TOKEN: contracts.link,
  };
  return Object.entries(entries)
    .flatMap(([key, value]) => (value === undefined ? [] : [`${network.toUpperCase()}_${key}=${value}`]))
    .join("\n");
}
