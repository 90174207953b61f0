import type { NetworkView } from "../../api/types.ts";
import type { Hex } from "viem";
import { verifiedContractsOf } from "../../chainlink/contractBook.ts";
import { MAX_REQUEST_BYTES } from "../../chainlink/functionsRequest.ts";
import { MAX_CONFIRMATIONS, MAX_RANDOM_WORDS } from "../../chainlink/limits.ts";
import type { ChainDeployment, NetworkChain, NetworkSource, NetworkTerms } from "../../networks/network.ts";
import { drandChainHash, type BeaconTerms, type DrandChain } from "../../beacon/drand.ts";
import { displayTitle } from "../../networks/profiles.ts";
import { MAX_RESPONSE_BYTES, MAX_SOURCE_BYTES } from "../../domain/sourceLimit.ts";
import { createNodeArchive } from "../../explorer/chainArchive.ts";
import { meterNode } from "../../explorer/readBudget.ts";
import { spareNode } from "../../explorer/sparedNode.ts";
import type { ObservedChain } from "../../triggers/observedChain.ts";
import type { VerifiableNetwork } from "../../verify/verifier.ts";
import type { ExploredChain } from "../../explorer/exploredChain.ts";

/** What a network is to its callers. `detail` is for the operator: it may name paths. */
export type NetworkState =
  | { readonly status: "starting" | "serving" }
  | { readonly status: "unavailable"; readonly why: string; readonly detail?: string };

/** Describes a network to callers. */
export function describeNetwork(options: {
  readonly source: NetworkSource;
  readonly chain: NetworkChain | undefined;
  readonly explorerUrl: string;
  readonly state: NetworkState;
}): NetworkView {
  const { chain, explorerUrl, state } = options;
  const { profile, isEmbedded, terms } = options.source;
  return {
    name: profile.name,
    title: displayTitle(profile.title, isEmbedded),
    chainId: profile.chainId,
    coin: profile.coin,
    embedded: isEmbedded,
    hasEthereumBlocks: terms.hasEthereumBlocks,
    ...(chain?.rpcUrl === undefined ? {} : { rpcUrl: chain.rpcUrl }),
    explorerUrl,
    status: state.status,
    ...(state.status === "serving" ? {} : { statusDetail: whyNot(state) }),
    contracts: contractsOf(chain?.deployment),
    ...(chain === undefined || isEmbedded ? {} : { deploymentBlock: chain.deployment.blockNumber }),
    vrf: {
      version: chain?.deployment.contracts.vrfVersion ?? "v2",
      nativePayment: terms.coinAllowanceWei !== undefined,
      keyHashes: keyHashesOf(options.source),
      minConfirmations: terms.minConfirmations,
      maxConfirmations: MAX_CONFIRMATIONS,
      maxWords: MAX_RANDOM_WORDS,
    },
    functions: {
      donId: profile.functions.donId,
      maxSourceBytes: MAX_SOURCE_BYTES,
      maxRequestBytes: MAX_REQUEST_BYTES,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    },
    ...(terms.beacon && { beacon: viewBeacon(terms.beacon) }),
    ...(terms.localBeacon && { localBeacon: viewBeacon(terms.localBeacon) }),
  };
}

/** Returns the hashes of a network's VRF keys, the default first. */
export function keyHashesOf({ keyHash, vrfOperators = [{ keyHash }] }: NetworkSource): Hex[] {
  return vrfOperators.map((one) => one.keyHash);
}

function viewBeacon({
  chain,
  marginSeconds,
  isDefault = false,
}: BeaconTerms): NonNullable<NetworkView["beacon"]> {
  return { chainHash: drandChainHash(chain), ...chain, marginSeconds, isDefault };
}

/** Says why a network doesn't serve. */
export function whyNot(state: NetworkState): string {
  return state.status === "unavailable" ? state.why : "it is starting";
}

/** Describes a chain to those who verify results. */
export function describeVerifiable(
  source: NetworkSource,
  { client, deployment }: NetworkChain,
  findRecordedCallbacks: VerifiableNetwork["findRecordedCallbacks"],
): VerifiableNetwork {
  const { profile, isEmbedded, terms } = source;
  return {
    client,
    chainId: profile.chainId,
    contracts: verifiedContractsOf(deployment.contracts),
    // An embedded chain begins with its contracts.
    deploymentBlock: isEmbedded ? undefined : BigInt(deployment.blockNumber),
    // An embedded chain may have had further keys.
    keyHashes: isEmbedded ? undefined : keyHashesOf(source),
    maxResponseBytes: MAX_RESPONSE_BYTES,
    isEmbedded,
    chainlinkCoordinator: terms.chainlinkCoordinator,
    hasEthereumBlocks: terms.hasEthereumBlocks,
    drandChains: drandChainsOf(terms),
    findRecordedCallbacks,
  };
}

/** Describes a chain to log triggers. */
export function describeObserved(
  { profile: { chainId }, isEmbedded, terms }: NetworkSource,
  { client, identity }: NetworkChain,
  explorerUrl: string,
): ObservedChain {
  return {
    client,
    chainId,
    // With other contracts, a public chain is still the same.
    identity: isEmbedded ? identity : String(chainId),
    isEmbedded,
    terms,
    explorerUrl,
  };
}

/** Describes a chain to the explorer. */
export function describeChain(
  { profile, isEmbedded, terms, titles: accounts }: NetworkSource,
  { client, deployment, findAppearances, operator }: NetworkChain,
  findRecordedCallbacks: NonNullable<ExploredChain["findRecordedCallbacks"]>,
): ExploredChain {
  const node = isEmbedded ? meterNode(client) : spareNode(client);
  return {
    network: profile.name,
    title: displayTitle(profile.title, isEmbedded),
    chainId: profile.chainId,
    coin: profile.coin,
    isEmbedded,
    archive: createNodeArchive(node, { isEmbedded, ...(findAppearances && { findAppearances }) }),
    client: node,
    contracts: deployment.contracts,
    accounts: { [operator.address]: "Operator", ...accounts },
    drandChains: drandChainsOf(terms),
    findRecordedCallbacks,
  };
}

function drandChainsOf({ beacon, localBeacon }: NetworkTerms): readonly DrandChain[] {
  return [beacon, localBeacon].flatMap((one) => one?.chain ?? []);
}

function contractsOf(deployment: ChainDeployment | undefined): NetworkView["contracts"] {
  const none: Hex = "0x";
  const {
    link = none,
    vrfCoordinator = none,
    functionsRouter = none,
    functionsCoordinator = none,
    presetConsumer = none,
    subscriptionOwner = none,
  } = deployment?.contracts ?? {};
  return { link, vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer, subscriptionOwner };
}
