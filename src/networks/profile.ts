import type { Hex } from "viem";
import type { Vrf25Network } from "./vrf25.ts";

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
    /** Chainlink's V2 coordinator on the public network, and the hash of its proving key. */
    readonly coordinator?: Hex;
    readonly keyHash?: Hex;
    /** Highest gas price at which the public oracle fulfils, in gwei. */
    readonly gasLaneGwei?: number;
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
    /** Chainlink's router on the public network, sunset in June 2026; absent where there never was one. */
    readonly router?: Hex;
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
