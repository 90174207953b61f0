import { AVALANCHE_GAS, POLYGON_GAS, USUAL_GAS } from "./gasRules.ts";
import type { NetworkProfile } from "./profile.ts";
import { PUBLIC_NETWORKS } from "./publicNetworks.ts";
import { VRF25_NETWORKS } from "./vrf25.ts";

export type { NetworkProfile } from "./profile.ts";

/** Names by which callers refer to the networks. */
export const NETWORK_NAMES = ["polygon_mumbai", "sepolia", "fuji", "fantom_testnet"] as const;
export type NetworkName = (typeof NETWORK_NAMES)[number];

/** Where a network is served from: an embedded chain, or a node of the public network. */
export type Deployment = "embedded" | "public";

/** Maximum size of a function's result in bytes: our oracle's, wherever its contracts are, and Chainlink's. */
export const MAX_RESPONSE_BYTES: Readonly<Record<"own" | "public", number>> = { own: 1024, public: 256 };

/** Returns the fewest confirmations that a request for random words may ask for. */
export function minConfirmationsOf(profile: NetworkProfile, deployment: Deployment): number {
  return deployment === "embedded" ? 1 : profile.vrf.minConfirmations;
}

/** Depth of an embedded chain, where only its user removes blocks (`anvil_reorg`, `evm_revert`), but possibly many. */
const EMBEDDED_FINALITY_DEPTH = 2_048;

/** Returns the number of blocks after which a block counts as final. */
export function finalityDepthOf(profile: NetworkProfile, deployment: Deployment): number {
  return deployment === "embedded" ? EMBEDDED_FINALITY_DEPTH : profile.finalityDepth;
}

/**
 * The networks that Tyche embeds by default, by name. Sources: Chainlink's documentation and starter kits, as of August 2026, for all but the
 * fees; the defaults of Chainlink's node for the finality depths, except on Sepolia, where it is three epochs, after which every block is
 * finalized (Casper FFG).
 */
export const NETWORKS: Readonly<Record<NetworkName, NetworkProfile>> = {
  polygon_mumbai: {
    name: "polygon_mumbai",
    title: "Polygon Mumbai",
    chainId: 80_001,
    coin: "MATIC",
    finalityDepth: 500,
    hasFinalizedTag: false,
    hasEthereumBlocks: true,
    gas: POLYGON_GAS,
    explorerUrl: "https://mumbai.polygonscan.com",
    vrf: {
      coordinator: "0x7a1BaC17Ccc5b313516C5E16fb24f7659aA5ebed",
      keyHash: "0x4b09e658ed251bcafeebbc69400383d49f344ace09b9576fe248bb02c003fe9f",
      gasLaneGwei: 500,
      minConfirmations: 3,
      premiumLinkPpm: 500,
    },
    functions: { router: "0x6E2dc0F9DB014aE19888F539E59285D2Ea04244C", donId: "fun-polygon-mumbai-1" },
    link: "0x326C977E6efc84E512bB9C30f76E30c160eD06FB",
  },
  sepolia: {
    name: "sepolia",
    title: "Ethereum Sepolia",
    chainId: 11_155_111,
    coin: "ETH",
    finalityDepth: 96,
    hasFinalizedTag: true,
    hasEthereumBlocks: true,
    gas: USUAL_GAS,
    explorerUrl: "https://sepolia.etherscan.io",
    vrf: {
      coordinator: "0x8103B0A8A00be2DDC778e6e7eaa21791Cd364625",
      keyHash: "0x474e34a077df58807dbe9c96d3c009b23b3c6d0cce433e59bbf5b34f823bc56c",
      gasLaneGwei: 750,
      minConfirmations: 3,
      premiumLinkPpm: 250_000,
    },
    vrf25: VRF25_NETWORKS[11_155_111]!,
    functions: { router: "0xb83E47C2bC239B3bf370bc41e1459A34b41238D0", donId: "fun-ethereum-sepolia-1" },
    link: "0x779877A7B0D9E8603169DdbD7836e478b4624789",
  },
  fuji: {
    name: "fuji",
    title: "Avalanche Fuji",
    chainId: 43_113,
    coin: "AVAX",
    finalityDepth: 10,
    hasFinalizedTag: true,
    // Headers have further fields, such as `extDataHash` (coreth, `customtypes.HeaderExtra`).
    hasEthereumBlocks: false,
    gas: AVALANCHE_GAS,
    explorerUrl: "https://testnet.snowtrace.io",
    vrf: {
      coordinator: "0x2eD832Ba664535e5886b75D64C46EB9a228C2610",
      keyHash: "0x354d2f95da55398f44b7cff77da56283d9c6c829a4bdf1bbcaf2ad6a4d081f61",
      gasLaneGwei: 300,
      minConfirmations: 1,
      premiumLinkPpm: 5_000,
    },
    vrf25: VRF25_NETWORKS[43_113]!,
    functions: { router: "0xA9d587a00A31A52Ed70D6026794a8FC5E2F5dCb0", donId: "fun-avalanche-fuji-1" },
    link: "0x0b9d5D9136855f6FEc3c0993feE6E9CE8a297846",
  },
  fantom_testnet: {
    name: "fantom_testnet",
    title: "Fantom Testnet",
    chainId: 4002,
    coin: "FTM",
    finalityDepth: 50,
    hasFinalizedTag: false,
    // A block's hash is the id of a consensus event (go-opera, `ToEvmHeader`).
    hasEthereumBlocks: false,
    gas: USUAL_GAS,
    explorerUrl: "https://testnet.ftmscan.com",
    vrf: {
      coordinator: "0xbd13f08b8352A3635218ab9418E340c60d6Eb418",
      keyHash: "0x121a143066e0f2f08b620784af77cccb35c6242460b4a8ee251b4b416abaebd4",
      gasLaneGwei: 3000,
      minConfirmations: 1,
      premiumLinkPpm: 500,
    },
    functions: { donId: "fun-fantom-testnet-1" },
    link: "0xfaFedb041c0DD4fA2Dc0d87a6B0979Ee6FA7af5F",
  },
};

const PROFILES: readonly NetworkProfile[] = [...Object.values(NETWORKS), ...PUBLIC_NETWORKS];

/** Finds the profile of a network by its name. */
export function findProfile(name: string): NetworkProfile | undefined {
  return PROFILES.find((profile) => profile.name === name);
}

/** Names of all networks with a profile. */
export const PROFILE_NAMES: readonly string[] = PROFILES.map(({ name }) => name);

/** Returns a network's name for people; that of a chain of our own says so, whatever network it stands in for. */
export function displayTitle(title: string, isEmbedded: boolean): string {
  return isEmbedded ? `${title} (local chain)` : title;
}

/**
 * Returns the profile of a network that is served by an external node under a name of the operator's choice: the known profile of its chain
 * or, for an unknown chain, generic defaults.
 */
export function profileOf(options: {
  readonly name: string;
  readonly chainId: number;
  readonly title?: string | undefined;
  readonly finalityDepth?: number | undefined;
}): NetworkProfile {
  const { name, chainId } = options;
  const known = PROFILES.find((profile) => profile.chainId === chainId) ?? {
    title: name,
    coin: "coin",
    finalityDepth: UNKNOWN_FINALITY_DEPTH,
    finalityEstimate: "the chain is unknown; as on Ethereum",
    hasFinalizedTag: false,
    hasEthereumBlocks: true,
    gas: USUAL_GAS,
    vrf: { minConfirmations: 1, premiumLinkPpm: 5_000 },
    functions: { donId: `fun-${name.replaceAll("_", "-")}-1`.slice(0, 32) },
  };
  return {
    ...known,
    name,
    chainId,
    title: options.title ?? known.title,
    // A depth set by the operator overrides both the estimate and the node's tag.
    finalityDepth: options.finalityDepth ?? known.finalityDepth,
    finalityEstimate: options.finalityDepth === undefined ? known.finalityEstimate : undefined,
    hasFinalizedTag: known.hasFinalizedTag && options.finalityDepth === undefined,
  };
}

/** Ethereum's depth, for chains about which nothing is known. */
const UNKNOWN_FINALITY_DEPTH = 96;
