import { MAX_RESPONSE_BYTES, NETWORK_NAMES, type NetworkName } from "../../networks/profiles.ts";

/** Maximum result size on each network in bytes, for embedded deployments. */
export const RESULT_LIMITS: Readonly<Record<NetworkName, number>> = Object.fromEntries(
  NETWORK_NAMES.map((name) => [name, MAX_RESPONSE_BYTES.own]),
) as Record<NetworkName, number>;
