import { type Hex, formatGwei, isAddressEqual, parseEther, parseGwei } from "viem";
import { LANE_MAX_GAS_WEI } from "../../chainlink/stackConfig.ts";
import { suggestedFees, type Fees } from "../../evm/fees.ts";
import type { ChainlinkVrf } from "../../networks/external/chainlinkVrf.ts";
import {
  hasChainlinkVrf,
  readContractsFile,
  type ContractsFile,
} from "../../networks/external/contractsFile.ts";
import { createExternalSource } from "../../networks/external/externalSource.ts";
import type { NetworkSource } from "../../networks/network.ts";
import { findProfile, profileOf, type NetworkProfile } from "../../networks/profiles.ts";
import { beaconTermsOf, EXTERNAL_MARGIN_SECONDS } from "../../config/beaconSchema.ts";
import { countOf } from "../../lib/countOf.ts";
import type { LateBeacons } from "../../beacon/drand.ts";
import type { ExternalNetworkConfig } from "../../config/networkSchema.ts";
import { loadOperatorKey } from "./operatorKey.ts";
import { vrfOperatorsOf } from "../../networks/external/oracleIdentity.ts";
import { StartError } from "../startError.ts";

/** LINK given to a subscription where LINK costs something, and where the token is our own. */
const PUBLIC_ALLOWANCE_JUELS = parseEther("10");
const OWN_ALLOWANCE_JUELS = parseEther("10000");
/** A dapp's daily budget, in multiples of what its subscription starts with: enough for a busy dapp, and a bound to what a key can cost. */
const ALLOWANCES_PER_DAY = 10n;
/** Coin given to a subscription for random words where they are paid for in coin: enough for hundreds of fulfilments at 2 gwei. */
const COIN_ALLOWANCE_WEI = parseEther("0.1");
/** Time without a receipt after which a transaction is resent at a higher price: a few blocks of the slowest networks. */
const REPRICE_AFTER_MS = 45_000;
/** Pools round differently, so a replacement offers this much more than they require. */
const REPLACEMENT_MARGIN_PERCENT = 2.5;

/** Returns the profile of a network that is configured with its own nodes. */
export function profileOfExternal(name: string, config: ExternalNetworkConfig): NetworkProfile {
  return profileOf({
    name,
    chainId: config.chainId ?? findProfile(name)!.chainId,
    title: config.title,
    finalityDepth: config.finalityDepth,
  });
}

/**
 * Returns the path of a network's contracts file.
 *
 * @throws {StartError} when the configuration names only a coordinator.
 */
export function contractsPathOf(name: string, { contracts }: ExternalNetworkConfig): string {
  if (contracts !== undefined) return contracts;
  throw new StartError(
    `networks.${name} names only a coordinator, which is enough only for \`tyche oracle\` with the role node; name the contracts file written by \`tyche network deploy\``,
  );
}

/**
 * Returns Chainlink's contracts for random words if the configuration asks for them; the schema's checks ensure that all of them are known.
 */
export function chainlinkVrfOf(
  { vrf }: ExternalNetworkConfig,
  { vrf25 }: NetworkProfile,
): ChainlinkVrf | undefined {
  if (typeof vrf !== "object") return undefined;
  return {
    coordinator: vrf.coordinator ?? vrf25!.coordinator,
    keyHash: vrf.keyHash ?? vrf25!.keyHash,
    minConfirmations: Math.max(1, vrf25?.minConfirmations ?? 1),
  };
}

/** Returns the highest gas price at which the coordinator accepts proofs, if the configuration names one. */
export function laneMaxGasWeiOf({ laneMaxGasGwei }: ExternalNetworkConfig): bigint | undefined {
  return laneMaxGasGwei === undefined ? undefined : parseGwei(laneMaxGasGwei);
}

/** Returns how a network with its own nodes pays for transactions: by its pools' rules, up to the operator's cap. */
export function feesOfExternal(
  config: Pick<ExternalNetworkConfig, "maxFeeGwei">,
  { gas }: NetworkProfile,
): Fees {
  return suggestedFees({
    repriceAfterMs: REPRICE_AFTER_MS,
    minTipWei: gas.minTipWei,
    replacementPercent: gas.replacementPercent + REPLACEMENT_MARGIN_PERCENT,
    ...(config.maxFeeGwei === undefined ? {} : { maxFeeWei: parseGwei(config.maxFeeGwei) }),
  });
}

/**
 * Describes a configured network that others run, and returns its contracts file.
 *
 * @throws NetworkFileError when its contracts file can't be used.
 */
export function createExternalNetwork(
  name: string,
  config: ExternalNetworkConfig,
  lateBeacons: LateBeacons,
): { readonly source: NetworkSource; readonly contracts: ContractsFile } {
  const profile = profileOfExternal(name, config);
  const path = contractsPathOf(name, config);
  const contracts = readContractsFile(path, { network: name, chainId: profile.chainId });
  const deployed = contracts.contracts.vrfVersion ?? "v2";
  const chainlink = chainlinkVrfOf(config, profile);
  const isOfChainlink = hasChainlinkVrf(contracts);
  const { vrfCoordinator } = contracts.contracts;
  if (chainlink === undefined && config.vrf !== undefined && (isOfChainlink || config.vrf !== deployed))
    throw new StartError(
      `networks.${name}.vrf is ${JSON.stringify(config.vrf)}, and the contracts in ${path} are of ${isOfChainlink ? "Chainlink's oracle" : deployed}; correct it, or deploy to another file`,
    );
  if (chainlink !== undefined && !(isOfChainlink && isAddressEqual(chainlink.coordinator, vrfCoordinator)))
    throw new StartError(
      `networks.${name}.vrf names Chainlink's coordinator ${chainlink.coordinator}, and the contracts in ${path} take words from ${vrfCoordinator}; correct it, or deploy to another file`,
    );
  assertDeployedTerms(name, config, contracts);
  const ownAllowance = contracts.isLinkOurs ? OWN_ALLOWANCE_JUELS : PUBLIC_ALLOWANCE_JUELS;
  const { linkPerSubscription, coinPerSubscription, linkPerDay, coinPerDay } = config;
  const coinWei = coinPerSubscription === undefined ? COIN_ALLOWANCE_WEI : parseEther(coinPerSubscription);
  const coinBudgetWei = coinPerDay === undefined ? ALLOWANCES_PER_DAY * coinWei : parseEther(coinPerDay);
  const allowanceJuels = linkPerSubscription === undefined ? ownAllowance : parseEther(linkPerSubscription);
  const isPaidNatively = contracts.nativePayment === true;
  const source = createExternalSource({
    profile,
    rpcUrls: config.rpcUrls,
    contracts,
    fees: feesOfExternal(config, profile),
    allowanceJuels,
    ...(isPaidNatively ? { coinAllowanceWei: coinWei } : {}),
    dailyBudget: {
      juels: linkPerDay === undefined ? ALLOWANCES_PER_DAY * allowanceJuels : parseEther(linkPerDay),
      wei: isPaidNatively ? coinBudgetWei : undefined,
    },
    presetKeyHashes: presetKeyHashesOf(name, config, contracts),
    beacon: beaconTermsOf(config.beacon, EXTERNAL_MARGIN_SECONDS, lateBeacons),
    loadOperator: () => loadOperatorKey({ network: name, key: config.operatorKey, environment: process.env }),
  });
  return { source, contracts };
}

/** Returns the key hashes whose words presets join according to the configuration; `undefined` for a single one. */
function presetKeyHashesOf(
  name: string,
  { presetVrfKeys = 1 }: ExternalNetworkConfig,
  contracts: ContractsFile,
): readonly Hex[] | undefined {
  const keyHashes = hasChainlinkVrf(contracts)
    ? [contracts.keyHash]
    : vrfOperatorsOf(contracts.oracle).map(({ keyHash }) => keyHash);
  if (presetVrfKeys > keyHashes.length)
    throw new StartError(
      `networks.${name}.presetVrfKeys is ${presetVrfKeys}, and the contracts were deployed for ${countOf(keyHashes.length, "VRF key")}; correct it, or deploy with the cards of more VRF operators`,
    );
  return presetVrfKeys === 1 ? undefined : keyHashes.slice(0, presetVrfKeys);
}

/** The configuration can't change terms that were fixed when the contracts were deployed. */
function assertDeployedTerms(
  name: string,
  { nativePayment, laneMaxGasGwei }: ExternalNetworkConfig,
  contracts: ContractsFile,
): void {
  const deployedGwei = formatGwei(BigInt(contracts.laneMaxGasWei ?? LANE_MAX_GAS_WEI));
  const isPaidNatively = contracts.nativePayment ?? false;
  const refuse = (member: string, value: boolean | string, deployed: boolean | string): never => {
    throw new StartError(
      `networks.${name}.${member} is ${JSON.stringify(value)}, and the contracts were deployed with ${JSON.stringify(deployed)}; correct it, or deploy to another file`,
    );
  };
  if (nativePayment !== undefined && nativePayment !== isPaidNatively)
    refuse("nativePayment", nativePayment, isPaidNatively);
  if (laneMaxGasGwei !== undefined && parseGwei(laneMaxGasGwei) !== parseGwei(deployedGwei))
    refuse("laneMaxGasGwei", laneMaxGasGwei, deployedGwei);
}
