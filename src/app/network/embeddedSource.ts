import type { Logger } from "pino";
import type { BeaconTerms } from "../../lib/drand.ts";
import { createLocalBeacon } from "../../lib/localBeacon.ts";
import { EMBEDDED_MARGIN_SECONDS } from "../../config/beaconSchema.ts";
import { EMBEDDED_GAS_PRICE_WEI } from "../../networks/embedded/process/anvil.ts";
import { startEmbeddedChain, type EmbeddedVrf } from "../../networks/embedded/chain.ts";
import type { NetworkSource } from "../../networks/network.ts";
import { EMBEDDED_FINALITY_DEPTH, EMBEDDED_MIN_CONFIRMATIONS } from "../../networks/profiles.ts";
import type { NetworkProfile } from "../../networks/profiles.ts";
import { rolesOf } from "./networkKeys.ts";
import type { NetworkKeys } from "./networkKeys.ts";
import { fixedFees } from "../../evm/fees.ts";

/** RPC port of the first chain, if it is free; the others get the ports after it. */
const FIRST_RPC_PORT = 8545;
/** LINK given to each of a dapp's subscriptions: 10,000. */
const ALLOWANCE_JUELS = 10_000n * 10n ** 18n;
/** Coin added where words are paid for in coin: 10 coins. */
const COIN_ALLOWANCE_WEI = 10n ** 19n;
/** Heads are pushed; polling covers a lost one. */
const POLL_INTERVAL_MS = 1_000;

/** Describes a network whose chain is a child process, with contracts that belong to these keys. */
export function createEmbeddedSource(options: {
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
}): NetworkSource {
  const { profile, keys, log, presetVrfKeys = 1 } = options;
  const { deployer, operator, vrf, transmitters } = keys;
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
    async open(known, { onDown, onError }) {
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
          onDown("its embedded chain has stopped; restart the service");
        },
        onCompacted: (report) => log.debug(report, "the embedded chain was compacted"),
        onError,
      });
      const moved =
        chain.deployment.port === preferredPort
          ? []
          : [
              `port ${preferredPort} is taken by another program or not permitted, so the RPC URL of ${profile.name} is now ${chain.rpcUrl}: change it in wallets and tools, or free the port and restart`,
            ];
      return {
        ...chain,
        findings: [...chain.findings, ...moved],
        warnings: async () => [...(await chain.warnings()), ...moved],
        deployment: { ...chain.deployment, keyHash },
        operator,
        fees: fixedFees(EMBEDDED_GAS_PRICE_WEI, { synchronous: true }),
      };
    },
  };
}
