import type { Hex } from "viem";
import { VRF25_NETWORKS, type Vrf25Network } from "./vrf25.ts";

/** What is known about one network, whoever serves it. */
export interface NetworkProfile {
  /** The value of `network` parameters. */
  readonly name: string;
  readonly title: string;
  readonly chainId: number;
  /** Symbol of the coin that pays for gas. */
  readonly coin: string;
  /** Blocks after which the public network no longer replaces a block. */
  readonly finalityDepth: number;
  /** What the depth was estimated from, when it isn't a fact of the network or its clients; absent when it is. */
  readonly finalityEstimate?: string | undefined;
  /** Whether the node's `finalized` block is worth following: it arrives sooner than the depth, or is the only source of finality. */
  readonly hasFinalizedTag: boolean;
  /** Whether a block's hash is that of an Ethereum header, which verification can compute again. */
  readonly hasEthereumBlocks: boolean;
  readonly gas: GasRules;
  /** Without a trailing slash; `/tx/HASH` and `/address/ADDRESS` follow. Absent when there is no explorer. */
  readonly explorerUrl?: string;
  readonly vrf: {
    /**
     * Fewest confirmations that the public coordinator accepts, and a coordinator of our own on that network; an embedded chain accepts
     * 1, the block with the request itself.
     */
    readonly minConfirmations: number;
    /**
     * Flat fee per fulfilment on contracts of our own, in millionths of LINK (`fulfillmentFlatFeeLinkPPMTier1`); of the same order as
     * the public coordinator's.
     */
    readonly premiumLinkPpm: number;
  };
  /** Chainlink's live VRF v2.5. */
  readonly vrf25?: Vrf25Network;
  readonly functions: {
    /** DON id of the oracle network; its bytes, padded with zeros to 32, are the contracts' `donId`. */
    readonly donId: string;
  };
  readonly link?: Hex;
  /** Chainlink's price feeds: LINK in the chain's coin (18 decimals), and in US dollars (8). */
  readonly priceFeeds?: { readonly linkNative?: Hex; readonly linkUsd?: Hex };
}

/** What a network's pools and proposers require of a transaction. */
export interface GasRules {
  /** Lowest tip (EIP-1559 `maxPriorityFeePerGas`) that gets included. */
  readonly minTipWei: bigint;
  /** By how much the price of a transaction must rise to replace another one with the same nonce. */
  readonly replacementPercent: number;
}

const GWEI = 10n ** 9n;
/** The rules of geth's pool (`PriceBump`) and most others. */
const USUAL_GAS: GasRules = { minTipWei: 0n, replacementPercent: 10 };
/** Polygon's nodes refuse lower tips and smaller replacements. */
const POLYGON_GAS: GasRules = { minTipWei: 25n * GWEI, replacementPercent: 20 };
const AVALANCHE_GAS: GasRules = { minTipWei: GWEI, replacementPercent: 10 };

/** Names by which callers refer to the networks. */
export const NETWORK_NAMES = ["polygon_mumbai", "sepolia", "fuji", "fantom_testnet"] as const;
export type NetworkName = (typeof NETWORK_NAMES)[number];

/** Fewest confirmations on an embedded chain: the block with the request itself. */
export const EMBEDDED_MIN_CONFIRMATIONS = 1;

/** Finality depth of an embedded chain, where only its user removes blocks (`anvil_reorg`, `evm_revert`), but possibly many. */
export const EMBEDDED_FINALITY_DEPTH = 2_048;

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
    vrf: { minConfirmations: 3, premiumLinkPpm: 500 },
    functions: { donId: "fun-polygon-mumbai-1" },
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
    vrf: { minConfirmations: 3, premiumLinkPpm: 250_000 },
    vrf25: VRF25_NETWORKS[11_155_111]!,
    functions: { donId: "fun-ethereum-sepolia-1" },
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
    vrf: { minConfirmations: 1, premiumLinkPpm: 5_000 },
    vrf25: VRF25_NETWORKS[43_113]!,
    functions: { donId: "fun-avalanche-fuji-1" },
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
    vrf: { minConfirmations: 1, premiumLinkPpm: 500 },
    functions: { donId: "fun-fantom-testnet-1" },
    link: "0xfaFedb041c0DD4fA2Dc0d87a6B0979Ee6FA7af5F",
  },
};

/**
 * Networks that are served only through an external node, none of them by default. When the nodes' `finalized` tag is useful, the
 * depth applies only to nodes that don't support the tag.
 */
const PUBLIC_NETWORKS: readonly NetworkProfile[] = [
  publicNetwork("ethereum", "Ethereum", 1, {
    explorer: "https://etherscan.io",
    finalityDepth: 96,
    hasEthereumBlocks: true,
  }),
  publicNetwork("polygon", "Polygon", 137, {
    coin: "POL",
    explorer: "https://polygonscan.com",
    finalityDepth: 500,
    gas: POLYGON_GAS,
    hasFinalizedTag: false,
    hasEthereumBlocks: true,
  }),
  publicNetwork("polygon_amoy", "Polygon Amoy", 80_002, {
    coin: "POL",
    explorer: "https://amoy.polygonscan.com",
    finalityDepth: 500,
    gas: POLYGON_GAS,
    hasFinalizedTag: false,
    hasEthereumBlocks: true,
  }),
  publicNetwork("avalanche", "Avalanche", 43_114, {
    coin: "AVAX",
    explorer: "https://snowtrace.io",
    finalityDepth: 10,
    gas: AVALANCHE_GAS,
  }),
  publicNetwork("arbitrum", "Arbitrum One", 42_161, {
    explorer: "https://arbiscan.io",
    finalityDepth: 4_800,
    finalityEstimate: "20 minutes of blocks each 0.25 s",
  }),
  publicNetwork("arbitrum_sepolia", "Arbitrum Sepolia", 421_614, {
    explorer: "https://sepolia.arbiscan.io",
    finalityDepth: 4_800,
    finalityEstimate: "20 minutes of blocks each 0.25 s",
  }),
  publicNetwork("base", "Base", 8453, {
    explorer: "https://basescan.org",
    finalityDepth: 600,
    finalityEstimate: "20 minutes of blocks each 2 s",
  }),
  publicNetwork("base_sepolia", "Base Sepolia", 84_532, {
    explorer: "https://sepolia.basescan.org",
    finalityDepth: 600,
    finalityEstimate: "20 minutes of blocks each 2 s",
  }),
  publicNetwork("bnb", "BNB Smart Chain", 56, {
    coin: "BNB",
    explorer: "https://bscscan.com",
    finalityDepth: 15,
  }),
  publicNetwork("bnb_testnet", "BNB Smart Chain Testnet", 97, {
    coin: "tBNB",
    explorer: "https://testnet.bscscan.com",
    finalityDepth: 15,
  }),
  publicNetwork("optimism", "OP Mainnet", 10, {
    explorer: "https://optimistic.etherscan.io",
    finalityDepth: 600,
    finalityEstimate: "20 minutes of blocks each 2 s",
  }),
  publicNetwork("optimism_sepolia", "OP Sepolia", 11_155_420, {
    explorer: "https://optimism-sepolia.blockscout.com",
    finalityDepth: 600,
    finalityEstimate: "20 minutes of blocks each 2 s",
  }),
  publicNetwork("ronin", "Ronin", 2020, {
    coin: "RON",
    explorer: "https://app.roninchain.com",
    finalityDepth: 200,
    finalityEstimate: "nothing better is known",
  }),
  publicNetwork("ronin_saigon", "Ronin Saigon", 202_601, {
    coin: "RON",
    explorer: "https://saigon-explorer.roninchain.com",
    finalityDepth: 200,
    finalityEstimate: "nothing better is known",
  }),
  publicNetwork("soneium", "Soneium", 1868, {
    explorer: "https://soneium.blockscout.com",
    finalityDepth: 600,
    finalityEstimate: "20 minutes of blocks each 2 s",
  }),
  publicNetwork("soneium_minato", "Soneium Minato", 1946, {
    explorer: "https://soneium-minato.blockscout.com",
    finalityDepth: 600,
    finalityEstimate: "20 minutes of blocks each 2 s",
  }),
];

interface PublicFacts {
  /** Default `ETH`. */
  readonly coin?: string;
  readonly explorer: string;
  readonly finalityDepth: number;
  readonly finalityEstimate?: string;
  readonly gas?: GasRules;
  readonly hasFinalizedTag?: boolean;
  readonly hasEthereumBlocks?: boolean;
}

function publicNetwork(name: string, title: string, chainId: number, facts: PublicFacts): NetworkProfile {
  const vrf25 = VRF25_NETWORKS[chainId];
  return {
    name,
    title,
    chainId,
    coin: facts.coin ?? "ETH",
    finalityDepth: facts.finalityDepth,
    finalityEstimate: facts.finalityEstimate,
    hasFinalizedTag: facts.hasFinalizedTag ?? true,
    hasEthereumBlocks: facts.hasEthereumBlocks ?? false,
    gas: facts.gas ?? USUAL_GAS,
    explorerUrl: facts.explorer,
    vrf: { minConfirmations: Math.max(1, vrf25?.minConfirmations ?? 1), premiumLinkPpm: 5_000 },
    functions: { donId: `fun-${name.replaceAll("_", "-")}-1` },
    ...(vrf25 === undefined ? {} : { vrf25, link: vrf25.link }),
  };
}

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
