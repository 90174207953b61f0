import { AVALANCHE_GAS, POLYGON_GAS, USUAL_GAS } from "./gasRules.ts";
import type { GasRules, NetworkProfile } from "./profile.ts";
import { VRF25_NETWORKS } from "./vrf25.ts";

/**
 * Networks that are served only through an external node, none of them by default. When the nodes' `finalized` tag is useful, the
 * depth applies only to nodes that don't support the tag.
 */
export const PUBLIC_NETWORKS: readonly NetworkProfile[] = [
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
