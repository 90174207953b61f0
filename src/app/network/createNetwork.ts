import { NETWORKS, NETWORK_NAMES } from "../../networks/profiles.ts";
import type { NetworkName } from "../../networks/profiles.ts";
import type { LateRounds } from "../../lib/drand.ts";
import type { DataDirectory } from "../../store/dataDirectory.ts";
import { beaconTermsOf, EMBEDDED_MARGIN_SECONDS } from "../../config/beaconSchema.ts";
import { isEmbedded, vrfKeysOf, vrfOf } from "../../config/embeddedNetworkSchema.ts";
import type { Config } from "../../config/configSchema.ts";
import { createEmbeddedSource } from "./embeddedSource.ts";
import { createExternalNetwork } from "./externalNetworks.ts";
import { deriveNetworkKeys } from "./networkKeys.ts";
import { createServedNetwork } from "./servedNetwork.ts";
import type { ServedNetwork, ServedNetworkOptions } from "./servedNetwork.ts";

export interface CreateNetworkOptions extends Omit<ServedNetworkOptions, "source" | "oracle"> {
  readonly name: string;
  /** The network's configuration; embedded networks have names that we define. */
  readonly config: Config["networks"][string];
  readonly directory: DataDirectory;
  /** Takes rounds of drand from anybody. */
  readonly lateRounds: LateRounds;
  /** Origins of pages, besides those of this machine, that may use an embedded chain's RPC port. */
  readonly rpcOrigins: readonly string[];
}

/** Creates a network from its configuration. */
export function createNetwork(options: CreateNetworkOptions): ServedNetwork {
  const { name, config, directory, log, rpcOrigins, lateRounds } = options;
  if (!isEmbedded(config)) {
    const { source, contracts } = createExternalNetwork(name, config, lateRounds);
    return createServedNetwork({
      ...options,
      source,
      oracle: { external: contracts, oracleUrl: config.oracleUrl },
    });
  }
  const embeddedName = name as NetworkName;
  const { vrfKeys, presetVrfKeys } = vrfKeysOf(config);
  const keys = deriveNetworkKeys(directory.masterKey, embeddedName, vrfKeys);
  const source = createEmbeddedSource({
    profile: NETWORKS[embeddedName],
    keys,
    vrf: vrfOf(config),
    presetVrfKeys,
    beacon: beaconTermsOf(
      config === "embedded" ? undefined : config.beacon,
      EMBEDDED_MARGIN_SECONDS,
      lateRounds,
    ),
    folder: directory.file("chains", name),
    index: NETWORK_NAMES.indexOf(embeddedName),
    rpcOrigins,
    log,
  });
  return createServedNetwork({ ...options, source, oracle: { embedded: keys } });
}
