import type { Hex } from "viem";
import type { EmbeddedChain, EmbeddedDeployment } from "../networks/embedded/chain.ts";
import { MAX_REQUEST_BYTES } from "../chainlink/functionsRequest.ts";
import { MAX_CONFIRMATIONS, MAX_RANDOM_WORDS } from "../chainlink/limits.ts";
import { MAX_RESPONSE_BYTES, minConfirmationsOf } from "../networks/profiles.ts";
import type { NetworkProfile } from "../networks/profiles.ts";
import { MAX_SOURCE_BYTES } from "../requests/commands.ts";
import { createNodeArchive } from "../explorer/chainArchive.ts";
import type { ExploredChain } from "../explorer/explorer.ts";
import type { NetworkView } from "../requests/views.ts";

/** Describes a network of ours to callers; `trouble` says why it doesn't serve. */
export function describeNetwork(options: {
  readonly profile: NetworkProfile;
  readonly chain: EmbeddedChain | undefined;
  readonly explorerUrl: string;
  readonly trouble: string | undefined;
  readonly isStarting: boolean;
  readonly keyHash: Hex;
}): NetworkView {
  const { profile, chain, explorerUrl, trouble, isStarting, keyHash } = options;
  return {
    name: profile.name,
    title: profile.title,
    chainId: profile.chainId,
    embedded: true,
    ...(chain === undefined ? {} : { rpcUrl: chain.rpcUrl }),
    explorerUrl,
    status: trouble === undefined ? "serving" : isStarting ? "starting" : "unavailable",
    ...(trouble === undefined ? {} : { statusDetail: trouble }),
    contracts: contractsOf(chain?.deployment),
    vrf: {
      keyHashes: [keyHash],
      minConfirmations: minConfirmationsOf(profile, "embedded"),
      maxConfirmations: MAX_CONFIRMATIONS,
      maxWords: MAX_RANDOM_WORDS,
    },
    functions: {
      donId: profile.functions.donId,
      maxSourceBytes: MAX_SOURCE_BYTES,
      maxRequestBytes: MAX_REQUEST_BYTES,
      maxResponseBytes: MAX_RESPONSE_BYTES.embedded,
    },
  };
}

/** Describes a chain of ours to the explorer; `accounts`: what the addresses of ours are called. */
export function describeChain(
  profile: NetworkProfile,
  { client, deployment }: EmbeddedChain,
  accounts: Readonly<Record<Hex, string>>,
): ExploredChain {
  return {
    network: profile.name,
    title: profile.title,
    chainId: profile.chainId,
    archive: createNodeArchive(client),
    client,
    contracts: deployment.contracts,
    accounts,
  };
}

function contractsOf(deployment: EmbeddedDeployment | undefined): NetworkView["contracts"] {
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
