import type { Hex } from "viem";
import type { NetworkProfile } from "../chain/networks.ts";
import { ChainUnavailableError } from "./errors.ts";
import type { NetworkDesk } from "./networkDesk.ts";
import type { NetworkReadiness, NetworkView } from "./views.ts";

/** A network as the service has it at hand; its parts come as it starts. */
export interface ServiceNetwork {
  readonly profile: NetworkProfile;
  readonly maxResponseBytes: number;
  /** Explorer without a trailing slash: `/tx/{hash}` follows. */
  readonly explorerUrl: string;
  view(): NetworkView;
  /** `undefined` until the network serves. */
  desk(): NetworkDesk | undefined;
  getCode(address: Hex): Promise<Hex>;
  readiness(): Promise<NetworkReadiness>;
}

/**
 * The desk of a network.
 *
 * @throws {ChainUnavailableError} until the network serves, with what it waits for.
 */
export function getDesk(network: ServiceNetwork): NetworkDesk {
  const desk = network.desk();
  if (desk !== undefined) return desk;
  throw new ChainUnavailableError(network.profile.name, network.view().statusDetail ?? "it is starting");
}
