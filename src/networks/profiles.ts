import type { Hex } from "viem";

/** Names under which callers know the networks. */
export const NETWORK_NAMES = ["polygon_mumbai", "sepolia", "fuji", "fantom_testnet"] as const;
export type NetworkName = (typeof NETWORK_NAMES)[number];

/** Where a network is served from: a chain of our own, or a node of the public network. */
export type Deployment = "embedded" | "public";

/** What is known of one network, whoever serves it. */
export interface NetworkProfile {
  readonly name: NetworkName;
  readonly title: string;
  readonly chainId: number;
  /** Blocks after which the public network replaces none any more. */
  readonly finalityDepth: number;
  /** Without a slash at the end; `/tx/HASH` and `/address/ADDRESS` follow. */
  readonly explorerUrl: string;
  readonly vrf: {
    /** Chainlink's coordinator on the public network, and the hash of its proving key. */
    readonly coordinator: Hex;
    readonly keyHash: Hex;
    /** Highest gas price at which the public oracle fulfils, in gwei. */
    readonly gasLaneGwei: number;
    /** The public coordinator's range; an embedded chain accepts from 1, the block that holds the request. */
    readonly minConfirmations: number;
    /**
     * Flat fee for one fulfilment on contracts of our own, in millionths of LINK (`fulfillmentFlatFeeLinkPPMTier1`);
     * of the order of the public coordinator's.
     */
    readonly premiumLinkPpm: number;
  };
  readonly functions: {
    /** Chainlink's router on the public network, sunset in June 2026; `undefined` where there never was one. */
    readonly router: Hex | undefined;
    /** Name of the oracle network; its bytes, padded with zeros to 32, are the contracts' `donId`. */
    readonly donId: string;
  };
  readonly link: Hex;
}

/** Bytes of a function's result that the oracle network reports. */
export const MAX_RESPONSE_BYTES: Readonly<Record<Deployment, number>> = { embedded: 1024, public: 256 };

/** Lowest number of confirmations a request for random words may ask for. */
export function minConfirmationsOf(profile: NetworkProfile, deployment: Deployment): number {
  return deployment === "embedded" ? 1 : profile.vrf.minConfirmations;
}

/** Of an embedded chain, where only its user takes blocks back (`anvil_reorg`, `evm_revert`), and takes back many. */
const EMBEDDED_FINALITY_DEPTH = 2_048;

/** Blocks after which what happened on a network counts as final. */
export function finalityDepthOf(profile: NetworkProfile, deployment: Deployment): number {
  return deployment === "embedded" ? EMBEDDED_FINALITY_DEPTH : profile.finalityDepth;
}

/**
 * The networks, by name. Source, but for the fees: Chainlink's documentation and starter kits, as of August 2026; of the
 * finality depths: the defaults of Chainlink's node, and on Sepolia three epochs, after which every block is finalized (Casper FFG).
 */
export const NETWORKS: Readonly<Record<NetworkName, NetworkProfile>> = {
  polygon_mumbai: {
    name: "polygon_mumbai",
    title: "Polygon Mumbai",
    chainId: 80001,
    finalityDepth: 500,
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
    chainId: 11155111,
    finalityDepth: 96,
    explorerUrl: "https://sepolia.etherscan.io",
    vrf: {
      coordinator: "0x8103B0A8A00be2DDC778e6e7eaa21791Cd364625",
      keyHash: "0x474e34a077df58807dbe9c96d3c009b23b3c6d0cce433e59bbf5b34f823bc56c",
      gasLaneGwei: 750,
      minConfirmations: 3,
      premiumLinkPpm: 250_000,
    },
    functions: { router: "0xb83E47C2bC239B3bf370bc41e1459A34b41238D0", donId: "fun-ethereum-sepolia-1" },
    link: "0x779877A7B0D9E8603169DdbD7836e478b4624789",
  },
  fuji: {
    name: "fuji",
    title: "Avalanche Fuji",
    chainId: 43113,
    finalityDepth: 10,
    explorerUrl: "https://testnet.snowtrace.io",
    vrf: {
      coordinator: "0x2eD832Ba664535e5886b75D64C46EB9a228C2610",
      keyHash: "0x354d2f95da55398f44b7cff77da56283d9c6c829a4bdf1bbcaf2ad6a4d081f61",
      gasLaneGwei: 300,
      minConfirmations: 1,
      premiumLinkPpm: 5_000,
    },
    functions: { router: "0xA9d587a00A31A52Ed70D6026794a8FC5E2F5dCb0", donId: "fun-avalanche-fuji-1" },
    link: "0x0b9d5D9136855f6FEc3c0993feE6E9CE8a297846",
  },
  fantom_testnet: {
    name: "fantom_testnet",
    title: "Fantom Testnet",
    chainId: 4002,
    finalityDepth: 50,
    explorerUrl: "https://testnet.ftmscan.com",
    vrf: {
      coordinator: "0xbd13f08b8352A3635218ab9418E340c60d6Eb418",
      keyHash: "0x121a143066e0f2f08b620784af77cccb35c6242460b4a8ee251b4b416abaebd4",
      gasLaneGwei: 3000,
      minConfirmations: 1,
      premiumLinkPpm: 500,
    },
    functions: { router: undefined, donId: "fun-fantom-testnet-1" },
    link: "0xfaFedb041c0DD4fA2Dc0d87a6B0979Ee6FA7af5F",
  },
};
