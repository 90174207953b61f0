import { NETWORKS, NETWORK_NAMES } from "../networks/profiles.ts";
import type { NetworkName } from "../networks/profiles.ts";
import type { SandboxPool } from "../../sandbox/index.ts";
import type { DataDirectory } from "../store/dataDirectory.ts";
import { accompanyEmbedded } from "./embeddedCompanion.ts";
import { createEmbeddedSource } from "./embeddedSource.ts";
import { deriveNetworkKeys } from "./networkKeys.ts";
import { createServedNetwork } from "./servedNetwork.ts";
import type { ServedNetwork } from "./servedNetwork.ts";
import type { ServedNetworkOptions } from "./servedNetworkOptions.ts";

/** Options of {@link createNetwork}. */
export interface CreateNetworkOptions extends Omit<ServedNetworkOptions, "source" | "accompany"> {
  readonly name: NetworkName;
  readonly directory: DataDirectory;
  /** Runs sources for the oracle, where that is in this process. */
  readonly pool: SandboxPool;
  /** Origins of pages that may use the RPC port of an embedded chain besides those of this machine. */
  readonly rpcOrigins: readonly string[];
}

/** Creates a network as it is configured. */
export function createNetwork(options: CreateNetworkOptions): ServedNetwork {
  const { name, directory, pool, log, rpcOrigins } = options;
  const keys = deriveNetworkKeys(directory.masterKey, name);
  const source = createEmbeddedSource({
    profile: NETWORKS[name],
    keys,
    folder: directory.file("chains", name),
    index: NETWORK_NAMES.indexOf(name),
    rpcOrigins,
    log,
  });
  return createServedNetwork({
    ...options,
    source,
    accompany: accompanyEmbedded({ source, keys, pool, log, onTransaction: options.onTransaction }),
  });
}
