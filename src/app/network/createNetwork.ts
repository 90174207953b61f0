import type { Logger } from "pino";
import {
  EMBEDDED_FINALITY_DEPTH,
  EMBEDDED_MIN_CONFIRMATIONS,
  NETWORK_NAMES,
  NETWORKS,
  type NetworkName,
  type NetworkProfile,
} from "../../networks/profiles.ts";
import type { BeaconTerms, LateBeacons } from "../../beacon/drand.ts";
import type { DataDirectory } from "../../store/dataDirectory.ts";
import { beaconTermsOf, EMBEDDED_MARGIN_SECONDS } from "../../config/beaconSchema.ts";
import { isEmbedded, vrfKeysOf, vrfOf } from "../../config/embeddedNetworkSchema.ts";
import type { Config } from "../../config/configSchema.ts";
import { createExternalNetwork } from "./externalNetworks.ts";
import { deriveNetworkKeys, rolesOf, type NetworkKeys } from "./networkKeys.ts";
import { createServedNetwork, type ServedNetwork, type ServedNetworkOptions } from "./servedNetwork.ts";
import { createLocalBeacon } from "../../beacon/localBeacon.ts";
import { EMBEDDED_GAS_PRICE_WEI } from "../../networks/embedded/process/anvil.ts";
import { startEmbeddedChain, type EmbeddedVrf } from "../../networks/embedded/chain.ts";
import type { ChainEvents, KnownChain, NetworkChain, NetworkSource } from "../../networks/network.ts";
import { fixedFees } from "../../evm/fees.ts";

export interface CreateNetworkOptions extends Omit<ServedNetworkOptions, "source" | "oracle"> {
  readonly name: string;
  /** The network's configuration; embedded networks have names that we define. */
  readonly config: Config["networks"][string];
  readonly directory: DataDirectory;
  /** Takes rounds of drand from anybody. */
  readonly lateBeacons: LateBeacons;
  /** Origins of pages, besides those of this machine, that may use an embedded chain's RPC port. */
  readonly rpcOrigins: readonly string[];
}

/** Creates a network from its configuration. */
export function createNetwork(options: CreateNetworkOptions): ServedNetwork {
  const { name, config, directory, log, rpcOrigins, lateBeacons } = options;
  if (!isEmbedded(config)) {
    const { source, contracts } = createExternalNetwork(name, config, lateBeacons);
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
      lateBeacons,
    ),
    folder: directory.file("chains", name),
    index: NETWORK_NAMES.indexOf(embeddedName),
    rpcOrigins,
    log,
  });
  return createServedNetwork({ ...options, source, oracle: { embedded: keys } });
}

/** RPC port of the first chain, if it is free; the others get the ports after it. */
const FIRST_RPC_PORT = 8545;
/** LINK given to each of a dapp's subscriptions: 10,000. */
const ALLOWANCE_JUELS = 10_000n * 10n ** 18n;
/** Coin added where words are paid for in coin: 10 coins. */
const COIN_ALLOWANCE_WEI = 10n ** 19n;
/** Heads are pushed; polling covers a lost one. */
const POLL_INTERVAL_MS = 1_000;

interface EmbeddedSourceOptions {
  readonly profile: NetworkProfile;
  readonly keys: NetworkKeys;
  readonly vrf: EmbeddedVrf;
  /** Number of VRF keys whose words presets join. Default 1. */
  readonly presetVrfKeys?: number;
  readonly beacon?: BeaconTerms;
  /** Folder of the chain's state. */
  readonly folder: string;
  /** Position among the networks, which determines the RPC port. */
  readonly index: number;
  /** Origins of pages, besides those of this machine, that may use the RPC port. */
  readonly rpcOrigins: readonly string[];
  readonly log: Logger;
}

/** Describes a network whose chain is a child process, with contracts that belong to these keys. */
export function createEmbeddedSource(options: EmbeddedSourceOptions): NetworkSource {
  const { profile, keys, presetVrfKeys = 1 } = options;
  const { vrf } = keys;
  const { keyHash } = vrf[0].provingKey;
  return {
    profile,
    isEmbedded: true,
    terms: {
      minConfirmations: EMBEDDED_MIN_CONFIRMATIONS,
      finalityDepth: EMBEDDED_FINALITY_DEPTH,
      // Anyone with access to Anvil's port can revert even blocks that Anvil calls final.
      hasFinalizedTag: false,
      allowanceJuels: ALLOWANCE_JUELS,
      ...(options.vrf.nativePayment ? { coinAllowanceWei: COIN_ALLOWANCE_WEI } : {}),
      pollIntervalMs: POLL_INTERVAL_MS,
      rolledBackAfterMs: 0,
      hasEthereumBlocks: true,
      beacon: options.beacon,
      localBeacon: createLocalBeacon(keys.localBeaconSeed, EMBEDDED_MARGIN_SECONDS),
    },
    keyHash,
    vrfOperators: vrf.map((one) => ({
      keyHash: one.provingKey.keyHash,
      address: one.vrfAccount.address,
    })),
    presetKeyHashes:
      presetVrfKeys === 1 ? undefined : vrf.slice(0, presetVrfKeys).map((one) => one.provingKey.keyHash),
    titles: keys.titles,
    open: (known, events) => openEmbedded(options, known, events),
  };
}

async function openEmbedded(
  options: EmbeddedSourceOptions,
  known: KnownChain | undefined,
  { onDown, onError }: ChainEvents,
): Promise<NetworkChain> {
  const { profile, keys, log } = options;
  const { deployer, operator, vrf, transmitters } = keys;
  const preferredPort = known?.deployment.port ?? FIRST_RPC_PORT + options.index;
  const chain = await startEmbeddedChain({
    profile,
    folder: options.folder,
    known,
    preferredPort,
    rpcOrigins: options.rpcOrigins,
    deployer,
    roles: rolesOf(keys),
    vrf: options.vrf,
    accounts: [
      operator.address,
      ...vrf.map((one) => one.vrfAccount.address),
      ...transmitters.map((one) => one.address),
    ],
    onRestart({ isUp, ...restart }) {
      if (isUp) {
        log.warn(restart, "the node of the embedded chain was restarted");
        return;
      }
      log.error("the embedded chain exits as soon as it starts");
      onDown("its embedded chain has stopped", "restart the service");
    },
    onCompacted: (report) => log.debug(report, "the embedded chain was compacted"),
    onError,
  });
  const isMoved = chain.deployment.port !== preferredPort;
  const moved = `port ${preferredPort} is taken by another program or not permitted, so the RPC URL of ${profile.name} is now ${chain.rpcUrl}: change it in wallets and tools, or free the port and restart`;
  return {
    ...chain,
    ...(isMoved && { takenPort: preferredPort }),
    warnings: async () => [...(await chain.warnings()), ...(isMoved ? [moved] : [])],
    deployment: { ...chain.deployment, keyHash: vrf[0].provingKey.keyHash },
    operator,
    fees: fixedFees(EMBEDDED_GAS_PRICE_WEI, { synchronous: true }),
  };
}
