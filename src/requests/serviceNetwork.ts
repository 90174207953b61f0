import type { Hex } from "viem";
import type { Faucet } from "../dapps/faucet.ts";
import type { NetworkProfile } from "../networks/profiles.ts";
import { ChainUnavailableError } from "../networks/chainUnavailable.ts";
import type { RequestIntake } from "./requestIntake.ts";
import type { NetworkReadiness, NetworkView, OracleNodeView } from "./views.ts";

/** A network as the service has it at hand; its parts come as it starts. */
export interface ServiceNetwork {
  readonly profile: NetworkProfile;
  readonly maxResponseBytes: number;
  /** Explorer without a trailing slash: `/tx/{hash}` follows. */
  readonly explorerUrl: string;
  view(): NetworkView;
  /** `undefined` until the network serves. */
  pipeline(): RequestIntake | undefined;
  /** `undefined` while the network does not serve, and where coin is not ours to give. */
  faucet?(): Faucet | undefined;
  getCode(address: Hex): Promise<Hex>;
  readiness(): Promise<NetworkReadiness>;
  /** The oracle's nodes, where several operators run them. */
  oracleNodes(): Promise<readonly OracleNodeView[] | undefined>;
}

/**
 * The pipeline of a network.
 *
 * @throws {ChainUnavailableError} until the network serves, with what it waits for.
 */
export function getPipeline(network: ServiceNetwork): RequestIntake {
  const pipeline = network.pipeline();
  if (pipeline !== undefined) return pipeline;
  throw new ChainUnavailableError(network.profile.name, network.view().statusDetail ?? "it is starting");
}
