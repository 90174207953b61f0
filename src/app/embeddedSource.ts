import type { Logger } from "pino";
import { fixedFees } from "../evm/sender.ts";
import { EMBEDDED_GAS_PRICE_WEI } from "../networks/embedded/anvil.ts";
import { startEmbeddedChain, type EmbeddedVrf } from "../networks/embedded/chain.ts";
import type { NetworkSource } from "../networks/network.ts";
import { MAX_RESPONSE_BYTES, finalityDepthOf, minConfirmationsOf } from "../networks/profiles.ts";
import type { NetworkProfile } from "../networks/profiles.ts";
import { rolesOf } from "./networkKeys.ts";
import type { NetworkKeys } from "./networkKeys.ts";

/** RPC port of the first chain, if it is free; the others follow. */
const FIRST_RPC_PORT = 8545;
/** What each subscription of a dapp is given: 10,000 LINK. */
const ALLOWANCE_JUELS = 10_000n * 10n ** 18n;
/** And, where words are paid for in coin, 10 coins for those. */
const COIN_ALLOWANCE_WEI = 10n ** 19n;
/** Heads are pushed; this is for the case that one gets lost. */
const POLL_INTERVAL_MS = 1_000;

/** Describes a network whose chain is a process of ours, with contracts that belong to these keys. */
export function createEmbeddedSource(options: {
  readonly profile: NetworkProfile;
  readonly keys: NetworkKeys;
  readonly vrf: EmbeddedVrf;
  /** How many of the VRF keys presets join the words of. Default 1. */
  readonly presetVrfKeys?: number;
  /** Folder of the chain's state. */
  readonly folder: string;
  /** Place among the networks, for the RPC port. */
  readonly index: number;
  /** Origins of pages that may use the RPC port besides those of this machine. */
  readonly rpcOrigins: readonly string[];
  readonly log: Logger;
}): NetworkSource {
  const { profile, keys, log, presetVrfKeys = 1 } = options;
  const { deployer, operator, vrfAccount, provingKey, transmitters } = keys;
  const { keyHash } = provingKey;
  const vrfNodes = [{ vrfAccount, provingKey }, ...keys.furtherVrf];
  return {
    profile,
    isEmbedded: true,
    terms: {
      minConfirmations: minConfirmationsOf(profile, "embedded"),
      finalityDepth: finalityDepthOf(profile, "embedded"),
      // Whoever has Anvil's port takes back what Anvil calls final, too.
      hasFinalizedTag: false,
      maxResponseBytes: MAX_RESPONSE_BYTES.own,
      allowanceJuels: ALLOWANCE_JUELS,
      ...(options.vrf.nativePayment ? { coinAllowanceWei: COIN_ALLOWANCE_WEI } : {}),
      pollIntervalMs: POLL_INTERVAL_MS,
      rolledBackAfterMs: 0,
      hasEthereumBlocks: true,
    },
    keyHash,
    vrfOperators: vrfNodes.map((one) => ({
      keyHash: one.provingKey.keyHash,
      address: one.vrfAccount.address,
    })),
    presetKeyHashes:
      presetVrfKeys === 1 ? undefined : vrfNodes.slice(0, presetVrfKeys).map((one) => one.provingKey.keyHash),
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
          ...vrfNodes.map((one) => one.vrfAccount.address),
          ...transmitters.map((one) => one.address),
        ],
        onRestart({ isUp, ...restart }) {
          if (isUp) {
            log.warn(restart, "the embedded chain ended by itself and was started again");
            return;
          }
          log.error("the embedded chain ends as soon as it starts");
          onDown("its embedded chain has ended; start the service again");
        },
        onCompacted: (report) => log.debug(report, "the embedded chain was compacted"),
        onError,
      });
      if (chain.deployment.port !== preferredPort)
        log.warn(
          { takenPort: preferredPort, rpcUrl: chain.rpcUrl },
          `port ${preferredPort} can't be used: the RPC URL of ${profile.name} is ${chain.rpcUrl} from now on`,
        );
      return {
        ...chain,
        deployment: { ...chain.deployment, keyHash },
        operator,
        fees: fixedFees(EMBEDDED_GAS_PRICE_WEI, { synchronous: true }),
      };
    },
  };
}
